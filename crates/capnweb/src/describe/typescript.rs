//! Declarations for TypeScript, as users of the npm package `capnweb` would write them.

use std::fmt::Write as _;

use super::schema::{Named, Schema};
use super::{Description, ErrorDescription, MemberDescription, Parameter, Type};

/// Which way a value goes, as a TypeScript program sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValueFlow {
    /// The program gives it, so it may be as lax as the receiver allows.
    Given,
    /// The program gets it.
    Got,
}

/// How a capability is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stubs {
    /// As the stub that a TypeScript program holds.
    Wrapped,
    /// As the object behind it.
    Bare,
}

pub(super) fn print(schema: &Schema) -> String {
    let mut out = String::from(
        "// Written from the Rust targets by `Schema::typescript`. Changes here are lost: change the targets.\n\n",
    );
    out.push_str("import type { RpcStub, RpcTarget } from \"capnweb\";\n");
    for target in &schema.targets {
        print_target(&mut out, schema, target);
    }
    for structure in &schema.structures {
        out.push('\n');
        print_docs(&mut out, "", &structure.described.docs, &[]);
        line(&mut out, &format!("export interface {} {{", structure.name));
        for field in &structure.described.fields {
            print_docs(&mut out, "  ", &field.docs, &[]);
            let field = self::field(schema, &field.name, &field.holds, Stubs::Wrapped);
            line(&mut out, &format!("  {field};"));
        }
        out.push_str("}\n");
    }
    for choice in &schema.choices {
        out.push('\n');
        let variants = &choice.described.variants;
        let mut docs = choice.described.docs.to_string();
        for (name, said) in variants.iter().filter(|(_, said)| !said.is_empty()) {
            let _ = write!(docs, "\n- `{name}`: {}", said.replace('\n', " "));
        }
        print_docs(&mut out, "", docs.trim(), &[]);
        let variants = variants.iter().map(|(name, _)| quoted(name));
        let variants: Vec<_> = variants.collect();
        let declared = format!("export type {} = {};", choice.name, variants.join(" | "));
        line(&mut out, &declared);
    }
    out
}

fn print_target(out: &mut String, schema: &Schema, target: &Named<Description>) {
    let Named { name, described } = target;
    out.push('\n');
    print_docs(out, "", &described.docs, &[]);
    line(
        out,
        &format!("export interface {name} extends RpcTarget {{"),
    );
    for member in &described.members {
        print_docs(out, "  ", &member.docs, &member.errors);
        line(
            out,
            &format!("  {};", self::member(schema, member, Stubs::Wrapped)),
        );
    }
    out.push_str("}\n");
    let codes = described.members.iter().flat_map(|member| &member.errors);
    let mut codes: Vec<_> = codes.map(|error| quoted(&error.code)).collect();
    codes.sort();
    codes.dedup();
    if !codes.is_empty() {
        let docs = format!("The `code` of errors that `{name}` fails with.");
        out.push('\n');
        print_docs(out, "", &docs, &[]);
        let codes = codes.join(" | ");
        line(out, &format!("export type {name}ErrorCode = {codes};"));
    }
}

/// A method or getter, without what surrounds it.
pub(super) fn member(schema: &Schema, member: &MemberDescription, stubs: Stubs) -> String {
    let name = property(&member.name);
    let gives = self::type_of(schema, &member.gives, ValueFlow::Got, stubs);
    match (&member.parameters, stubs) {
        (None, _) => format!("readonly {name}: {gives}"),
        (Some(parameters), Stubs::Wrapped) => {
            let parameters = self::parameters(schema, parameters, stubs);
            format!("{name}({parameters}): Promise<{gives}>")
        }
        (Some(parameters), Stubs::Bare) => {
            let parameters = self::parameters(schema, parameters, stubs);
            format!("{name}({parameters}): {gives}")
        }
    }
}

fn parameters(schema: &Schema, parameters: &[Parameter], stubs: Stubs) -> String {
    let named = parameters.iter().map(|parameter| {
        let name = parameter.name.to_string();
        (name, &parameter.takes)
    });
    listed(schema, &named.collect::<Vec<_>>(), ValueFlow::Given, stubs)
}

