//! What is wrong with a list of servers is said before anything is started.

use skill::Manifest;

use super::servers;
use crate::config::{Config, Data};

#[test]
fn servers_come_from_the_manifest_and_from_files_of_other_hosts() {
    let folder = tempfile::tempdir().unwrap();
    let mut config = Config::new(Data::Memory);
    config.mcp_config = Some(folder.path().join("mcp.json"));
    let write = |text: &str| std::fs::write(folder.path().join("mcp.json"), text).unwrap();
    let manifest = Manifest::parse("name = 'x'\n[mcp.a]\ncommand = '${TOOL}'").unwrap();
    let variable = |name: &str| (name == "TOOL").then(|| "the-tool".to_owned());
    let read = |variable: &dyn Fn(&str) -> Option<String>| servers(&config, &manifest, variable);

    write(r#"{"mcpServers": {"b": {"url": "https://b.example/mcp"}}}"#);
    let both = read(&variable).unwrap();
    assert_eq!(both["a"].command.as_deref(), Some("the-tool"));
    assert_eq!(both["b"].url.as_deref(), Some("https://b.example/mcp"));

    let unset = read(&|_| None).unwrap_err().to_string();
    assert!(
        unset.contains("the server \"a\": the variable \"TOOL\" is not set"),
        "{unset}"
    );
    write(r#"{"mcpServers": {"a": {"url": "https://b.example/mcp"}}}"#);
    let twice = read(&variable).unwrap_err().to_string();
    assert!(twice.contains("\"a\" is in the manifest, too"), "{twice}");
    write("{}");
    let wrong = read(&variable).unwrap_err();
    assert!(wrong.to_string().contains("mcp.json"), "{wrong}");
    assert_eq!(wrong.exit_code(), 2);
}
