//! An agent is made in one step from a manifest and options.

use std::sync::Arc;

use agent::{Agent, CreateError, Manifest, Options};

use super::support::registry;

fn options() -> Options {
    let mut options = Options::default();
    options.skills = registry();
    options
}

#[test]
fn the_card_is_assembled_from_the_skills() {
    let manifest = Manifest::new("Shop").describe("Sells lamps.");
    let card = Agent::create(manifest, options()).unwrap().card();
    assert_eq!((&*card.name, &*card.description), ("Shop", "Sells lamps."));
    let skills: Vec<_> = card.skills.iter().map(|skill| &*skill.id).collect();
    assert_eq!(skills, ["greet", "order"]);
    assert_eq!(
        card.skills[0].input_modes,
        ["text/plain", "application/json"]
    );
    assert_eq!(card.skills[0].output_modes, ["application/json"]);
    assert_eq!(card.skills[1].output_modes, ["text/plain"]);
    let uri = &card.capabilities.unwrap().extensions[0].uri;
    assert_eq!(uri, skill::extension::URI);
}

/// Readers of 0.3 refuse a card that has none.
#[test]
fn an_agent_that_says_nothing_of_itself_is_described_by_its_skills() {
    let card = Agent::create(Manifest::new("Shop"), options())
        .unwrap()
        .card();
    assert_eq!(card.description, "Shop can do this: Greet, Order.");
    let mut talks = Options::default();
    talks.answerer = Some(Arc::new(
        Agent::create(Manifest::new("x"), options()).unwrap(),
    ));
    let mut manifest = Manifest::new("Talker").describe(" ");
    manifest.skills = Some(Vec::new());
    let card = Agent::create(manifest, talks).unwrap().card();
    assert_eq!(card.description, "Talker answers messages.");
}

#[test]
fn a_manifest_is_a_file_that_says_which_skills() {
    let text = r#"
        name = "Greeter"
        skills = ["greet"]

        [mcp.files]
        command = "files"
        args = ["--read-only"]
        allow = ["read"]

        [mcp.web]
        url = "http://127.0.0.1:9/mcp"
        headers = { Authorization = "Bearer x" }
    "#;
    let manifest = Manifest::parse(text).unwrap();
    assert_eq!(manifest.mcp["files"].allow.as_deref().unwrap(), ["read"]);
    let agent = Agent::create(manifest, options()).unwrap();
    assert_eq!(agent.skills().len(), 1);
    assert_eq!(agent.card().version, "0.1.0");
}

#[test]
fn a_manifest_that_says_something_odd_is_refused() {
    for (text, problem) in [
        ("", "missing field `name`"),
        ("name = 'x'\ncolour = 'red'", "unknown field `colour`"),
        ("name = 'x'\n[mcp.a]", "mcp.a needs a command or a url"),
        (
            "name = 'x'\n[mcp.a]\ncommand = 'c'\nurl = 'u'",
            "mcp.a needs a command or a url",
        ),
        (
            "name = 'x'\n[mcp.a]\nurl = 'file:///etc/passwd'",
            "mcp.a has a url that is neither",
        ),
        (
            "name = 'x'\n[mcp.a]\ncommand = 'c'\nheaders = { A = 'b' }",
            "mcp.a has headers",
        ),
    ] {
        let refused = Manifest::parse(text).unwrap_err().to_string();
        assert!(refused.contains(problem), "{refused}");
    }
}

#[test]
fn an_agent_that_could_do_nothing_is_none() {
    let create = |manifest: Manifest, options| Agent::create(manifest, options).unwrap_err();
    let empty = create(Manifest::new("Idle"), Options::default());
    assert_eq!(empty, CreateError::Empty("Idle".to_owned()));
    let mut manifest = Manifest::new("Greeter");
    manifest.skills = Some(vec!["fly".to_owned()]);
    let unknown = create(manifest, options()).to_string();
    assert_eq!(unknown, "there is no skill \"fly\"");
    let mut manifest = Manifest::new("Greeter");
    manifest.skills = Some(["greet", "order", "greet"].map(str::to_owned).to_vec());
    let twice = create(manifest, options());
    assert_eq!(twice, CreateError::Twice("greet".to_owned()));
    assert_eq!(create(Manifest::new(" "), options()), CreateError::Nameless);
}

#[test]
fn an_agent_is_started_once() {
    let agent = Agent::create(Manifest::new("Shop"), options()).unwrap();
    agent.claim().unwrap();
    let again = agent.clone().claim().unwrap_err();
    assert_eq!(again.to_string(), "agent \"Shop\" is started already");
}
