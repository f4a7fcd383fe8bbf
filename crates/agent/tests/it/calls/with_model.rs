//! A skill uses the language model it was granted.

use std::sync::Arc;

use a2a::types::{Task, TaskState};
use agent::{Agent, CreateError, Manifest, Options};
use model::scripted::{Failure, Scripted, Turn};
use model::{Model as _, Request};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use skill::{Context, DefinitionError, Registry, SkillError, SkillInput, extension, skill};

use super::support::{Bench, greet, said, state};

#[derive(Deserialize, JsonSchema, SkillInput)]
struct Text {
    text: String,
}

/// Says it in other words.
#[skill(tags = ["text"], examples = ["rephrase to be or not to be"])]
async fn rephrase(input: Text, ctx: Context) -> Result<String, SkillError> {
    let question = Request::new(input.text).system("Say it in other words.");
    Ok(ctx.model()?.ask(question).await?.text)
}

/// Has it said in other words by another skill.
#[skill(tags = ["text"], examples = ["delegate hello"])]
async fn delegate(input: Text, ctx: Context) -> Result<String, SkillError> {
    let reply = ctx.call("rephrase", json!({ "text": input.text })).await?;
    Ok(format!("{reply:?}"))
}

fn options(script: Option<&Scripted>) -> Options {
    let mut options = Options::default();
    let skills = Registry::new().with(rephrase).unwrap().with(greet).unwrap();
    options.skills = skills.with(delegate).unwrap();
    if let Some(script) = script {
        options.model = Some(Arc::new(script.clone()));
    }
    options
}

async fn call(manifest: Manifest, options: Options, skill: &str) -> Task {
    let bench = Bench::of(Agent::create(manifest, options).unwrap()).await;
    bench.call(skill, json!({ "text": "to be" })).await.unwrap()
}

#[tokio::test]
async fn a_skill_asks_the_model() {
    let script = Scripted::new([Turn::text("to exist")]);
    let task = call(Manifest::new("Test"), options(Some(&script)), "rephrase").await;
    assert_eq!(extension::output(&task).unwrap(), json!("to exist"));
    let mut asked = Request::new("to be").system("Say it in other words.");
    // The share of the skill's caller pays for it.
    asked.payer.clone_from(&script.requests()[0].payer);
    assert!(!asked.payer.is_empty());
    assert_eq!(script.requests(), [asked]);
}

#[tokio::test]
async fn a_skill_that_was_not_granted_the_model_has_none() {
    let script = Scripted::new([Turn::text("to exist")]);
    let mut manifest = Manifest::new("Test");
    manifest.model_for = Some(vec!["greet".to_owned()]);
    let task = call(manifest, options(Some(&script)), "rephrase").await;
    assert_eq!(state(&task), TaskState::Failed);
    assert!(
        said(&task).contains("\"rephrase\" may not use the language model"),
        "{}",
        said(&task)
    );
    assert_eq!(script.left(), 1);
}

#[tokio::test]
async fn a_grant_is_for_a_skill_and_not_for_its_callers() {
    let script = Scripted::new([Turn::text("to exist")]);
    let mut manifest = Manifest::new("Test");
    manifest.model_for = Some(vec!["rephrase".to_owned()]);
    let task = call(manifest, options(Some(&script)), "delegate").await;
    assert_eq!(state(&task), TaskState::Completed);
    assert_eq!(script.left(), 0);
}

#[tokio::test]
async fn without_a_model_a_skill_is_told_so() {
    let task = call(Manifest::new("Test"), options(None), "rephrase").await;
    assert_eq!(state(&task), TaskState::Failed);
    assert!(
        said(&task).contains("no language model is configured"),
        "{}",
        said(&task)
    );
}

#[tokio::test]
async fn what_goes_wrong_with_the_model_is_why_the_task_fails() {
    let script = Scripted::new([Turn::fails(Failure::Server)]);
    let task = call(Manifest::new("Test"), options(Some(&script)), "rephrase").await;
    assert_eq!(state(&task), TaskState::Failed);
    assert!(
        said(&task).contains("the provider failed"),
        "{}",
        said(&task)
    );
}

#[test]
fn to_grant_the_model_to_a_skill_that_is_not_there_is_a_mistake() {
    let manifest = Manifest::parse("name = 'x'\nmodel_for = ['fly']").unwrap();
    let refused = Agent::create(manifest, options(None)).unwrap_err();
    let unknown = DefinitionError::Unknown("fly".to_owned());
    assert_eq!(refused, CreateError::Skill(unknown));
}

#[test]
fn a_skill_is_a_tool_of_the_model() {
    let skills = options(None).skills;
    let tool = skills.get("rephrase").unwrap().tool();
    assert_eq!((&*tool.name, &*tool.title), ("rephrase", "Rephrase"));
    assert_eq!(tool.description, "Says it in other words.");
    assert_eq!(tool.examples, ["rephrase to be or not to be"]);
    assert_eq!(tool.input["required"], json!(["text"]));
}
