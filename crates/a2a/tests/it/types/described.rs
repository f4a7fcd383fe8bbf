//! Names, tags, kinds and labels of all fields are those of the official descriptors.

use std::collections::BTreeSet;

use a2a::operation::{Replies, TABLE};
use a2a::types::descriptor::{self, Package};
use a2a::types::wire::{EnumDescription, FieldDescription, Kind, Label, MessageDescription};
use a2a::v0_3;
use prost::Message as _;
use serde_json::json;

use super::ahead::AHEAD;
use super::official::{Official, hex};
use super::table::rows;

type Lines = BTreeSet<String>;

#[test]
fn every_field_is_as_the_official_sdk_has_it() {
    let mut ours = Lines::new();
    for row in rows() {
        describe(row.description, &mut ours);
    }
    let mut official: Lines = Official::list(&json!({"do": "describe"}))
        .into_iter()
        .collect();
    // Operations are not types; whether they agree is the next test's question.
    official.retain(|line| !line.starts_with("method "));
    assert_only_ahead(&ours, &official);
}

#[test]
fn the_descriptors_for_reflection_are_the_official_ones() {
    let methods = TABLE.iter().map(|operation| descriptor::Method {
        name: operation.name,
        input: (operation.request)(),
        output: (operation.reply)(),
        streaming: operation.replies == Replies::Many,
    });
    let files = descriptor::files(Package::V1_0, &methods.collect::<Vec<_>>());
    let set = hex(&files.encode_to_vec());
    let ours = Official::list(&json!({"do": "describe_set", "set": set}));
    let official = Official::list(&json!({"do": "describe"}));
    assert_only_ahead(&ours.into_iter().collect(), &official.into_iter().collect());
}

#[test]
fn the_descriptors_of_0_3_are_the_official_ones() {
    let methods = v0_3::TABLE.iter().filter_map(|row| {
        let rpc = row.rpc.as_ref()?;
        Some(descriptor::Method {
            name: rpc.name,
            input: (rpc.request)(),
            output: (rpc.reply)(),
            streaming: row.replies == Replies::Many,
        })
    });
    let files = descriptor::files(Package::V0_3, &methods.collect::<Vec<_>>());
    let (set, package) = (hex(&files.encode_to_vec()), Package::V0_3.name);
    let ours = Official::list(&json!({"do": "describe_set", "set": set, "package": package}));
    let official = Official::list(&json!({"do": "describe", "package": package}));
    let (ours, official): (Lines, Lines) =
        (ours.into_iter().collect(), official.into_iter().collect());
    assert_eq!(ours, official);
}

#[test]
fn what_is_required_is_what_the_official_definition_requires() {
    let ours: Lines = rows()
        .iter()
        .flat_map(|row| {
            let fields = row.description.fields().filter(|field| field.required);
            fields.map(|field| format!("{}.{}", row.description.full_name, field.name))
        })
        .collect();
    let official = Official::list(&json!({"do": "required"}));
    assert_eq!(ours, official.into_iter().collect());
}

/// Fails both ways: ours must have all that is official, and besides that what is listed as ahead.
fn assert_only_ahead(ours: &Lines, official: &Lines) {
    let missing: Vec<_> = official.difference(ours).collect();
    assert!(missing.is_empty(), "ours lacks {missing:#?}");
    let ahead: Vec<_> = ours.difference(official).map(String::as_str).collect();
    assert_eq!(ahead, AHEAD, "what is ahead of the SDK");
}

/// Writes a message as `wire.py` does.
fn describe(message: &MessageDescription, lines: &mut Lines) {
    lines.insert(format!("message {}", message.full_name));
    for field in message.fields() {
        if let Kind::Enum(description) = field.kind {
            describe_enum(description, lines);
        }
        lines.insert(describe_field(message, &field));
    }
}

fn describe_enum(description: &EnumDescription, lines: &mut Lines) {
    for (name, number) in description.values {
        lines.insert(format!("enum {} {name} = {number}", description.full_name));
    }
}

fn describe_field(message: &MessageDescription, field: &FieldDescription) -> String {
    let label = match field.label {
        Label::Plain => "plain",
        Label::Optional => "optional",
        Label::Repeated => "repeated",
    };
    let oneof = field.oneof.map(|name| format!(" oneof {name}"));
    format!(
        "field {}.{} = {} json {} {label} {}{}",
        message.full_name,
        field.name,
        field.tag,
        field.json_name,
        describe_kind(&field.kind),
        oneof.unwrap_or_default(),
    )
}

fn describe_kind(kind: &Kind) -> String {
    match kind {
        Kind::Bool => "bool".to_owned(),
        Kind::Int32 => "int32".to_owned(),
        Kind::Int64 => "int64".to_owned(),
        Kind::Double => "double".to_owned(),
        Kind::String => "string".to_owned(),
        Kind::Bytes => "bytes".to_owned(),
        Kind::Enum(description) => description.full_name.to_owned(),
        Kind::Message(description) => description.full_name.to_owned(),
        Kind::Map(value) => format!("map<string, {}>", describe_kind(value)),
    }
}
