//! The protocol's types as declarations for TypeScript, written from the table and the messages it names.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::operation::{Operation, Replies, TABLE};
use crate::types::wire::{EnumDescription, FieldDescription, Kind, Label, MessageDescription};

#[cfg(test)]
#[path = "typescript_tests.rs"]
mod tests;

/// What stands before the declarations.
const HEAD: &str = "\
// Written by `cargo xtask types` from the messages and operations of crates/a2a. Do not edit.

import type { RpcStub, RpcTarget } from \"capnweb\";

/** What JSON can hold. */
export type JsonValue = null | boolean | number | string | JsonValue[] | JsonObject;
/** An object of JSON. */
export type JsonObject = { [name: string]: JsonValue };
/** A number of 64 bits, in decimal. */
export type Int64 = string;
/** Bytes, in base64. */
export type Base64 = string;
/** A moment, as `2026-01-31T12:00:00Z`. */
export type Timestamp = string;
/** Exactly one of the members. */
export type OneOf<T> = {
  [K in keyof T]: Pick<T, K> & { [Other in Exclude<keyof T, K>]?: never };
}[keyof T];
/** What goes with a call beside its request, such as `Last-Event-ID`. */
export type ServiceParameters = { [name: string]: string };
";

/// The declarations, as the text of a module.
pub fn declarations() -> String {
    let mut declared = Declared::default();
    for operation in TABLE {
        declared.message((operation.request)());
        declared.message((operation.reply)());
    }
    let mut text = HEAD.to_owned();
    for declaration in declared.0.values() {
        text.push('\n');
        text.push_str(declaration);
    }
    text.push('\n');
    agent(&mut text);
    text
}

/// The declarations collected so far, by name.
#[derive(Default)]
struct Declared(BTreeMap<&'static str, String>);

impl Declared {
    /// Declares a message and all it holds, unless that is done or TypeScript has it.
    fn message(&mut self, message: &'static MessageDescription) {
        if is_well_known(message) || self.0.contains_key(message.name) {
            return;
        }
        // Before what it holds, which may be its own kind.
        self.0.insert(message.name, write_message(message));
        for field in message.fields() {
            self.kind(&field.kind);
        }
    }

    fn kind(&mut self, kind: &Kind) {
        match kind {
            Kind::Message(message) => self.message(message),
            Kind::Enum(enumeration) => {
                self.0
                    .entry(enumeration.name)
                    .or_insert_with(|| write_enum(enumeration));
            }
            Kind::Map(kind) => self.kind(kind),
            _ => {}
        }
    }
}

/// Messages that are something else in JSON.
fn is_well_known(message: &MessageDescription) -> bool {
    message.full_name.starts_with("google.protobuf.")
}

fn write_message(message: &MessageDescription) -> String {
    let about = comment("", message.about);
    let plain: String = message.plain.iter().map(member).collect();
    let Some(oneof) = message.oneof else {
        return format!("{about}export interface {} {{\n{plain}}}\n", message.name);
    };
    let choices = oneof.members.iter().map(|field| {
        let (about, kind) = (comment("  ", field.about), type_of(&field.kind));
        format!("{about}  {}: {kind};\n", field.json_name)
    });
    let choices: String = choices.collect();
    let rest = if plain.is_empty() {
        String::new()
    } else {
        format!(" & {{\n{plain}}}")
    };
    format!(
        "{about}export type {} = OneOf<{{\n{choices}}}>{rest};\n",
        message.name
    )
}

fn member(field: &FieldDescription) -> String {
    let kind = type_of(&field.kind);
    let kind = match field.label {
        Label::Repeated if !matches!(field.kind, Kind::Map(_)) => format!("{kind}[]"),
        _ => kind,
    };
    let optional = if field.required { "" } else { "?" };
    let about = comment("  ", field.about);
    format!("{about}  {}{optional}: {kind};\n", field.json_name)
}

/// What our documentation says about it, as documentation there.
fn comment(indent: &str, about: &str) -> String {
    match about.trim() {
        "" => String::new(),
        text => format!("{indent}/** {text} */\n"),
    }
}

fn type_of(kind: &Kind) -> String {
    match kind {
        Kind::Bool => "boolean".to_owned(),
        Kind::Int32 | Kind::Double => "number".to_owned(),
        Kind::Int64 => "Int64".to_owned(),
        Kind::String => "string".to_owned(),
        Kind::Bytes => "Base64".to_owned(),
        Kind::Enum(enumeration) => enumeration.name.to_owned(),
        Kind::Message(message) if is_well_known(message) => match message.name {
            "Timestamp" => "Timestamp".to_owned(),
            "Struct" => "JsonObject".to_owned(),
            "ListValue" => "JsonValue[]".to_owned(),
            "Empty" => "Record<string, never>".to_owned(),
            _ => "JsonValue".to_owned(),
        },
        Kind::Message(message) => message.name.to_owned(),
        Kind::Map(kind) => format!("{{ [name: string]: {} }}", type_of(kind)),
    }
}

fn write_enum(enumeration: &EnumDescription) -> String {
    let names = enumeration
        .values
        .iter()
        .map(|(name, _)| format!("\n  | \"{name}\""));
    let names: String = names.collect();
    let about = comment("", enumeration.about);
    format!("{about}export type {} ={names};\n", enumeration.name)
}

/// The agent's object, with a method for each row.
fn agent(text: &mut String) {
    text.push_str("/** The agent as an object: the main one of a session. */\n");
    text.push_str("export interface Agent extends RpcTarget {\n");
    for operation in TABLE {
        let (name, request) = (method(operation), (operation.request)().name);
        let reply = type_of(&Kind::Message((operation.reply)()));
        let reply = match operation.replies {
            Replies::One => reply,
            Replies::Many => format!("ReadableStream<{reply}>"),
        };
        let line = format!(
            "  {name}(request: {request}, parameters?: ServiceParameters): Promise<{reply}>;"
        );
        // Writing to a text cannot fail.
        let _ = writeln!(text, "{line}");
    }
    text.push_str("  /** The public card. */\n  getAgentCard(): Promise<AgentCard>;\n");
    text.push_str("  /** The same agent, for the owner of these credentials. */\n");
    text.push_str("  authenticate(credentials: unknown): Promise<RpcStub<Agent>>;\n}\n");
}

/// A row's name, as methods are called in JavaScript.
fn method(operation: &Operation) -> String {
    let (first, rest) = operation.name.split_at(1);
    format!("{}{rest}", first.to_ascii_lowercase())
}
