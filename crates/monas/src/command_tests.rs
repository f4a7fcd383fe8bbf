//! Command lines, and what they mean.

use super::Command;
use crate::config::{Config, Data};
use crate::listen::Origin;
use access::Unauthenticated;

fn read(line: &str) -> Command {
    let environment = |name: &str| (name == "HOME").then(|| "/nowhere".to_owned());
    let words = ["monas"].into_iter().chain(line.split_whitespace());
    Command::read(words.map(Into::into), environment).unwrap()
}

fn serve(line: &str) -> Config {
    match read(line) {
        Command::Serve(config) => *config,
        other => panic!("{other:?}"),
    }
}

#[test]
fn without_a_command_it_serves() {
    let standard = Config::new(Data::Folder("/nowhere/.local/share/monas".into()));
    assert_eq!(serve(""), standard);
    assert_eq!(serve("serve"), standard);
    assert_eq!(serve("--open=false"), standard);
    let open = serve("--open").access.unauthenticated;
    assert_eq!(open, Unauthenticated::Anonymous);
    assert_eq!(
        serve("serve --listen 127.0.0.1:1"),
        serve("--listen 127.0.0.1:1")
    );
}

#[test]
fn origins_are_given_one_by_one_or_with_commas() {
    let origins: Vec<Origin> = ["http://a.example", "http://b.example"]
        .map(|origin| origin.parse().unwrap())
        .to_vec();
    for line in [
        "--allow-origin http://a.example --allow-origin http://b.example",
        "--allow-origin http://a.example,http://b.example",
    ] {
        assert_eq!(serve(line).allow_origins, origins);
    }
}

#[test]
fn folders_of_the_user_follow_the_environment() {
    let folder = |variables: &[(&str, &str)]| {
        let variables = variables.to_vec();
        let environment = move |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        let command = Command::read(["monas".into()], environment).ok()?;
        Some(command.config()?.data.clone())
    };
    let data = |path: &str| Some(Data::Folder(path.into()));
    let home = ("HOME", "/nowhere");
    assert_eq!(folder(&[home]), data("/nowhere/.local/share/monas"));
    assert_eq!(
        folder(&[home, ("XDG_DATA_HOME", "/data")]),
        data("/data/monas")
    );
    assert_eq!(
        folder(&[home, ("XDG_DATA_HOME", "")]),
        data("/nowhere/.local/share/monas")
    );
    assert_eq!(folder(&[home, ("MONAS_DATA", "here")]), data("here"));
    assert_eq!(folder(&[]), None);
}

#[test]
fn a_tap_needs_the_address_of_a_websocket() {
    let Command::Tap(options) = read("capnweb tap wss://example.com/rpc?a=b") else {
        panic!("another command");
    };
    assert_eq!(options.upstream.to_string(), "wss://example.com/rpc?a=b");
    assert_eq!(options.listen, "127.0.0.1:0".parse().unwrap());
    let Command::Tap(options) = read("capnweb tap ws://[::1]:9 --listen [::1]:7") else {
        panic!("another command");
    };
    assert_eq!(options.listen, "[::1]:7".parse().unwrap());

    for line in [
        "capnweb",
        "capnweb tap",
        "capnweb tap http://example.com/",
        "capnweb tap ws://",
        "capnweb tap example.com",
        "capnweb tap ws://example.com --listen here",
    ] {
        let words = ["monas"].into_iter().chain(line.split_whitespace());
        let refused = Command::read(words.map(Into::into), |_| None);
        assert!(matches!(refused, Err(super::Refused::Usage(_))), "{line}");
    }
}
