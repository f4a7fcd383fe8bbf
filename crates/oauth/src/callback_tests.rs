//! Answers of an authorization server, right and wrong.

use super::*;

fn callback(names_issuer: bool) -> Callback {
    Callback {
        issuer: "https://id.example.com".to_owned(),
        names_issuer,
        state: "s".to_owned(),
        pkce: Pkce::new().unwrap(),
        redirect: "http://127.0.0.1:1/callback".to_owned(),
        url: String::new(),
    }
}

#[test]
fn an_answer_must_be_to_our_request_and_from_our_issuer() {
    let code = |names: bool, answer: &str| callback(names).code(answer);
    assert_eq!(
        code(false, "http://h/callback?code=c&state=s"),
        Ok("c".into())
    );
    assert_eq!(
        code(true, "code=c&state=s&iss=https%3A%2F%2Fid.example.com"),
        Ok("c".into())
    );
    for (names, wrong) in [
        (false, "code=c"),
        (false, "code=c&state=t"),
        (false, "code=c&state=s&iss=https%3A%2F%2Fevil.example.com"),
        (true, "code=c&state=s"),
        (true, "code=c&state=s&iss=https%3A%2F%2Fid.example.com%2F"),
        (false, "code=c&code=d&state=s"),
        (false, "state=s"),
        (false, "error=access_denied&state=s"),
        (false, ""),
    ] {
        assert!(code(names, wrong).is_err(), "{wrong}");
    }
}
