//! Of what a card lists, what is wanted is chosen.

use super::{Error, Settings, Version, endpoint};
use crate::types::{AgentCard, AgentInterface};

fn card(interfaces: &[(&str, &str)]) -> AgentCard {
    let interface = |(binding, version): &(&str, &str)| AgentInterface {
        url: "http://a.example".to_owned(),
        protocol_binding: (*binding).to_owned(),
        protocol_version: (*version).to_owned(),
        ..AgentInterface::default()
    };
    AgentCard {
        supported_interfaces: interfaces.iter().map(interface).collect(),
        ..AgentCard::default()
    }
}

const LISTED: &[(&str, &str)] = &[
    ("JSONRPC", "0.3"),
    ("HTTP+JSON", "1.0.1"),
    ("CAPNWEB", "1.0"),
    ("SMOKE", "1.0"),
    ("JSONRPC", "1.0"),
    ("GRPC", "2.0"),
];

fn chosen(bindings: &[&str], version: Option<Version>) -> Result<Vec<String>, Error> {
    let settings = Settings {
        bindings: bindings.iter().map(|name| (*name).to_owned()).collect(),
        version,
        ..Settings::default()
    };
    let endpoints = endpoint::choose(&card(LISTED), &settings, false)?;
    let name = |endpoint: &endpoint::AgentEndpoint| {
        format!("{} {}", endpoint.binding.key, endpoint.version)
    };
    Ok(endpoints.iter().map(name).collect())
}

#[test]
fn the_agents_order_counts_and_the_newer_version_comes_first() {
    let all = ["rest 1.0", "capnweb 1.0", "jsonrpc 1.0", "jsonrpc 0.3"];
    assert_eq!(chosen(&[], None).unwrap(), all);
}

#[test]
fn the_callers_order_counts_more() {
    let wanted = chosen(&["jsonrpc", "HTTP+JSON"], None).unwrap();
    assert_eq!(wanted, ["jsonrpc 1.0", "rest 1.0", "jsonrpc 0.3"]);
    let old = chosen(&[], Some(Version::V0_3)).unwrap();
    assert_eq!(old, ["jsonrpc 0.3"]);
}

#[test]
fn what_is_not_there_is_said() {
    let error = chosen(&["websocket"], Some(Version::V1_0)).unwrap_err();
    let said = error.to_string();
    assert!(
        said.contains("SMOKE 1.0") && said.contains("websocket in 1.0"),
        "{said}"
    );
    let error = chosen(&["pigeon"], None).unwrap_err();
    assert!(matches!(error, Error::Settings(_)), "{error}");
}
