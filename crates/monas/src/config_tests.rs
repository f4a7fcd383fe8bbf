//! Who wins, what makes sense together, and that what is said about defaults is true.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::settings::{KEYS, Settings};
use super::value::Raw;
use super::{Config, Data, Durability, Offer, Sources, misspelt};

/// Sources that a test fills in.
#[derive(Default)]
struct Given {
    flags: HashMap<&'static str, &'static str>,
    variables: HashMap<&'static str, &'static str>,
    file: Option<PathBuf>,
    homeless: bool,
}

impl Sources for Given {
    fn flag(&self, name: &str) -> Option<String> {
        self.flags.get(name).map(|value| (*value).to_owned())
    }

    fn variable(&self, name: &str) -> Option<String> {
        self.variables.get(name).map(|value| (*value).to_owned())
    }

    fn file(&self) -> Option<PathBuf> {
        self.file.clone()
    }

    fn data_folder(&self) -> Option<PathBuf> {
        (!self.homeless).then(|| "data".into())
    }
}

fn flags(flags: &[(&'static str, &'static str)]) -> Given {
    Given {
        flags: flags.iter().copied().collect(),
        ..Given::default()
    }
}

fn variables(variables: &[(&'static str, &'static str)]) -> Given {
    Given {
        variables: variables.iter().copied().collect(),
        ..Given::default()
    }
}

fn complaint(given: &Given) -> String {
    Config::read(given).unwrap_err().to_string()
}

#[test]
fn without_any_setting_the_defaults_hold() {
    let standard = Config::new(Data::Folder("data".into()));
    assert_eq!(Config::read(&Given::default()).unwrap(), standard);
}

#[test]
fn the_defaults_that_are_documented_are_those_that_hold() {
    let mut documented = Settings::default();
    for key in KEYS {
        // Some are described in words, because they depend or are nothing.
        if !key.default.contains(' ') && !["none", "~/.local/share/monas"].contains(&key.default)
            || key.name == "agent.description"
        {
            documented.set(key.name, Raw::Text(key.default)).unwrap();
        }
    }
    let documented = Config::decide(documented, Vec::new(), Some("data".into())).unwrap();
    assert_eq!(documented, Config::new(Data::Folder("data".into())));
}

#[test]
fn a_flag_is_stronger_than_a_variable_and_a_variable_than_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("monas.toml");
    std::fs::write(
        &file,
        "listen = '127.0.0.1:1'\ndata = 'from file'\n[store]\ndurability = 'normal'\n",
    )
    .unwrap();
    let given = Given {
        file: Some(file),
        variables: [
            ("MONAS_LISTEN", "127.0.0.1:2"),
            ("MONAS_DATA", "from variable"),
        ]
        .into(),
        ..flags(&[("listen", "127.0.0.1:3")])
    };
    let config = Config::read(&given).unwrap();
    assert_eq!(config.listen.port(), 3);
    assert_eq!(config.data, Data::Folder("from variable".into()));
    assert_eq!(config.store.durability, Durability::Normal);
}

#[test]
fn every_setting_has_a_variable() {
    let given = variables(&[
        ("MONAS_BINDINGS_GRPC", "off"),
        ("MONAS_TLS_CERT", "c"),
        ("MONAS_TLS_KEY", "k"),
    ]);
    let config = Config::read(&given).unwrap();
    assert_eq!(config.bindings.grpc, Offer::Off);
    assert_eq!(config.tls.unwrap().certificate, Path::new("c"));
    for key in KEYS {
        // What no kind of value takes but a text and a path.
        let given = variables(&[(key.variable().leak(), "\u{1}")]);
        let texts = [
            "data",
            "agent.name",
            "agent.description",
            "agent.manifest",
            "agent.mcp_config",
            "agent.signing_key",
        ];
        let any_text = texts.contains(&key.name);
        assert_eq!(Config::read(&given).is_ok(), any_text, "{}", key.name);
    }
}

#[test]
fn names_the_flag_or_variable_that_is_wrong() {
    assert_eq!(
        complaint(&flags(&[("listen", "8080")])),
        "use --listen=\"8080\": expected an address and a port, such as 127.0.0.1:8080"
    );
    assert_eq!(
        complaint(&variables(&[("MONAS_STORE_DURABILITY", "maximal")])),
        "use MONAS_STORE_DURABILITY=\"maximal\": expected full or normal"
    );
}

#[test]
fn refuses_what_makes_no_sense_together() {
    assert_eq!(
        complaint(&flags(&[("public-url", "ftp://example.com")])),
        "use the public URL ftp://example.com: it must be http or https"
    );
    assert_eq!(
        complaint(&flags(&[("tls-cert", "cert.pem")])),
        "use tls.cert without tls.key: set both, or neither"
    );
    assert_eq!(
        complaint(&flags(&[("tls-key", "key.pem")])),
        "use tls.key without tls.cert: set both, or neither"
    );
    assert_eq!(
        complaint(&variables(&[
            ("MONAS_BINDINGS_GRPC", "off"),
            ("MONAS_BINDINGS_REST", "off"),
            ("MONAS_BINDINGS_JSONRPC", "off"),
            ("MONAS_BINDINGS_CAPNWEB", "off"),
            ("MONAS_BINDINGS_WEBSOCKET", "off"),
        ])),
        "serve: every binding is off"
    );
    assert_eq!(
        complaint(&flags(&[("open", "false")])),
        "serve with open = false: no scheme in [access] says how callers prove who they are"
    );
    let homeless = Given {
        homeless: true,
        ..Given::default()
    };
    assert_eq!(
        complaint(&homeless),
        "find a place for data: set --data, or HOME"
    );
}

#[test]
fn notices_variables_that_are_almost_ours() {
    assert_eq!(misspelt("MONAS_LISTN").as_deref(), Some("MONAS_LISTEN"));
    assert_eq!(
        misspelt("MONAS_TLS_CERTS").as_deref(),
        Some("MONAS_TLS_CERT")
    );
    for variable in [
        "MONAS_LISTEN",
        "MONAS_CONFIG",
        "MONAS_SOMETHING_ELSE",
        "LISTEN",
        "PATH",
    ] {
        assert_eq!(misspelt(variable), None, "{variable}");
    }
}

#[test]
fn the_documentation_lists_every_setting() {
    let mut table =
        String::from("| in the file | variable | flag | default | |\n|---|---|---|---|---|\n");
    for key in KEYS {
        let flag = match key.flag {
            Some((flag, "")) => format!("`--{flag}`"),
            Some((flag, value)) => format!("`--{flag} {}`", value.replace('|', "\\|")),
            None => String::new(),
        };
        let (name, variable, help) = (key.name, key.variable(), key.help());
        let default = key.default;
        table += &format!("| `{name}` | `{variable}` | {flag} | {default} | {help} |\n");
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/configuration.md");
    let document = std::fs::read_to_string(path).unwrap();
    assert!(
        document.contains(&table),
        "docs/configuration.md needs this table:\n{table}"
    );
}
