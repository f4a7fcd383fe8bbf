//! Files of other hosts are read, and faults in them are reported.

use super::{expand, servers};

#[test]
fn files_of_desktop_hosts_and_of_editors_are_read() {
    let desktop = r#"{ "theme": "dark", "mcpServers": { "files": {
        "command": "npx", "args": ["-y", "files", "/srv"], "env": { "LEVEL": "2" }, "alwaysAllow": ["read"]
    } } }"#;
    let files = &servers(desktop).unwrap()["files"];
    assert_eq!(files.command.as_deref(), Some("npx"));
    assert_eq!(files.args, ["-y", "files", "/srv"]);
    assert_eq!(files.env["LEVEL"], "2");
    assert_eq!(files.allow, None, "not to be asked is not to be allowed");

    let editor = r#"{ "inputs": [], "servers": { "web": {
        "type": "http", "url": "https://tools.example/mcp", "headers": { "X-Key": "k" }, "disabled": true
    } } }"#;
    let web = &servers(editor).unwrap()["web"];
    assert_eq!(web.url.as_deref(), Some("https://tools.example/mcp"));
    assert_eq!(web.headers["X-Key"], "k");
    assert!(web.disabled);
}

#[test]
fn what_cannot_be_used_is_told_with_the_name_of_the_server() {
    for (entry, problem) in [
        (r#"{}"#, r#"the server "a" needs a command or a url"#),
        (r#"{"command": "c", "url": "http://x"}"#, "not both"),
        (r#"{"command": " "}"#, "empty command"),
        (
            r#"{"url": "file:///etc/passwd"}"#,
            "neither http:// nor https://",
        ),
        (r#"{"url": "http://x", "args": ["y"]}"#, "only a program"),
        (
            r#"{"command": "c", "headers": {"A": "b"}}"#,
            "a program does not get",
        ),
        (
            r#"{"type": "sse", "url": "http://x"}"#,
            "use streamable HTTP",
        ),
    ] {
        let text = format!(r#"{{"mcpServers": {{"a": {entry}}}}}"#);
        let error = servers(&text).unwrap_err().to_string();
        assert!(error.contains(problem), "{entry}: {error}");
    }
    for text in ["", "[]", "{}", r#"{"mcpServers": []}"#] {
        assert!(servers(text).is_err(), "{text}");
    }
}

#[test]
fn variables_are_put_where_they_are_named() {
    let variable = |name: &str| (name == "TOKEN").then(|| "secret".to_owned());
    let file = r#"{"mcpServers": {"a": {"url": "https://x/${PATH:-mcp}", "headers": {
        "Authorization": "Bearer ${env:TOKEN}!"
    }}}}"#;
    let mut server = servers(file).unwrap().remove("a").unwrap();
    expand(&mut server, &variable).unwrap();
    assert_eq!(server.headers["Authorization"], "Bearer secret!");
    assert_eq!(server.url.as_deref(), Some("https://x/mcp"));
    assert!(!format!("{server:?}").contains("secret"), "{server:?}");

    for (text, problem) in [
        ("${OTHER}", "\"OTHER\" is not set"),
        ("${input:key}", "is not supported"),
        ("a ${TOKEN", "without a closing"),
    ] {
        server.headers.insert("X".to_owned(), text.to_owned());
        let error = expand(&mut server, &variable).unwrap_err().to_string();
        assert!(error.contains(problem), "{text}: {error}");
    }
}
