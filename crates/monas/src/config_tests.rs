//! Who wins, what makes sense together, and that what is said about defaults is true.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use a2a::binding::Binding;
use model::layer::Cost;
use model::provider::{self, Endpoint, Key};

use super::models::{Embedder, Models};
use super::settings::{KEYS, Settings};
use super::value::Raw;
use super::{BindingUse, Config, Data, Durability, Sources, misspelt};

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
    for key in KEYS.iter() {
        // Some are described in words, because they depend or are nothing.
        if !key.default.contains(' ') && !["none", "~/.local/share/monas"].contains(&key.default)
            || key.name == "agent.description"
        {
            documented.set(&key.name, Raw::Text(key.default)).unwrap();
        }
    }
    let documented = Config::decide(documented, Vec::new(), &Given::default()).unwrap();
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
    let grpc = Binding::named("grpc").unwrap();
    assert_eq!(config.bindings.get(grpc), BindingUse::Off);
    assert_eq!(config.tls.unwrap().certificate, Path::new("c"));
    for key in KEYS.iter() {
        // What no kind of value takes but a text and a path.
        let given = variables(&[(key.variable().leak(), "\u{1}")]);
        let texts = [
            "data",
            "agent.name",
            "agent.description",
            "agent.manifest",
            "model.key_file",
            "embedder.key_file",
            "agents",
            "workspace",
            "agent.mcp_config",
            "agent.signing_key",
            "ca_cert",
            "extended_card",
            "mirror.user",
            "mirror.secret",
            "mirror.database",
        ];
        let any_text = texts.contains(&&*key.name);
        assert_eq!(Config::read(&given).is_ok(), any_text, "{}", key.name);
    }
}

#[test]
fn names_the_flag_or_variable_that_is_wrong() {
    assert_eq!(
        complaint(&flags(&[("listen", "here")])),
        "use --listen=\"here\": expected an address and a port, such as 127.0.0.1:8080, localhost:8080 or 8080"
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
    let homeless = Given {
        homeless: true,
        ..Given::default()
    };
    assert_eq!(
        complaint(&homeless),
        "find a folder for data: set --data or HOME"
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
    for key in KEYS.iter() {
        let flag = match key.flag {
            Some((flag, "")) => format!("`--{flag}`"),
            Some((flag, value)) => format!("`--{flag} {}`", value.replace('|', "\\|")),
            None => String::new(),
        };
        let (name, variable, help) = (&key.name, key.variable(), &key.help);
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

/// What these variables make of the models.
fn models(set: &[(&'static str, &'static str)]) -> Models {
    Config::read(&variables(set)).unwrap().models
}

#[test]
fn a_model_is_its_provider_and_its_name_and_a_key_is_found_in_the_usual_variable() {
    let usual = ("OPENAI_API_KEY", "usual");
    let name = ("MONAS_MODEL_NAME", "openai:gpt-5");
    let model = |set: &[_]| models(set).model.unwrap();
    let endpoint = model(&[name, usual]);
    assert_eq!(
        (endpoint.kind, &*endpoint.model),
        (provider::Kind::OpenAi, "gpt-5")
    );
    assert_eq!(endpoint.key, Some(Key::new("usual")));
    let own = model(&[name, usual, ("MONAS_MODEL_KEY", "own")]);
    assert_eq!(own.key, Some(Key::new("own")));
    // The usual key is the provider's, and is not told to others.
    let elsewhere = model(&[name, usual, ("MONAS_MODEL_URL", "http://localhost:1/v1")]);
    assert_eq!(elsewhere.key, None);
    assert_eq!(elsewhere.url.as_deref(), Some("http://localhost:1/v1"));
    // A name may have colons of its own.
    let tagged = model(&[("MONAS_MODEL_NAME", "ollama:gemma3:27b")]);
    assert_eq!(
        (tagged.kind, &*tagged.model),
        (provider::Kind::Ollama, "gemma3:27b")
    );
}

#[test]
fn the_url_of_a_model_needs_a_model() {
    for (table, variable) in [
        ("model", "MONAS_MODEL_URL"),
        ("embedder", "MONAS_EMBEDDER_URL"),
    ] {
        let said = complaint(&variables(&[(variable, "http://localhost:1/v1")]));
        let expected = format!("use {table}.url without {table}.name: ");
        assert!(said.starts_with(&expected), "{said}");
    }
}

#[test]
fn a_key_can_be_in_a_file_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("key"), "  from-file\n").unwrap();
    let file = folder.path().join("monas.toml");
    std::fs::write(
        &file,
        "[model]\nname = 'anthropic:claude'\nkey_file = 'key'\n",
    )
    .unwrap();
    let given = Given {
        file: Some(file),
        ..Given::default()
    };
    let model = Config::read(&given).unwrap().models.model.unwrap();
    assert_eq!(model.key, Some(Key::new("from-file")));
    let missing = variables(&[
        ("MONAS_MODEL_NAME", "ollama:gemma3"),
        ("MONAS_MODEL_KEY_FILE", "/there/is/none"),
    ]);
    assert!(complaint(&missing).starts_with("read /there/is/none: "));
    std::fs::write(folder.path().join("key"), "two words\n").unwrap();
    assert!(complaint(&given).ends_with("no key in the file"));
}

/// Once a closed server without `[access]` let one of its users spend all.
#[test]
fn where_callers_have_names_one_may_spend_half_of_the_budget() {
    let most = ("MONAS_MODEL_MAX_TOKENS", "1000");
    let share = |set: &[_]| models(set).share.tokens;
    assert_eq!(share(&[most]), Some(500));
    assert_eq!(share(&[most, ("MONAS_OPEN", "true")]), Some(1000));
    assert_eq!(
        share(&[most, ("MONAS_MODEL_CALLER_SHARE", "20%")]),
        Some(200)
    );
}

#[test]
fn money_is_counted_exactly() {
    let cost = |text| {
        let models = models(&[
            ("MONAS_MODEL_MAX_COST", text),
            ("MONAS_MODEL_PRICE_INPUT", "0.4"),
        ]);
        assert_eq!(models.price.input, Cost(400_000));
        models.allowance.cost.unwrap()
    };
    assert_eq!(cost("5"), Cost(5_000_000));
    assert_eq!(cost("2.50"), Cost(2_500_000));
    assert_eq!(cost("0.000001"), Cost(1));
    for wrong in ["", ".5", "-1", "1,5", "1.0000001", "99999999999999999999"] {
        let given = Given {
            variables: [("MONAS_MODEL_MAX_COST", wrong)].into(),
            ..Given::default()
        };
        assert!(complaint(&given).contains("expected an amount"), "{wrong}");
    }
}

#[test]
fn an_embedder_is_of_a_provider_local_or_none() {
    let embedder = |text| models(&[("MONAS_EMBEDDER_NAME", text)]).embedder;
    assert_eq!(embedder("none"), Some(Embedder::None));
    assert_eq!(
        embedder("local:all-minilm-l6-v2"),
        Some(Embedder::Local("all-minilm-l6-v2".to_owned()))
    );
    let endpoint = Endpoint::new(provider::Kind::Ollama, "nomic-embed-text");
    assert_eq!(
        embedder("ollama:nomic-embed-text"),
        Some(Embedder::Provider(endpoint))
    );
    assert_eq!(models(&[]).embedder, None);
}
