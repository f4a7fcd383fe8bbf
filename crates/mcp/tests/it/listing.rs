//! The lists of tools and prompts, and the description of the server.

use serde_json::{Value, json};

use crate::support::{BOTH, Bench, User, Wire};

#[tokio::test]
async fn every_skill_is_a_tool_in_the_order_of_the_registry() {
    let bench = Bench::start().await;
    for wire in BOTH {
        let client = bench.client(wire, User::plain()).await;
        let tools = client.list_all_tools().await.unwrap();
        let names: Vec<_> = tools.iter().map(|tool| &*tool.name).collect();
        let known: Vec<_> = crate::support::skills()
            .iter()
            .map(|it| it.id.clone())
            .collect();
        assert_eq!(names, known, "{wire:?}");
        let greet = serde_json::to_value(&tools[0]).unwrap();
        assert_eq!(greet["title"], "Greet");
        let described = greet["description"].as_str().unwrap();
        let lists = "\n\n<tags><tag>demo</tag></tags>\n<examples><example>greet Ada</example>";
        assert!(described.contains(lists), "{described}");
        assert_eq!(greet["inputSchema"]["properties"]["times"]["maximum"], 3);
        assert_eq!(
            greet["outputSchema"]["properties"]["text"]["type"],
            "string"
        );
        let hints = json!({
            "readOnlyHint": true, "destructiveHint": false,
            "idempotentHint": false, "openWorldHint": false,
        });
        assert_eq!(greet["annotations"], hints);
        client.cancel().await.unwrap();
    }
}

/// Before 2026-07-28 only an output that is an object can have a schema.
#[tokio::test]
async fn only_the_newer_wire_describes_outputs_that_are_no_objects() {
    let bench = Bench::start().await;
    for wire in BOTH {
        let client = bench.client(wire, User::plain()).await;
        let tools = client.list_all_tools().await.unwrap();
        let find = |name| tools.iter().find(|tool| tool.name == name).unwrap();
        let shout = find("shout").output_schema.as_ref();
        let kind = shout.map(|schema| schema["type"].clone());
        let expected = (wire == Wire::Stateless).then(|| Value::from("string"));
        assert_eq!(kind, expected, "{wire:?}");
        // A tool without output has no output schema.
        assert!(find("tell").output_schema.is_none());
    }
}

#[tokio::test]
async fn the_server_says_its_name_and_version() {
    let bench = Bench::start().await;
    for wire in BOTH {
        let client = bench.client(wire, User::plain()).await;
        let info = client.peer_info().unwrap();
        let server = info.server_info.as_ref().unwrap();
        assert_eq!(
            (&*server.name, server.title.as_deref()),
            ("test-agent", Some("Test Agent"))
        );
        assert!(info.capabilities.supports_tasks());
        assert!(info.capabilities.tools.is_some());
    }
}

#[tokio::test]
async fn examples_are_prompts() {
    let bench = Bench::start().await;
    for wire in BOTH {
        let client = bench.client(wire, User::plain()).await;
        let prompts = client.list_all_prompts().await.unwrap();
        let names: Vec<_> = prompts.iter().map(|prompt| &*prompt.name).collect();
        assert_eq!(names[..3], ["greet.1", "greet.2", "shout.1"]);
        let get = |name: &str| client.get_prompt(rmcp::model::GetPromptRequestParams::new(name));
        let prompt = serde_json::to_value(get("greet.2").await.unwrap()).unwrap();
        assert_eq!(prompt["messages"][0]["content"]["text"], "greet Bob twice");
        for unknown in ["greet", "greet.0", "greet.3", "fly.1", ""] {
            let refused = get(unknown).await.unwrap_err().to_string();
            assert!(refused.contains("unknown prompt"), "{refused}");
        }
    }
}