/// A list of parameters. Only at its end one may be left out, so an optional one before another that is
/// not is spelled out.
fn listed(
    schema: &Schema,
    parameters: &[(String, &Type)],
    flow: ValueFlow,
    stubs: Stubs,
) -> String {
    let required = parameters
        .iter()
        .rposition(|(_, takes)| !matches!(takes, Type::Optional(_) | Type::Rest(_)));
    let printed = parameters
        .iter()
        .enumerate()
        .map(|(index, (name, takes))| match takes {
            Type::Optional(inner) if required.is_none_or(|required| index > required) => {
                let inner = type_of(schema, inner, flow, stubs);
                let or_null = match (flow, stubs) {
                    (ValueFlow::Given, Stubs::Wrapped) => " | null",
                    _ => "",
                };
                format!("{}?: {}{or_null}", identifier(name), in_union(&inner))
            }
            Type::Rest(inner) => {
                let inner = type_of(schema, inner, flow, stubs);
                format!("...{}: {}[]", identifier(name), in_array(&inner))
            }
            takes => format!(
                "{}: {}",
                identifier(name),
                type_of(schema, takes, flow, stubs)
            ),
        });
    printed.collect::<Vec<_>>().join(", ")
}

/// A field of an object, which may be on its way in either direction.
pub(super) fn field(schema: &Schema, name: &str, holds: &Type, stubs: Stubs) -> String {
    let name = property(name);
    match holds {
        Type::Optional(inner) => {
            let inner = type_of(schema, inner, ValueFlow::Got, stubs);
            match stubs {
                Stubs::Wrapped => format!("{name}?: {} | null", in_union(&inner)),
                Stubs::Bare => format!("{name}?: {inner}"),
            }
        }
        holds => format!("{name}: {}", type_of(schema, holds, ValueFlow::Got, stubs)),
    }
}

/// A type in TypeScript.
pub(super) fn type_of(schema: &Schema, of: &Type, flow: ValueFlow, stubs: Stubs) -> String {
    let inner = |of| type_of(schema, of, flow, stubs);
    match of {
        Type::Any => "any".to_owned(),
        Type::Void => "void".to_owned(),
        Type::Boolean => "boolean".to_owned(),
        Type::Number => "number".to_owned(),
        Type::Integer => "number | bigint".to_owned(),
        Type::String => "string".to_owned(),
        Type::BigInt => "bigint".to_owned(),
        Type::Date => "Date".to_owned(),
        Type::Bytes => "Uint8Array".to_owned(),
        Type::Error => "Error".to_owned(),
        Type::Url => "URL".to_owned(),
        Type::Headers => "Headers".to_owned(),
        Type::Request => "Request".to_owned(),
        Type::Response => "Response".to_owned(),
        Type::Blob => "Blob".to_owned(),
        Type::Optional(of) => {
            let or = match (flow, stubs) {
                (ValueFlow::Given, Stubs::Wrapped) => "null | undefined",
                _ => "undefined",
            };
            format!("{} | {or}", in_union(&inner(of)))
        }
        Type::Array(of) | Type::Rest(of) => format!("{}[]", in_array(&inner(of))),
        Type::Record(of) => format!("Record<string, {}>", inner(of)),
        Type::Readable(of) => format!("ReadableStream<{}>", inner(of)),
        Type::Writable => "WritableStream<any>".to_owned(),
        Type::Choice(reference) => match schema.name_of(reference) {
            Some(name) => name.to_owned(),
            None => {
                let variants = reference.describe().variants;
                let variants: Vec<_> = variants.iter().map(|(name, _)| quoted(name)).collect();
                variants.join(" | ")
            }
        },
        Type::Object(reference) => match schema.name_of(reference) {
            Some(name) => name.to_owned(),
            None => {
                let fields = reference.describe().fields;
                let fields = fields
                    .iter()
                    .map(|field| self::field(schema, &field.name, &field.holds, stubs));
                format!("{{ {} }}", fields.collect::<Vec<_>>().join("; "))
            }
        },
        Type::Stub(reference) => match (schema.name_of(reference), stubs) {
            (Some(name), Stubs::Wrapped) => format!("RpcStub<{name}>"),
            (Some(name), Stubs::Bare) => name.to_owned(),
            (None, stubs) => any_stub(stubs),
        },
        Type::AnyStub => any_stub(stubs),
        Type::Function { takes, gives } => function(schema, takes, gives, flow, stubs),
    }
}

