//! The contents of configuration files, and the errors about them.

use std::num::NonZeroU64;
use std::path::Path;

use a2a::binding::BindingUse;

use super::{parse, read};

/// The error about a file with this text.
fn complaint(text: &str) -> String {
    parse(Path::new("monas.toml"), text)
        .unwrap_err()
        .to_string()
}

#[test]
fn sets_what_it_says_and_nothing_else() {
    let text = "listen = \"127.0.0.1:9000\"\n\n[bindings]\nrest = \"deprecated\"\n\n[limits]\nmax_connections = 7\n";
    let (settings, _) = parse(Path::new("monas.toml"), text).unwrap();
    assert_eq!(settings.listen, Some("127.0.0.1:9000".parse().unwrap()));
    assert_eq!(settings.bindings.get("rest"), Some(&BindingUse::Deprecated));
    assert_eq!(settings.max_connections, NonZeroU64::new(7));
    assert_eq!(settings.bindings.get("grpc"), None);
    assert_eq!(settings.data, None);
}

#[test]
fn dotted_keys_are_tables_too() {
    let (settings, _) = parse(Path::new("monas.toml"), "tls.cert = 'cert.pem'").unwrap();
    assert_eq!(settings.tls_cert.as_deref(), Some(Path::new("cert.pem")));
}

#[test]
fn names_the_nearest_key_for_an_unknown_one() {
    for (text, expected) in [
        (
            "listn = '127.0.0.1:9000'",
            "use monas.toml:1: `listn` is not a setting; did you mean `listen`?",
        ),
        (
            "listen = '127.0.0.1:9000'\n\n[bindings]\nrset = 'on'\n",
            "use monas.toml:4: `bindings.rset` is not a setting; did you mean `bindings.rest`?",
        ),
        (
            "[binding]\nrest = 'on'\n",
            "use monas.toml:1: `binding` is not a setting; did you mean `bindings`?",
        ),
        (
            "durability = 'full'\n",
            "use monas.toml:1: `durability` is not a setting; did you mean `store.durability`?",
        ),
        (
            "[tls]\ncertificate = 'cert.pem'\n",
            "use monas.toml:2: `tls.certificate` is not a setting; did you mean `tls.cert`?",
        ),
        (
            "xyzzy = 1\n",
            "use monas.toml:1: `xyzzy` is not a setting; there are listen, data, open, ",
        ),
    ] {
        let complaint = complaint(text);
        assert!(complaint.starts_with(expected), "{complaint}");
    }
}

#[test]
fn says_what_it_expected_and_where() {
    for (text, expected) in [
        (
            "\nlisten = true\n",
            "use monas.toml:2: listen: expected an address and a port, such as 127.0.0.1:8080, localhost:8080 or 8080",
        ),
        (
            "[bindings]\n# a comment\ngrpc = \"sometimes\"\n",
            "use monas.toml:3: bindings.grpc: expected on, preferred, off or deprecated",
        ),
        (
            "[limits]\nmax_connections = \"many\"\n",
            "use monas.toml:2: limits.max_connections: expected a number above 0",
        ),
        (
            "tls = 'cert.pem'\n",
            "use monas.toml:1: `tls` is a table: write [tls]",
        ),
        (
            "[listen]\nport = 80\n",
            "use monas.toml:1: listen: expected an address and a port, such as 127.0.0.1:8080, localhost:8080 or 8080",
        ),
    ] {
        assert_eq!(complaint(text), expected);
    }
}

#[test]
fn says_where_it_is_not_toml() {
    assert!(complaint("open = true\nlisten = \n").starts_with("use monas.toml:2: "));
    assert!(
        complaint("open = true\nopen = false\n").starts_with("use monas.toml:2: duplicate key")
    );
}

#[test]
fn paths_are_meant_from_the_folder_of_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("monas.toml");
    let paths = [
        "data",
        "extended_card",
        "ca_cert",
        "agents",
        "workspace",
        "tls.key",
        "agent.manifest",
        "agent.mcp_config",
        "agent.signing_key",
        "model.key_file",
        "embedder.key_file",
    ];
    let text: String = paths.map(|key| format!("{key} = 'kept'\n")).concat();
    std::fs::write(&file, text + "tls.cert = '/etc/cert.pem'\n").unwrap();
    let (settings, _) = read(&file).unwrap();
    for path in [
        &settings.data,
        &settings.extended_card,
        &settings.ca_cert,
        &settings.agents_folder,
        &settings.workspace,
        &settings.tls_key,
        &settings.agent_manifest,
        &settings.mcp_config,
        &settings.signing_key,
        &settings.model_key_file,
        &settings.embedder_key_file,
    ] {
        assert_eq!(path, &Some(folder.path().join("kept")));
    }
    assert_eq!(
        settings.tls_cert.as_deref(),
        Some(Path::new("/etc/cert.pem"))
    );
}

#[test]
fn says_that_a_file_is_missing() {
    let complaint = read(Path::new("missing.toml")).unwrap_err().to_string();
    assert!(
        complaint.starts_with("read missing.toml: No such file"),
        "{complaint}"
    );
}
