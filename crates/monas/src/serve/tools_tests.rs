//! Faults in a list of servers are told before anything is started.

use std::path::Path;

use agent::Manifest;

use super::servers;

#[test]
fn servers_come_from_the_manifest_and_from_files_of_other_hosts() {
    let folder = tempfile::tempdir().unwrap();
    let more = folder.path().join("mcp.json");
    let write = |text: &str| std::fs::write(&more, text).unwrap();
    let manifest = Manifest::parse("name = 'x'\n[mcp.a]\ncommand = '${TOOL}'").unwrap();
    let variable = |name: &str| (name == "TOOL").then(|| "the-tool".to_owned());
    let read = |variable: &dyn Fn(&str) -> Option<String>| {
        servers(Path::new("the manifest"), &manifest, Some(&more), variable)
    };

    write(r#"{"mcpServers": {"b": {"url": "https://b.example/mcp"}}}"#);
    let both = read(&variable).unwrap();
    assert_eq!(both["a"].command.as_deref(), Some("the-tool"));
    assert_eq!(both["b"].url.as_deref(), Some("https://b.example/mcp"));

    let unset = read(&|_| None).unwrap_err().to_string();
    assert!(
        unset.contains("tool server \"a\": the variable \"TOOL\" is not set"),
        "{unset}"
    );
    write(r#"{"mcpServers": {"a": {"url": "https://b.example/mcp"}}}"#);
    let twice = read(&variable).unwrap_err().to_string();
    assert!(twice.contains("\"a\" is also in the manifest"), "{twice}");
    write("{}");
    let wrong = read(&variable).unwrap_err();
    assert!(wrong.to_string().contains("mcp.json"), "{wrong}");
    assert_eq!(wrong.exit_code(), 2);
}
