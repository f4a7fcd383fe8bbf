//! Which form a question becomes.

use schemars::JsonSchema;
use serde_json::{Value, json};

use super::Form;

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
    let Form::Fields(form) = Form::of(&schema::<Simple>()) else {
        panic!("no form");
    };
    assert_eq!(form["properties"]["approved"]["type"], "boolean");
    assert_eq!(form["properties"]["times"]["type"], "integer");
    assert_eq!(form["properties"]["why"]["type"], "string");
    assert_eq!(form["required"], json!(["approved", "times"]));
}

#[test]
fn an_answer_of_any_other_shape_is_written_as_json() {
    let Form::Json(form) = Form::of(&schema::<Nested>()) else {
        panic!("it is a form of fields");
    };
    assert_eq!(form["required"], json!(["answer"]));
    let described = form["properties"]["answer"]["description"].as_str();
    assert!(described.unwrap().contains("simple"), "{form}");
}
