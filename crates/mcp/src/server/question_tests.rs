//! Which form a question becomes, and which call a sealed state is valid for.

use schemars::JsonSchema;
use serde_json::{Value, json};

use super::{CallDigest, Form, StateSeal};

fn schema<T: JsonSchema>() -> Value {
    schemars::schema_for!(T).to_value()
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is wanted")]
struct Simple {
    approved: bool,
    times: u8,
    why: Option<String>,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is wanted")]
struct Nested {
    simple: Simple,
}

#[test]
fn a_question_of_simple_fields_is_a_form() {
    let Some(Form::Fields(form)) = Form::of(&schema::<Simple>()) else {
        panic!("no form");
    };
    let form = serde_json::to_value(form).unwrap();
    assert_eq!(form["properties"]["approved"]["type"], "boolean");
    assert_eq!(form["properties"]["times"]["type"], "integer");
    assert_eq!(form["properties"]["why"]["type"], "string");
    assert_eq!(form["required"], json!(["approved", "times"]));
}

#[test]
fn an_answer_of_any_other_shape_is_written_as_json() {
    let Some(Form::Json(form)) = Form::of(&schema::<Nested>()) else {
        panic!("it is a form of fields");
    };
    let form = serde_json::to_value(form).unwrap();
    assert_eq!(form["required"], json!(["answer"]));
    let described = form["properties"]["answer"]["description"].as_str();
    assert!(described.unwrap().contains("simple"), "{form}");
}

#[test]
fn a_state_is_good_for_one_call_of_one_caller() {
    let seal = StateSeal::new(b"key", std::time::Duration::from_secs(60));
    let input = json!({ "what": "a lamp" });
    let digest = CallDigest::new("ada", "order", &input);
    let state = seal.seal("task", &digest);
    assert_eq!(seal.open(&state, &digest).unwrap(), "task");
    for other in [
        CallDigest::new("bob", "order", &input),
        CallDigest::new("ada", "greet", &input),
        CallDigest::new("ada", "order", &json!({ "what": "two lamps" })),
        // The border between two parts counts: "ab" + "c" is not "a" + "bc".
        CallDigest::new("adao", "rder", &input),
    ] {
        assert!(seal.open(&state, &other).is_err(), "{other:?}");
    }
    assert!(seal.open(&format!("{state}x"), &digest).is_err());
    let another = StateSeal::new(b"another key", std::time::Duration::from_secs(60));
    assert!(another.open(&state, &digest).is_err());
}
