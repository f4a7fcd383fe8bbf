//! `monas card`: the card of an agent, and the key that signs it (`card/key.rs`).

use std::fmt::Write as _;

use a2a::client::Client;
use clap::Command;

use super::client::arguments::{calling, group};
use super::client::failure::Failure;
use super::client::flags::Options;
use super::client::print::Printer;

pub(crate) mod key;

/// The command line of `monas card`.
pub(super) fn definition() -> Command {
    let get = Command::new("get")
        .about("Show the card of an agent")
        .after_help("monas card get -a https://agent.example");
    group("card", "Show an agent's card; make the key that signs one")
        .subcommand(calling(get))
        .subcommands(key::definitions())
}

pub(super) async fn get(options: &Options, printer: &Printer) -> Result<(), Failure> {
    let client = options.connect().await?;
    printer.card(&client);
    Ok(())
}

/// The card as text.
pub(super) fn text(client: &Client) -> String {
    let card = client.card();
    let mut text = format!("{} {}\n{}\n", card.name, card.version, card.description);
    if let Some(provider) = &card.provider {
        let _ = writeln!(text, "by {} {}", provider.organization, provider.url);
    }
    let capabilities = card.capabilities.clone().unwrap_or_default();
    let mut can = Vec::new();
    for (has, what) in [
        (capabilities.streaming, "streaming"),
        (capabilities.push_notifications, "push notifications"),
        (capabilities.extended_agent_card, "extended card"),
    ] {
        if has == Some(true) {
            can.push(what);
        }
    }
    let _ = writeln!(
        text,
        "\ncan: {}",
        if can.is_empty() {
            "answer".to_owned()
        } else {
            can.join(", ")
        }
    );
    let _ = writeln!(text, "\ninterfaces:");
    for it in &card.supported_interfaces {
        let _ = writeln!(
            text,
            "  {} {}  {}",
            it.protocol_binding, it.protocol_version, it.url
        );
    }
    let _ = writeln!(text, "\nskills:");
    for skill in &card.skills {
        let _ = writeln!(
            text,
            "  {}: {} - {}",
            skill.id, skill.name, skill.description
        );
        for example in &skill.examples {
            let _ = writeln!(text, "    for example: {example}");
        }
    }
    let wants: Vec<_> = card.security_schemes.keys().map(String::as_str).collect();
    if !wants.is_empty() {
        let _ = writeln!(text, "\nauthentication: {}", wants.join(", "));
    }
    let signatures = card.signatures.len();
    if signatures > 0 {
        let _ = writeln!(text, "\nsignatures: {signatures}");
    }
    text
}
