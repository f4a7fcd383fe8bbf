//! That the document of the page names files that exist, and that nothing in it comes from elsewhere.

use axum::http::{HeaderMap, HeaderValue};

use super::{ACCEPT_ENCODING, ASSETS, BUILD, FILES, NONCE, asset, compress, front, index, policy};

#[test]
fn every_file_that_the_document_names_is_in_the_program() {
    let document = index("/below");
    let prefix = format!("\"/below/{ASSETS}/{}/", *BUILD);
    let named: Vec<&str> = document
        .split(&prefix)
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
        .collect();
    assert!(named.len() >= 3, "{document}");
    for name in named {
        assert!(asset(&format!("{ASSETS}/{name}")).is_some(), "{name}");
    }
    assert!(document.contains(r#"<meta name="base-path" content="/below/">"#));
    assert!(!document.contains("http://127") && !document.contains("https://"));
}

#[test]
fn the_first_load_is_small() {
    let document = index("");
    let prefix = format!("\"/{ASSETS}/{}/", *BUILD);
    let files = document.split(&prefix).skip(1);
    let sizes = files.map(|rest| {
        let name = rest.split('"').next().expect("a name ends");
        let (_, contents) = asset(&format!("{ASSETS}/{name}")).expect("it is there");
        compress(contents).len()
    });
    let all = sizes.sum::<usize>() + compress(document.as_bytes()).len();
    assert!(all <= 120_000, "{all} bytes in gzip; the limit is 120,000");
}

#[test]
fn every_response_has_a_nonce_of_its_own() {
    let document = index("");
    assert!(document.contains(NONCE));
    let first = front(&document, &HeaderMap::new());
    let second = front(&document, &HeaderMap::new());
    let policy_of = |response: &axum::response::Response| {
        response.headers()["content-security-policy"]
            .to_str()
            .expect("printable")
            .to_owned()
    };
    assert_ne!(policy_of(&first), policy_of(&second));
    assert!(!policy("x").contains("unsafe"));
}

#[test]
fn a_browser_that_takes_gzip_gets_it() {
    let mut headers = HeaderMap::new();
    headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("br, gzip;q=0.8"));
    let response = front(&index(""), &headers);
    assert_eq!(response.headers()["content-encoding"], "gzip");
    let plain = front(&index(""), &HeaderMap::new());
    assert!(plain.headers().get("content-encoding").is_none());
}

#[test]
fn the_build_is_that_of_the_manifest() {
    let manifest = FILES.get_file("manifest.json").expect("it is built");
    let manifest: serde_json::Value =
        serde_json::from_slice(manifest.contents()).expect("it is JSON");
    assert_eq!(manifest["build"], *BUILD);
}
