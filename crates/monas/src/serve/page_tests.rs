//! That the page shows what it was given, and nothing more.

use super::{Page, PageSection, SCRIPT, STYLE, policy};

fn page() -> Page {
    Page {
        name: "<script>alert('name')</script>".to_owned(),
        description: "Ada & \"friends\"".to_owned(),
        skills: vec![("<b>".to_owned(), "</ul>".to_owned())],
        ways: vec![PageSection {
            title: "JSON-RPC",
            url: "http://127.0.0.1:8080/a2a/jsonrpc".to_owned(),
            deprecated: true,
            commands: vec![("Send a message", "curl -d '{\"a\":\"<&>\"}'".to_owned())],
        }],
        agents: vec![("<i>".to_owned(), "/agents/scout".to_owned())],
    }
}

#[test]
fn values_mean_nothing_but_themselves() {
    let html = page().to_string();
    for expected in [
        "<title>&lt;script&gt;alert(&#39;name&#39;)&lt;/script&gt;</title>",
        "<p>Ada &amp; &quot;friends&quot;</p>",
        "<strong>&lt;b&gt;</strong><p>&lt;/ul&gt;</p>",
        "<pre>curl -d &#39;{&quot;a&quot;:&quot;&lt;&amp;&gt;&quot;}&#39;</pre>",
        "deprecated</span>",
        "<strong>&lt;i&gt;</strong><p><a href=\"/agents/scout/",
    ] {
        assert!(html.contains(expected), "{expected}\n{html}");
    }
    assert_eq!(html.matches("<script>").count(), 1);
}

#[test]
fn nothing_comes_from_elsewhere() {
    let html = page().to_string();
    for (attribute, allowed) in [
        ("src=\"", [].as_slice()),
        ("href=\"", &["/", "./", "data:,"]),
        ("url(", &[]),
        ("@import", &[]),
    ] {
        for (start, _) in html.match_indices(attribute) {
            let value = &html[start + attribute.len()..];
            let is_allowed = allowed.iter().any(|prefix| value.starts_with(prefix));
            assert!(
                is_allowed && !value.starts_with("//"),
                "{attribute}{}",
                &value[..40]
            );
        }
    }
}

#[test]
fn the_hashes_are_of_what_the_page_has() {
    let html = page().to_string();
    assert!(html.contains(&format!("<style>{STYLE}</style>")));
    assert!(html.contains(&format!("<script>{SCRIPT}</script>")));
    let policy = policy();
    assert!(policy.starts_with("default-src 'none'; "), "{policy}");
    assert!(!policy.contains("unsafe"), "{policy}");
}
