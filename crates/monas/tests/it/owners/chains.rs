//! What callers ask one agent through another one belongs to them, and not to the agent in between.

use std::path::Path;

use serde_json::Value;

use super::{As, server_of};
use crate::support::program::Monas;

/// A server with the agents default and scout, and the callers of the other tests.
async fn two_agents(home: &Path) -> Monas {
    let agents = home.join("agents");
    std::fs::create_dir(&agents).unwrap();
    let scout = "name = 'Scout'\nobjectives = ['look around']\n";
    std::fs::write(agents.join("scout.toml"), scout).unwrap();
    let arguments = [Path::new("--agents"), &agents];
    server_of(home, "", "name = 'Keeper'\n", &arguments).await
}

/// Once two users of one agent read each other's words through a second one: all that it heard was the first agent's.
#[tokio::test]
async fn what_is_asked_through_another_agent_belongs_to_the_person_who_asks() {
    let home = tempfile::tempdir().unwrap();
    let monas = two_agents(home.path()).await;
    let caller = |name| As {
        monas: &monas,
        name,
    };
    let (ada, bob, root) = (caller("ada"), caller("bob"), caller("root"));
    let scout = |request: &str| format!("/ask-agent agent=scout request=\"{request}\"");
    ada.say(&scout("The vault code of Ada is 4711.")).await;
    let told = ada.say(&scout("recall vault code")).await;
    assert!(told.contains("4711"), "{told}");

    for request in [
        "recall vault code",
        "recall everything",
        "recall me",
        "what have you been doing?",
        "forget that the vault code of Ada is 4711",
    ] {
        let told = bob.say(&scout(request)).await;
        let answer = told.replace("the vault code of Ada is 4711", "");
        assert!(!answer.contains("4711"), "{request}: {told}");
    }
    let doings = ada.say(&scout("what have you been doing?")).await;
    assert!(doings.contains("4711"), "{doings}");
    let told = ada.say(&scout("recall vault code")).await;
    assert!(told.contains("4711"), "bob has forgotten it: {told}");

    // The word is the agent's, and the record is the person's.
    let path = "/api/memory/export?agent=scout";
    let (_, export) = root.send("GET", path, String::new()).await;
    let record = export.lines().find(|it| it.contains("is 4711."));
    let record: Value = serde_json::from_str(record.unwrap_or_else(|| panic!("{export}"))).unwrap();
    assert_eq!(record["owner"], "ada", "{record}");
    let source = record["source"].as_str().unwrap();
    assert!(source.starts_with("agent:"), "{record}");

    let reminded = ada
        .say(&scout("remind me in 10 minutes to water the plants"))
        .await;
    assert!(reminded.contains("I will remind you"), "{reminded}");
    let reminders = scout("what reminders do I have?");
    let told = bob.say(&reminders).await;
    assert!(!told.contains("plants"), "{told}");
    let told = ada.say(&reminders).await;
    assert!(told.contains("plants"), "{told}");
    monas.stop().await;
}

/// Once the questions of one user at a second agent took the places of every other user of the first.
#[tokio::test]
async fn questions_through_another_agent_are_in_the_share_of_the_person() {
    let home = tempfile::tempdir().unwrap();
    let monas = two_agents(home.path()).await;
    let caller = |name| As {
        monas: &monas,
        name,
    };
    let (ada, bob) = (caller("ada"), caller("bob"));
    let write = |path: &str| {
        format!("/ask-agent agent=scout request=\"/file-write path={path} content=text\"")
    };
    let mut refused = String::new();
    for number in 0..40 {
        let told = bob.say(&write(&format!("bob-{number}.md"))).await;
        if !told.contains("TASK_STATE_INPUT_REQUIRED") {
            refused = told;
            break;
        }
    }
    assert!(refused.contains("calls of this caller"), "{refused}");
    let asked = ada.say(&write("ada.md")).await;
    assert!(asked.contains("TASK_STATE_INPUT_REQUIRED"), "{asked}");
    monas.stop().await;
}
