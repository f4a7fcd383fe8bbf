//! Each agent has a folder for files of its own, and its allow list guards it.

use serde_json::{Value, json};

use super::Callers;

/// What an agent's `file-read` says of a file, or of why it cannot.
async fn read(callers: &Callers, by: &str, agent: &str, path: &str) -> String {
    let message = json!({ "messageId": uuid::Uuid::new_v4().to_string(), "role": "ROLE_USER",
        "metadata": { "urn:monas:a2a:ext:skill:1/skill": "file-read" },
        "parts": [{ "data": { "path": path } }] });
    let body: Value = json!({ "jsonrpc": "2.0", "id": 1, "method": "SendMessage",
        "params": { "message": message } });
    let path = match agent {
        "" => "/a2a/jsonrpc".to_owned(),
        agent => format!("/agents/{agent}/a2a/jsonrpc"),
    };
    callers.ask(by, "POST", &path, &body).await.to_string()
}

/// An agent for ada alone once wrote into the folder of the agent that bob calls.
#[tokio::test]
async fn the_allow_list_of_an_agent_guards_its_files() {
    let mut data = None;
    let callers = Callers::start_with("", |command, home| {
        let agents = home.join("agents");
        std::fs::create_dir(&agents).unwrap();
        for (name, more) in [
            ("scout", "[access]\ncallers = ['ada']\n"),
            ("keeper", ""),
            ("red", "workspace = 'team'\n"),
            ("blue", "workspace = 'team'\n"),
            ("helper", "workspace = 'default'\n"),
        ] {
            let text = format!("name = '{name}'\nobjectives = ['be {name}']\n{more}");
            std::fs::write(agents.join(format!("{name}.toml")), text).unwrap();
        }
        command.arg("--agents").arg(agents);
        command.arg("--data").arg(home.join("data"));
        data = Some(home.join("data"));
    })
    .await;
    let folders = data.unwrap().join("workspaces");
    let write = |folder: &str, text: &str| {
        std::fs::write(folders.join(folder).join("secret.md"), text).unwrap();
    };
    write("agents/scout", "words of scout");
    write("shared/team", "words of the team");
    std::fs::write(
        callers.home.path().join("workspace/secret.md"),
        "words of all",
    )
    .unwrap();

    for (by, agent, expected) in [
        ("ada", "scout", Some("words of scout")),
        ("bob", "scout", None),
        ("ada", "keeper", None),
        ("bob", "", Some("words of all")),
        ("bob", "helper", Some("words of all")),
        ("bob", "red", Some("words of the team")),
        ("bob", "blue", Some("words of the team")),
    ] {
        let answer = read(&callers, by, agent, "secret.md").await;
        match expected {
            Some(words) => assert!(answer.contains(words), "{by} at {agent}: {answer}"),
            None => assert!(!answer.contains("words of"), "{by} at {agent}: {answer}"),
        }
    }
    for path in [
        "../agents/scout/secret.md",
        "../../workspaces/agents/scout/secret.md",
    ] {
        let answer = read(&callers, "bob", "red", path).await;
        assert!(!answer.contains("words of"), "{path}: {answer}");
    }
    callers.monas.stop().await;
}
