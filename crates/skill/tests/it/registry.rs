//! Skills by id: found, merged, narrowed, and refused when they are not defined as skills.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use skill::{Context, Definition, DefinitionError, Handler, Outcome, Registry, SkillError};

use crate::support::{Shop, greet, registry};

struct Never;

impl Handler for Never {
    fn run(&self, _: Value, _: Context) -> BoxFuture<'static, Outcome> {
        Box::pin(async { Err(SkillError::failed("it is never run")) })
    }
}

fn add(change: impl FnOnce(&mut Definition)) -> Result<Registry, DefinitionError> {
    let known = registry();
    let mut definition = known.get("greet").unwrap().clone();
    change(&mut definition);
    Registry::new().with_handler(definition, Arc::new(Never))
}

#[test]
fn skills_keep_the_order_they_came_in() {
    let skills = Registry::new()
        .with(Shop::default())
        .unwrap()
        .with(greet)
        .unwrap();
    let ids: Vec<_> = skills.iter().map(|skill| &*skill.id).collect();
    assert_eq!(ids, ["order", "greet"]);
    assert!(skills.get("order").is_some() && skills.get("Order").is_none());
}

#[test]
fn an_id_means_one_skill() {
    let twice = registry().with(greet).unwrap_err();
    assert_eq!(twice, DefinitionError::Duplicate("greet".to_owned()));
    let twice = registry().merge(&registry()).unwrap_err();
    assert_eq!(twice, DefinitionError::Duplicate("greet".to_owned()));
}

#[test]
fn a_narrowed_registry_has_what_was_named_and_nothing_else() {
    let skills = registry();
    let narrow = skills.narrow(["order"]).unwrap();
    assert!(narrow.get("greet").is_none());
    assert_eq!((narrow.len(), skills.len()), (1, 2));
    let ids = skills.narrow(["order", "greet", "order"]).unwrap();
    let ids: Vec<_> = ids.iter().map(|skill| skill.id.clone()).collect();
    assert_eq!(ids, ["greet", "order"]);
    assert_eq!(
        skills.narrow(["fly"]).unwrap_err(),
        DefinitionError::Unknown("fly".to_owned())
    );
    let merged = narrow.merge(&skills.narrow(["greet"]).unwrap()).unwrap();
    assert_eq!(merged.len(), 2);
}

#[test]
fn what_is_not_defined_as_a_skill_is_none() {
    let long = "x".repeat(64);
    for id in [
        "", "Greet", "greet_me", "-greet", "greet-", "greet.me", &*long,
    ] {
        let refused = add(|it| it.id = id.to_owned()).unwrap_err();
        assert_eq!(refused, DefinitionError::Id(id.to_owned()));
    }
    let refused = add(|it| it.tags.clear()).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "skill \"greet\" has no tag: give at least one"
    );
    let refused = add(|it| it.examples.clear()).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "skill \"greet\" has no example: give at least one"
    );
    let refused = add(|it| it.input = json!({ "type": "string" })).unwrap_err();
    assert_eq!(refused, DefinitionError::NoObject("greet".to_owned()));
    let refused = add(|it| it.input["properties"] = json!(7)).unwrap_err();
    assert!(
        matches!(refused, DefinitionError::Schema { .. }),
        "{refused}"
    );
}

#[test]
fn a_schema_is_not_fetched_from_anywhere() {
    let refused = add(|it| it.input["$ref"] = json!("http://127.0.0.1:1/schema.json"));
    assert!(
        matches!(refused, Err(DefinitionError::Schema { .. })),
        "{refused:?}"
    );
}
