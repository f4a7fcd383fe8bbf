//! The frozen folders, unmodified.

use std::fs;

use serde_json::Value;

use crate::support::{Place, finish};

#[tokio::test]
async fn a_bowl_is_climbed_and_only_the_output_is_written() {
    let place = Place::of("bowl");
    let before = place.files();
    let report = place.run(400, 1).await.unwrap();
    assert!(report.best > Some(0.99), "{:?}", report.best);
    let (kept, new): (Vec<String>, Vec<String>) = place
        .files()
        .into_iter()
        .partition(|it| before.contains(it));
    assert_eq!(kept, before);
    assert!(
        new.iter().all(|it| it.starts_with("openevolve_output/")),
        "{new:?}"
    );
    let text = fs::read_to_string(place.folder.join("initial_program.py")).unwrap();
    assert_eq!(
        text,
        report.proposal.unwrap().before,
        "the program is replaced by a person alone"
    );
}

#[tokio::test]
async fn the_output_has_the_shape_that_the_visualiser_reads() {
    let place = Place::of("two_basins");
    let report = place.run(40, 2).await.unwrap();
    let output = place.folder.join("openevolve_output");
    let json = |path: &str| -> Value {
        serde_json::from_slice(&fs::read(output.join(path)).unwrap()).unwrap()
    };
    let metadata = json("checkpoints/checkpoint_40/metadata.json");
    let ids = metadata["islands"][0].as_array().unwrap();
    assert!(ids.len() > 30);
    for id in ids {
        let program = json(&format!(
            "checkpoints/checkpoint_40/programs/{}.json",
            id.as_str().unwrap()
        ));
        assert!(
            program["code"]
                .as_str()
                .unwrap()
                .contains("EVOLVE-BLOCK-START")
        );
        assert!(program["metrics"].is_object() && program["metadata"].is_object());
        let parent = &program["parent_id"];
        assert!(parent.is_null() || ids.contains(parent));
    }
    let info = json("best/best_program_info.json");
    assert_eq!(info["metrics"]["combined_score"].as_f64(), report.best);
    assert_eq!(info["id"], metadata["best_program_id"]);
    let best = fs::read_to_string(output.join("best/best_program.py")).unwrap();
    assert_eq!(best, report.proposal.unwrap().after);
}

#[tokio::test]
async fn four_choices_of_five_are_right_within_twenty_evaluations() {
    for seed in 0..3 {
        let report = Place::of("pipeline").run(20, seed).await.unwrap();
        assert_eq!(report.best, Some(1.0), "seed {seed}");
    }
}

#[tokio::test]
async fn stages_and_results_of_openevolve_are_understood() {
    let place = Place::of("staged");
    let report = place.run(150, 1).await.unwrap();
    assert!(report.initial < report.best, "{report:?}");
    assert!(report.best > Some(0.6), "{:?}", report.best);
}

#[tokio::test]
async fn a_report_shows_what_as_many_evaluations_find_at_random() {
    let place = Place::of("bowl");
    let mut options = place.options(60, 3);
    options.random = true;
    let report = finish(&options).await.unwrap();
    assert_eq!((report.evaluations, report.random_evaluations), (60, 60));
    assert!(
        report.at_random.is_some() && report.best > report.at_random,
        "{report:?}"
    );
}

#[tokio::test]
async fn a_folder_that_cannot_be_run_says_why() {
    let place = Place::with(
        "x = 1\n",
        "def evaluate(path):\n    return {'combined_score': 1 / 0}\n",
    );
    let refused = place.run(5, 1).await.unwrap_err().to_string();
    assert!(refused.contains("ZeroDivisionError"), "{refused}");
    fs::write(place.folder.join("evaluator.py"), "import not_there\n").unwrap();
    let refused = place.run(5, 1).await.unwrap_err().to_string();
    assert!(refused.contains("not_there"), "{refused}");
    fs::remove_file(place.folder.join("evaluator.py")).unwrap();
    let refused = place.run(5, 1).await.unwrap_err().to_string();
    assert!(refused.contains("evaluator.py"), "{refused}");
}
