//! Envelopes are read, and what is wrong with one is said.

use bytes::Bytes;

use super::envelope::Envelope;

fn check(body: &str, expected: &str) {
    let read = match Envelope::read(&Bytes::copy_from_slice(body.as_bytes())) {
        Ok(it) => format!(
            "{} {} {}",
            String::from_utf8_lossy(it.id.as_bytes()),
            it.method,
            String::from_utf8_lossy(&it.params)
        ),
        Err((id, error)) => format!(
            "{} {}",
            String::from_utf8_lossy(id.as_bytes()),
            error.code().json_rpc
        ),
    };
    assert_eq!(read, expected, "{body}");
}

#[test]
fn ids_are_kept_as_they_came() {
    check(
        r#"{"jsonrpc":"2.0","id":1,"method":"A","params":{"x":1}}"#,
        r#"1 A {"x":1}"#,
    );
    check(
        r#"{"jsonrpc":"2.0","id":"a\u0041\"","method":"A"}"#,
        r#""a\u0041\"" A "#,
    );
    check(
        r#"{"jsonrpc":"2.0","id":null,"method":"A","params":null}"#,
        "null A ",
    );
    check(
        r#"{"method":"A","params": {} ,"id":1.50,"jsonrpc":"2.0","more":[]}"#,
        "1.50 A {}",
    );
}

/// A request without an id was refused as such, whatever else was wrong with it.
#[test]
fn without_an_id_the_reply_bears_null() {
    check(r#"{"jsonrpc":"2.0","method":"A"}"#, "null A ");
    check(
        r#"{"jsonrpc":"2.0","method":"A","params":7}"#,
        "null -32602",
    );
    check(r#"{"jsonrpc":"1.0","method":"A"}"#, "null -32600");
}

#[test]
fn what_is_not_json_is_a_parse_error() {
    check("", "null -32700");
    check("{", "null -32700");
    check("{]", "null -32700");
    check(r#"{"jsonrpc":"2.0","id":1,"method":"A"} x"#, "null -32700");
}

#[test]
fn what_is_not_a_request_is_an_invalid_one() {
    check("[]", "null -32600");
    check(r#"[{"jsonrpc":"2.0","id":1,"method":"A"}]"#, "null -32600");
    check("7", "null -32600");
    check(r#"{"jsonrpc":"2.0","id":{},"method":"A"}"#, "null -32600");
    check(r#"{"jsonrpc":"2.0","id":true,"method":"A"}"#, "null -32600");
    // What is echoed must be readable: these broke the reply.
    check(
        r#"{"jsonrpc":"2.0","id":"\ud800","method":"A"}"#,
        "null -32600",
    );
    check(
        r#"{"jsonrpc":"2.0","id":1e400,"method":"A"}"#,
        "null -32600",
    );
    check(r#"{"jsonrpc":"1.0","id":1,"method":"A"}"#, "1 -32600");
    check(r#"{"id":1,"method":"A"}"#, "1 -32600");
    check(r#"{"jsonrpc":"2.0","id":1}"#, "1 -32600");
    check(r#"{"jsonrpc":"2.0","id":1,"method":7}"#, "1 -32600");
    check(
        r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"A"}"#,
        "null -32600",
    );
    check(
        r#"{"jsonrpc":"2.0","id":1,"method":"A","params":[1]}"#,
        "1 -32602",
    );
}
