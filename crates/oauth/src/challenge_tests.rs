//! Challenges, well-formed and not.

use super::*;

fn find(values: &[&str]) -> Option<Challenge> {
    let mut headers = HeaderMap::new();
    for value in values {
        headers.append(WWW_AUTHENTICATE, value.parse().unwrap());
    }
    Challenge::find(&headers)
}

#[test]
fn finds_the_challenge_for_tokens_among_others() {
    let found = find(&[
        r#"Basic realm="a, b=\"c\"", Bearer error="insufficient_scope", scope="read write" , resource_metadata=https://a/b"#,
    ]);
    assert_eq!(
        found,
        Some(Challenge {
            wants_proof: false,
            error: Some("insufficient_scope".to_owned()),
            scopes: vec!["read".to_owned(), "write".to_owned()],
            resource_metadata: Some("https://a/b".to_owned()),
        })
    );
    assert!(find(&[r#"Negotiate abc==, Bearer realm="x""#]).is_some());
    assert!(find(&["Bearer", "DPoP"]).is_some_and(|it| it.wants_proof));
    assert_eq!(find(&[r#"Basic realm="x""#]), None);
    assert_eq!(find(&[]), None);
}

#[test]
fn what_is_malformed_ends_without_harm() {
    for text in [
        "",
        ",,,",
        "=",
        "Bearer =",
        "Bearer a=\"",
        "Bearer a=\"\\",
        "Bearer ,a b c=,=,",
    ] {
        find(&[text]);
    }
}
