//! The eight messages, and what is none.

use super::*;

fn parse(text: &str) -> Result<Message, ParseError> {
    Message::parse(text, &Limits::default())
}

/// Each text is refused with this complaint.
#[track_caller]
fn check_refused(texts: &[(&str, &str)]) {
    for (text, complaint) in texts {
        let error = parse(text).expect_err(text);
        assert_eq!(format!("{}: {error}", error.name()), *complaint, "{text}");
    }
}

#[test]
fn each_message_is_written_and_read_the_same() {
    let value = || Expression::Array(vec![Expression::Undefined]);
    for (text, message) in [
        (r#"["push",[[["undefined"]]]]"#, Message::Push(value())),
        (r#"["pull",7]"#, Message::Pull(7)),
        (
            r#"["resolve",-1,[[["undefined"]]]]"#,
            Message::Resolve(-1, value()),
        ),
        (
            r#"["reject",1,[[["undefined"]]]]"#,
            Message::Reject(1, value()),
        ),
        (
            r#"["release",-9007199254740991,3]"#,
            Message::Release(-9_007_199_254_740_991, 3),
        ),
        (r#"["stream",[[["undefined"]]]]"#, Message::Stream(value())),
        (r#"["pipe"]"#, Message::Pipe),
        (r#"["abort",[[["undefined"]]]]"#, Message::Abort(value())),
    ] {
        assert_eq!(message.print(), text);
        assert_eq!(parse(text), Ok(message));
    }
}

#[test]
fn ignores_elements_it_does_not_know() {
    for (text, message) in [
        (r#" [ "pipe" , {"later":[1]} ] "#, Message::Pipe),
        (r#"["pull",1,2]"#, Message::Pull(1)),
        (r#"["push",null,"option"]"#, Message::Push(Expression::Null)),
        (r#"["release",1,1,null]"#, Message::Release(1, 1)),
    ] {
        assert_eq!(parse(text), Ok(message));
    }
}

#[test]
fn refuses_what_is_no_message() {
    for text in [
        "null",
        "5",
        "{}",
        r#""push""#,
        "[]",
        "[1]",
        "[[]]",
        r#"["frobnicate",1]"#,
        r#"["push"]"#,
        r#"["stream"]"#,
        r#"["abort"]"#,
        r#"["pull"]"#,
        r#"["pull","1"]"#,
        r#"["pull",1.5]"#,
        r#"["resolve",1]"#,
        r#"["resolve",null,1]"#,
        r#"["reject",1]"#,
        r#"["release",1]"#,
        r#"["release",1,-1]"#,
        r#"["release",1,0.5]"#,
        r#"["release",1,null]"#,
    ] {
        check_refused(&[(text, &format!("Error: bad RPC message: {text}"))]);
    }
}

#[test]
fn blames_the_form_rather_than_the_message_around_it() {
    check_refused(&[
        (
            r#"["push",["what"]]"#,
            r#"TypeError: unknown special value: ["what"]"#,
        ),
        (
            r#"["resolve",1,[]]"#,
            "TypeError: unknown special value: []",
        ),
    ]);
}

#[test]
fn blames_the_syntax_before_anything_else() {
    check_refused(&[
        ("", "SyntaxError: invalid JSON at byte 0: unexpected end"),
        (
            "[\"pipe\"]\n[\"pipe\"]",
            "SyntaxError: invalid JSON at byte 9: unexpected text after the value",
        ),
        (
            r#"["what",["ever"],"#,
            "SyntaxError: invalid JSON at byte 17: unexpected end",
        ),
        (
            r#"["push",["what"],}"#,
            "SyntaxError: invalid JSON at byte 17: expected a value",
        ),
    ]);
}

#[test]
fn the_message_itself_does_not_count_towards_the_depth() {
    let limits = Limits {
        max_depth: 2,
        ..Limits::default()
    };
    assert!(Message::parse(r#"["push",[[1]]]"#, &limits).is_ok());
    let error = Message::parse(r#"["push",[[[[1]]]]]"#, &limits).unwrap_err();
    assert_eq!(error, ParseError::TooDeep(2));
}
