//! Previews of calls, before a person agrees to them.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use skill::{
    Context, Id, OneOrMore, Registry, Reply, Skill, SkillError, SkillInput, Spec, Traits, skill,
};

use crate::support::greet;

#[derive(Deserialize, JsonSchema, SkillInput)]
struct Letter {
    to: String,
}

/// Sends letters, and says which before it does.
struct Send;

impl Skill for Send {
    const SPEC: Spec = {
        let mut traits = Traits::new();
        traits.approval = true;
        Spec::new(
            Id::new("send"),
            "Send",
            "Sends a letter.",
            OneOrMore::new(&["test"]),
            OneOrMore::new(&["send a letter to Ada"]),
        )
        .with(traits)
    };
    type Input = Letter;
    type Output = ();

    async fn run(&self, _: Letter, _: Context) -> Result<Reply<()>, SkillError> {
        Err(SkillError::failed("a preview does nothing"))
    }

    async fn preview(&self, letter: Letter) -> Result<Option<String>, SkillError> {
        match &*letter.to {
            "nobody" => Err(SkillError::failed("nobody has no address")),
            "panic" => panic!("on purpose"),
            "never" => std::future::pending().await,
            to => Ok(Some(format!("a letter to {to}"))),
        }
    }
}

/// Burns letters.
#[skill(tags = ["test"], examples = ["burn"], approval, destructive)]
async fn burn(_letter: Letter) -> Result<(), SkillError> {
    Ok(())
}

fn skills() -> Registry {
    let skills = Registry::new().with(Send).unwrap();
    skills.with(burn).unwrap().with(greet).unwrap()
}

#[test]
fn a_skill_that_needs_approval_says_so() {
    let skills = skills();
    let marked: Vec<_> = skills.iter().filter(|it| it.traits.approval).collect();
    let marked: Vec<_> = marked.iter().map(|it| &*it.id).collect();
    assert_eq!(marked, ["send", "burn"]);
}

#[tokio::test]
async fn a_preview_tells_what_would_be_done() {
    let skills = skills();
    let shown = skills.preview("send", json!({ "to": "Ada" })).await;
    assert_eq!(shown.unwrap().unwrap(), "a letter to Ada");
    let shown = skills.preview("burn", json!({ "to": "Ada" })).await;
    assert_eq!(shown.unwrap(), None);
}

#[tokio::test(start_paused = true)]
async fn what_goes_wrong_in_a_preview_is_what_would_go_wrong_in_a_call() {
    let skills = skills();
    for (id, input, code) in [
        ("send", json!({ "to": "nobody" }), "failed"),
        ("send", json!({ "to": 7 }), "invalid-input"),
        ("send", json!({ "to": "panic" }), "crashed"),
        ("send", json!({ "to": "never" }), "timed-out"),
        ("sing", json!({}), "unknown-skill"),
    ] {
        let error = skills.preview(id, input).await.unwrap_err();
        assert_eq!(error.code(), code);
    }
}
