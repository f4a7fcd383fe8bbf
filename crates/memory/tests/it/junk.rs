//! The junk test: half of the writes are worthless, and none of them becomes a belief.

use memory::{Content, Draft, Error, Keep, Layer, Outcome, Reason, Recall, Rules};

use crate::support::{belief, in_memory};

/// Facts that are compatible with each other.
fn fact(number: usize) -> String {
    const WHO: [&str; 25] = [
        "Ada", "Bob", "Cleo", "Dan", "Eve", "Finn", "Gus", "Hana", "Ivo", "Jin", "Kaya", "Leo",
        "Mina", "Nils", "Olga", "Pia", "Quin", "Rosa", "Sami", "Tara", "Ugo", "Vera", "Wim",
        "Xena", "Yara",
    ];
    const DOES: [&str; 10] = [
        "keeps bees near",
        "restores clocks from",
        "writes letters to",
        "paints bridges in",
        "collects maps of",
        "repairs boats in",
        "teaches chess in",
        "grows pears near",
        "sells lamps in",
        "films birds near",
    ];
    const WHERE: [&str; 20] = [
        "Arvo", "Brin", "Corl", "Dova", "Elst", "Faro", "Gent", "Hoorn", "Ilm", "Jena", "Kiel",
        "Lund", "Metz", "Nord", "Oulu", "Pola", "Riga", "Sion", "Tarn", "Ulm",
    ];
    let (who, rest) = (number % 25, number / 25);
    let (does, place) = (rest % 10, rest / 10 % 20);
    format!("{} {} {}.", WHO[who], DOES[does], WHERE[place])
}

#[tokio::test]
async fn none_of_the_junk_becomes_a_belief_and_nearly_all_of_the_rest_is_kept() {
    let memory = in_memory();
    let space = memory.space("scout").unwrap();
    let reason = |source: &str| {
        Reason::new(source, 0.7, "who does what where?", "it was asked before").unwrap()
    };
    let beliefs = || async { space.audit().await.unwrap().layers["belief"] };
    let (mut good, mut kept, mut junk) = (0, 0, 0);
    let frames = ["As I said, ", "Remember that ", "Note that ", "Again: "];
    for number in 0..5000 {
        let text = fact(number);
        let outcome = space
            .keep(Keep::belief(text.clone(), reason("user:ada")))
            .await
            .unwrap();
        good += 1;
        kept += usize::from(matches!(outcome, Outcome::Kept(_)));
        // Half of the writes are junk, of three kinds.
        junk += 1;
        match number % 3 {
            0 => {
                let again = format!("{}{text}", frames[number % frames.len()]);
                let outcome = space
                    .keep(Keep::belief(again, reason("user:bob")))
                    .await
                    .unwrap();
                assert!(
                    matches!(outcome, Outcome::Corroborated(_)),
                    "{text}: {outcome:?}"
                );
            }
            1 => {
                let answer = space.recall(Recall::new(text.clone())).await.unwrap();
                let recalled = answer.hits[0].record.content.text.clone();
                let echo = format!("I recall that {recalled}");
                let outcome = space
                    .keep(Keep::belief(echo, reason("agent:scout")))
                    .await
                    .unwrap();
                assert!(
                    matches!(outcome, Outcome::Echo(_)),
                    "{recalled}: {outcome:?}"
                );
            }
            _ => {
                let draft = Draft {
                    source: Some("user:ada".into()),
                    confidence: Some(0.9),
                    ..Draft::default()
                };
                let refused = Error::from(draft.complete().unwrap_err()).to_string();
                assert!(
                    refused.ends_with("context is missing; why is missing"),
                    "{refused}"
                );
            }
        }
    }
    assert_eq!((good, junk), (5000, 5000));
    assert!(kept * 100 >= good * 95, "{kept} of {good} were kept");
    assert_eq!(beliefs().await, kept);
    let audit = space.audit().await.unwrap();
    assert!(audit.clean(), "{audit:?}");
    memory.close().await;
}

#[tokio::test]
async fn what_the_agent_says_after_recalling_it_is_logged_as_an_echo_and_not_recalled_again() {
    let memory = in_memory();
    let space = memory.space("scout").unwrap();
    let mut content = Content::text("Cleo keeps bees near Arvo.");
    content.source = Some("user:cleo".into());
    let seen = space.observe(content).await.unwrap();
    space.recall(Recall::new("Who keeps bees?")).await.unwrap();
    let mut said = Content::text("I recall that Cleo keeps bees near Arvo.");
    said.source = Some("agent:scout".into());
    let echo = space.observe(said).await.unwrap();
    assert_eq!(
        space.get(&echo).await.unwrap().unwrap().echo.as_ref(),
        Some(&seen)
    );
    let mut recall = Recall::new("bees near Arvo");
    recall.layers = vec![Layer::Observation, Layer::Working];
    let answer = space.recall(recall).await.unwrap();
    assert_eq!(answer.hits.len(), 1);
    assert_eq!(space.audit().await.unwrap().echoes, 1);
    memory.close().await;
}

#[tokio::test]
async fn each_space_moves_by_its_own_rules() {
    let memory = in_memory();
    let (strict, lenient) = (
        memory.space("strict").unwrap(),
        memory.space("lenient").unwrap(),
    );
    let rules = memory::Rules {
        min_confidence: 0.99,
        ..Rules::default()
    };
    strict.follow(rules.clone()).unwrap();
    let refused = strict.keep(belief("The sky is green.", "user:ada")).await;
    assert!(matches!(refused, Err(Error::Rules(_))), "{refused:?}");
    lenient
        .keep(belief("The sky is green.", "user:ada"))
        .await
        .unwrap();
    assert_eq!((strict.rules(), lenient.rules()), (rules, Rules::default()));
    let guest = lenient.shared(memory::Access::Append);
    assert!(
        guest.follow(Rules::default()).is_err(),
        "the rules are the owner's"
    );
}
