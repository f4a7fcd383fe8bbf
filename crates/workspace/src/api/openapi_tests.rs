//! The document and the page have every route.

use access::RouteRule;

use super::described::UNDESCRIBED;
use super::{document, page};
use crate::api::rules::RULES;

#[test]
fn every_route_is_in_the_document_and_on_the_page() {
    let (document, page) = (document(RULES, "http://localhost"), page(RULES));
    for RouteRule { verb, path, .. } in RULES {
        let operation = &document["paths"][path][verb.to_lowercase()];
        let summary = operation["summary"].as_str().unwrap();
        assert_ne!(summary, UNDESCRIBED, "{verb} {path}");
        assert!(page.contains(&format!("<b>{verb}</b> <code>{path}</code>")));
    }
    assert_eq!(document["openapi"], "3.1.0");
    assert!(
        !page.contains("<script") && !page.contains("http"),
        "it loads nothing"
    );
}