/// A callback. What it takes goes the other way than the callback itself, and it may take its time.
fn function(
    schema: &Schema,
    takes: &[Type],
    gives: &Type,
    flow: ValueFlow,
    stubs: Stubs,
) -> String {
    let against = match flow {
        ValueFlow::Given => ValueFlow::Got,
        ValueFlow::Got => ValueFlow::Given,
    };
    let named = takes.iter().enumerate().map(|(index, takes)| {
        let name = if takes.is_rest() {
            "rest".to_owned()
        } else {
            format!("arg{index}")
        };
        (name, takes)
    });
    let parameters = listed(schema, &named.collect::<Vec<_>>(), against, stubs);
    let gives = match gives {
        // The result of such a function is ignored, promises included.
        Type::Void | Type::Any => type_of(schema, gives, flow, stubs),
        gives => {
            let gives = type_of(schema, gives, flow, stubs);
            match stubs {
                Stubs::Wrapped => format!("{} | Promise<{gives}>", in_union(&gives)),
                Stubs::Bare => gives,
            }
        }
    };
    format!("({parameters}) => {gives}")
}

impl Type {
    fn is_rest(&self) -> bool {
        matches!(self, Self::Rest(_))
    }
}

fn any_stub(stubs: Stubs) -> String {
    match stubs {
        Stubs::Wrapped => "RpcStub<any>".to_owned(),
        Stubs::Bare => "any object".to_owned(),
    }
}

/// A type as one of several.
fn in_union(printed: &str) -> String {
    if printed.starts_with('(') && printed.contains("=>") {
        format!("({printed})")
    } else {
        printed.to_owned()
    }
}

/// A type as that of elements.
fn in_array(printed: &str) -> String {
    let enclosed = printed.starts_with('{') && printed.ends_with('}');
    if !enclosed && (printed.contains(" | ") || printed.contains("=>")) {
        format!("({printed})")
    } else {
        printed.to_owned()
    }
}

/// A name in the place of a property.
fn property(name: &str) -> String {
    if is_identifier(name) {
        name.to_owned()
    } else {
        quoted(name)
    }
}

/// A name in the place of a parameter, where some words are reserved.
fn identifier(name: &str) -> String {
    const RESERVED: [&str; 40] = [
        "arguments",
        "await",
        "break",
        "case",
        "catch",
        "class",
        "const",
        "continue",
        "debugger",
        "default",
        "delete",
        "do",
        "else",
        "enum",
        "eval",
        "export",
        "extends",
        "false",
        "finally",
        "for",
        "function",
        "if",
        "import",
        "in",
        "instanceof",
        "new",
        "null",
        "return",
        "super",
        "switch",
        "this",
        "throw",
        "true",
        "try",
        "typeof",
        "var",
        "void",
        "while",
        "with",
        "yield",
    ];
    if RESERVED.contains(&name) || !is_identifier(name) {
        let kept = name.chars().filter(|c| c.is_alphanumeric());
        format!("_{}", kept.collect::<String>())
    } else {
        name.to_owned()
    }
}

fn is_identifier(name: &str) -> bool {
    let mut letters = name.chars();
    letters
        .next()
        .is_some_and(|first| first.is_alphabetic() || "_$".contains(first))
        && letters.all(|letter| letter.is_alphanumeric() || "_$".contains(letter))
}

fn quoted(text: &str) -> String {
    let mut out = String::from('"');
    for letter in text.chars() {
        match letter {
            '"' | '\\' => out.extend(['\\', letter]),
            letter if letter.is_control() => {
                let _ = write!(out, "\\u{:04x}", u32::from(letter));
            }
            letter => out.push(letter),
        }
    }
    out.push('"');
    out
}

fn line(out: &mut String, text: &str) {
    out.push_str(text);
    out.push('\n');
}

/// A doc comment, with a line for each error.
fn print_docs(out: &mut String, indent: &str, docs: &str, errors: &[ErrorDescription]) {
    let throws = errors.iter().map(|error| {
        let ErrorDescription { code, when } = error;
        if when.is_empty() {
            format!("@throws `{code}`")
        } else {
            format!("@throws `{code}`: {when}")
        }
    });
    let mut lines: Vec<String> = docs.lines().map(str::to_owned).collect();
    if !lines.is_empty() && !errors.is_empty() {
        lines.push(String::new());
    }
    lines.extend(throws);
    // The end of a comment must not end this one.
    let mut lines = lines.iter().map(|text| text.replace("*/", "* /"));
    match (lines.next(), lines.len()) {
        (None, _) => {}
        (Some(only), 0) => line(out, &format!("{indent}/** {only} */")),
        (Some(first), _) => {
            line(out, &format!("{indent}/**"));
            for text in std::iter::once(first).chain(lines) {
                line(out, format!("{indent} * {text}").trim_end());
            }
            line(out, &format!("{indent} */"));
        }
    }
}
