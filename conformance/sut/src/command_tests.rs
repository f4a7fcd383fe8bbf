//! Command lines, and what they mean.

use std::time::Duration;

use a2a::binding::BindingUse;
use a2a::binding::card::View;
use monas::Config;
use monas::config::Switch;
use monas::config::{Access, Data};
use monas::log::Filter;
use store::Durability;

use super::Command;
use crate::Sut;

fn read(line: &str) -> Command {
    let words = ["sut"].into_iter().chain(line.split_whitespace());
    Command::read(words.map(Into::into), |_| None).unwrap()
}

#[test]
fn the_agent_for_conformance_suites_keeps_nothing_unless_told_to() {
    let Command::Serve(config, agent) = read("") else {
        panic!("another command");
    };
    assert_eq!(agent.timeout, Duration::from_secs(2));
    let mut expected = Config::new(Data::Memory);
    expected.access = Access::open();
    expected.rate_limit = Switch::Off;
    expected.audit.record = false;
    expected.log = Filter::warn();
    expected.push_private = true;
    assert_eq!(*config, expected);

    let line = "--listen 127.0.0.1:7 --store here --durability normal --commit-delay 5 --log info";
    expected.listen.set_port(7);
    expected.data = Data::Folder("here".into());
    expected.store.durability = Durability::Normal;
    expected.store.commit_delay = Some(Duration::from_millis(5));
    expected.log = Filter::info();
    let line = format!("{line} --bindings rest,grpc --card 1.0 --any-input");
    expected.card_view = View::V1_0;
    for other in ["jsonrpc", "capnweb", "websocket"] {
        expected.bindings.set(other, BindingUse::Off).unwrap();
    }
    let agent = Sut {
        any_input: true,
        ..Sut::default()
    };
    assert_eq!(read(&line), Command::Serve(Box::new(expected), agent));
}

#[test]
fn a_suite_says_how_long_it_waits() {
    let sut = |timeout: &'static str| {
        let environment =
            move |name: &str| (name == "TCK_STREAMING_TIMEOUT").then(|| timeout.to_owned());
        Command::read(["sut".into()], environment)
    };
    let timeout = |text| match sut(text) {
        Ok(Command::Serve(_, Sut { timeout, .. })) => timeout,
        other => panic!("{other:?}"),
    };
    assert_eq!(timeout("0.25"), Duration::from_millis(250));
    assert_eq!(timeout("10"), Duration::from_secs(10));
    for text in ["", "soon", "-1", "inf"] {
        assert!(sut(text).is_err(), "{text}");
    }
}

#[test]
fn a_client_needs_the_address_of_a_server() {
    let Command::Client(calls) = read("client http://127.0.0.1:1/mcp") else {
        panic!("another command");
    };
    assert_eq!(calls.url, "http://127.0.0.1:1/mcp");
    for line in ["client", "serve", "client http://a --store memory"] {
        let words = ["sut"].into_iter().chain(line.split_whitespace());
        assert!(
            Command::read(words.map(Into::into), |_| None).is_err(),
            "{line}"
        );
    }
}
