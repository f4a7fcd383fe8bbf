//! The live view and the takeover by a person.

use std::time::Duration;

use browser::{AGENT, PersonInput};
use serde_json::json;

use crate::support::{open, run};

fn input(value: serde_json::Value) -> PersonInput {
    serde_json::from_value(value).unwrap()
}

#[test]
fn a_viewer_sees_pictures_and_a_slow_one_only_the_newest() {
    run(async {
        let bed = open("watch", "/small").await;
        let mut view = bed.session.watch();
        let first = tokio::time::timeout(Duration::from_secs(10), view.next())
            .await
            .unwrap()
            .unwrap();
        assert_eq!(first.jpeg[..3], [0xff, 0xd8, 0xff]);
        assert_eq!(first.view.0, 1280.0);
        // The page moves all the time; the viewer does not look.
        let moving = "let i = 0; setInterval(() => { document.body.style.background = `rgb(${i++ % 255}, 0, 0)` }, 15)";
        bed.turn.evaluate(moving).await.unwrap();
        tokio::time::sleep(Duration::from_millis(700)).await;
        let second = view.next().await.unwrap();
        assert!(
            second.number - first.number <= 3,
            "Chromium waits for the viewer: {}",
            second.number
        );
        for _ in 0..5 {
            tokio::time::timeout(Duration::from_secs(5), view.next())
                .await
                .unwrap()
                .unwrap();
        }
        bed.end().await;
        assert!(
            tokio::time::timeout(Duration::from_secs(5), async {
                while view.next().await.is_some() {}
            })
            .await
            .is_ok()
        );
    });
}

#[test]
fn a_person_takes_over_while_the_agent_waits_and_both_are_in_the_record() {
    run(async {
        let bed = open("takeover", "/small").await;
        let list = bed.list().await;
        let span = list
            .elements
            .iter()
            .find(|it| it.text == "Span")
            .unwrap()
            .position;
        let session = bed.session.clone();
        drop(bed.turn);
        let person = session.take_over("ada").unwrap();
        assert_eq!(session.take_over("bob").unwrap_err().code(), "taken-over");
        let waiting = tokio::time::timeout(Duration::from_millis(300), session.turn()).await;
        assert!(waiting.is_err(), "the agent waits");
        let (x, y) = (span.x + span.width / 2.0, span.y + span.height / 2.0);
        person
            .input(input(json!({ "kind": "click", "x": x, "y": y })))
            .await
            .unwrap();
        person
            .input(input(json!({ "kind": "text", "text": "hunter2" })))
            .await
            .unwrap();
        drop(person);
        let turn = session.turn().await.unwrap();
        assert_eq!(turn.title().await.unwrap(), "span", "the click has arrived");
        let deeds = session.deeds_after(0);
        let by: Vec<(&str, &str)> = deeds.iter().map(|it| (&*it.by, &*it.what)).collect();
        assert_eq!(by[0].0, AGENT);
        assert_eq!(by[1], ("ada", "took over"));
        assert!(by[2].1.starts_with("clicked at "), "{by:?}");
        assert_eq!(by[3], ("ada", "typed 7 letters"));
        assert_eq!(by[4], ("ada", "gave back"));
        drop(turn);
        crate::support::browser().close_session("takeover").await;
    });
}
