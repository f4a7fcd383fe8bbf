//! Skills are called without a server.

use serde_json::json;
use skill::{MemoryCall, Registry, SkillError, SkillInput, skill};

use crate::support::{Shop, registry};

#[tokio::test]
async fn a_call_in_memory_checks_its_input_and_gives_the_output() {
    let call = MemoryCall::new(registry());
    let output = call.output("greet", json!({ "who": "Ada" })).await.unwrap();
    assert_eq!(output["text"], "Hello, Ada!");
    let refused = call.output("greet", json!({ "who": 7 })).await.unwrap_err();
    assert_eq!(refused.code(), "invalid-input");
    let unknown = call.output("fly", json!({})).await.unwrap_err();
    assert_eq!(unknown.code(), "unknown-skill");
}

#[tokio::test]
async fn questions_are_answered_from_the_list_and_effects_are_kept() {
    let shop = Shop::default();
    let call = MemoryCall::new(Registry::new().with(shop.clone()).unwrap());
    let call = call
        .answer(json!({ "approved": true }))
        .answer(json!({ "approved": false }));
    let ordered = call
        .output("order", json!({ "what": "a lamp" }))
        .await
        .unwrap();
    assert_eq!(ordered, "a lamp as 1: false");
    assert_eq!(call.questions(), ["Order a lamp?", "Really?"]);
    assert_eq!(call.reports(), ["asking", "ordering"]);

    let again = call
        .decline()
        .output("order", json!({ "what": "a lamp" }))
        .await;
    assert_eq!(again.unwrap_err().code(), "declined");
    assert_eq!(
        *shop.orders.lock().unwrap(),
        ["reserve a lamp"],
        "an effect is done once"
    );
}

struct Counter {
    step: u64,
}

#[derive(serde::Deserialize, schemars::JsonSchema, SkillInput)]
struct From {
    from: u64,
}

#[skill(name = "Count on", tags = ["math"], examples = ["count on from 4"], read_only)]
impl Counter {
    /// Counts on from a number.
    async fn run(&self, input: From) -> Result<u64, SkillError> {
        Ok(input.from + self.step)
    }

    async fn preview(&self, input: From) -> Result<Option<String>, SkillError> {
        Ok(Some(format!("{} and {} more", input.from, self.step)))
    }
}

#[tokio::test]
async fn a_type_with_methods_is_a_skill() {
    let skills = Registry::new().with(Counter { step: 3 }).unwrap();
    let definition = skills.get("counter").unwrap();
    assert_eq!(definition.name, "Count on");
    assert_eq!(definition.description, "Counts on from a number.");
    assert!(definition.traits.read_only);
    let shown = skills
        .preview("counter", json!({ "from": 4 }))
        .await
        .unwrap();
    assert_eq!(shown.unwrap(), "4 and 3 more");
    let call = MemoryCall::new(skills);
    assert_eq!(
        call.output("counter", json!({ "from": 4 })).await.unwrap(),
        7
    );
}
