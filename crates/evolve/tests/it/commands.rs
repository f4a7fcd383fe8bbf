//! Commands as evaluators, with declared parameters.

use std::fs;
use std::sync::Arc;

use evolve::{
    Asked, CommandSettings, Commands, Component, Domain, Evaluator as _, FileJournal, Parameter,
    Place as At, Progress, Run, Scale, Settings, Value,
};

use crate::support::Place;

fn settings(place: &Place, script: &str) -> CommandSettings {
    let command = ["sh", "-c", script].map(str::to_owned).to_vec();
    CommandSettings::new(&place.folder, command)
}

fn number(name: &str, at: At) -> Parameter {
    Parameter {
        name: name.to_owned(),
        place: at,
        domain: Domain::Integer {
            low: 0,
            high: 9,
            scale: Scale::Linear,
        },
        value: Value::Integer(1),
    }
}

#[tokio::test]
async fn parameters_reach_a_command_by_file_variable_and_argument() {
    let place = Place::with("", "");
    fs::write(
        place.folder.join("config.json"),
        "{\"cache\": {\"size\": 1, \"keep\": 5}}",
    )
    .unwrap();
    let parameters = vec![
        number(
            "size",
            At::Json {
                path: "config.json".to_owned(),
                pointer: "/cache/size".to_owned(),
            },
        ),
        number("depth", At::Environment("DEPTH".to_owned())),
        number("width", At::Argument("width".to_owned())),
    ];
    let component = Arc::new(Component::of_parameters("c", parameters));
    // Largest at size 7, depth 3 and width 4.
    let script = "size=$(sed 's/.*size\":\\([0-9]*\\).*/\\1/' config.json); width=${0#--width=}; \
                  echo \"{\\\"score\\\": -$(( (size-7)*(size-7) + (DEPTH-3)*(DEPTH-3) + (width-4)*(width-4) ))}\" >&3";
    let sandbox = place.options(1, 1).sandbox;
    let evaluator = Commands::new(
        settings(&place, script),
        Arc::clone(&component),
        place.data.join("work"),
        sandbox,
    );
    let journal = FileJournal::open(&place.data.join("events.jsonl")).unwrap();
    let mut run = Run::open(component, Settings::new(3, 90), journal, evaluator).unwrap();
    while !matches!(run.advance().await.unwrap(), Progress::Stopped { .. }) {}
    let search = run.search();
    let best = &search.entries()[search.best()];
    assert!(best.fitness().score() >= Some(-2.0), "{best:?}");
    let unchanged = fs::read_to_string(place.folder.join("config.json")).unwrap();
    assert!(unchanged.contains("\"size\": 1"));
}

#[tokio::test]
async fn what_has_to_hold_comes_before_the_score() {
    let place = Place::with("", "");
    let component = Arc::new(Component::of_parameters(
        "c",
        vec![number("n", At::Environment("N".to_owned()))],
    ));
    let mut settings = settings(&place, "echo '{\"score\": 5}'");
    settings.must = vec![["sh", "-c", "test $N -lt 5"].map(str::to_owned).to_vec()];
    let sandbox = place.options(1, 1).sandbox;
    let mut commands = Commands::new(
        settings,
        Arc::clone(&component),
        place.data.join("work"),
        sandbox,
    );
    let mut content = component.content();
    for (value, score) in [(1, Some(5.0)), (6, None)] {
        content.values = vec![Value::Integer(value)];
        let sample = commands
            .evaluate(Asked {
                n: 0,
                content: &content,
                seed: 1,
            })
            .await
            .unwrap();
        assert_eq!(sample.score, score, "{sample:?}");
    }
}

#[tokio::test]
async fn a_link_that_a_candidate_left_is_not_followed() {
    let place = Place::with("", "");
    fs::write(place.folder.join("program.sh"), "true\n").unwrap();
    let victim = place.data.join("victim");
    let source = evolve::Source::parse("program.sh", "true\n").unwrap();
    let component = Arc::new(Component::of_files("c", vec![source]));
    let script = format!(
        "rm program.sh; ln -s {} program.sh; echo '{{\"score\": 1}}'",
        victim.display()
    );
    let sandbox = place.options(1, 1).sandbox;
    let mut commands = Commands::new(
        settings(&place, &script),
        Arc::clone(&component),
        place.data.join("work"),
        sandbox,
    );
    let content = component.content();
    for _ in 0..2 {
        let sample = commands
            .evaluate(Asked {
                n: 0,
                content: &content,
                seed: 1,
            })
            .await
            .unwrap();
        assert_eq!(sample.score, Some(1.0));
    }
    assert!(!victim.exists());
}
