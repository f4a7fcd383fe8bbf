//! The descriptors that gRPC reflection serves, made from the declarations.

use std::collections::BTreeMap;

use prost_types::field_descriptor_proto::{Label as ProtoLabel, Type};
use prost_types::{
    DescriptorProto, EnumDescriptorProto, EnumValueDescriptorProto, FieldDescriptorProto,
    FileDescriptorProto, FileDescriptorSet, MessageOptions, MethodDescriptorProto,
    OneofDescriptorProto, ServiceDescriptorProto,
};

use super::wire::{EnumDescription, FieldDescription, Kind, Label, MessageDescription};

/// The protocol's service, in the package of each version.
pub const SERVICE: &str = "A2AService";

/// A package of the protocol, and the file that it is in.
#[derive(Debug, Clone, Copy)]
pub struct Package {
    pub name: &'static str,
    /// The name of the file.
    pub file: &'static str,
}

impl Package {
    pub const V1_0: Self = Self {
        name: "lf.a2a.v1",
        file: "a2a.proto",
    };

    pub const V0_3: Self = Self {
        name: "a2a.v1",
        file: "a2a_v0_3.proto",
    };
}

/// An operation, as a method of the service.
#[derive(Debug, Clone, Copy)]
pub struct Method {
    pub name: &'static str,
    pub input: &'static MessageDescription,
    /// What it gives, or each event of what it streams.
    pub output: &'static MessageDescription,
    /// Whether it gives a stream.
    pub streaming: bool,
}

/// Describes the service of a package with these methods and all messages they need, one file for each package
/// they are from. A file comes behind those it depends on.
pub fn files(package: Package, methods: &[Method]) -> FileDescriptorSet {
    let mut files = Files {
        package,
        files: BTreeMap::new(),
    };
    for method in methods {
        files.message(method.input);
        files.message(method.output);
    }
    let mut files = files.files;
    let own = files.remove(package.file);
    let mut file = own.unwrap_or_else(|| new_file(package.file, package.name));
    file.service.push(service(methods));
    let mut file_set: Vec<_> = files.into_values().collect();
    file.dependency = file_set.iter().map(|file| file.name().to_owned()).collect();
    file_set.push(file);
    FileDescriptorSet { file: file_set }
}

/// Files by their names; messages that are not of protobuf's own are of the package.
struct Files {
    package: Package,
    files: BTreeMap<&'static str, FileDescriptorProto>,
}

impl Files {
    /// Adds a message and all it holds, unless it is there.
    fn message(&mut self, message: &'static MessageDescription) {
        let file = self.file(message.full_name);
        if file
            .message_type
            .iter()
            .any(|known| known.name() == message.name)
        {
            return;
        }
        file.message_type.push(describe(message));
        for field in message.fields() {
            self.kind(&field.kind);
        }
    }

    fn enumeration(&mut self, enumeration: &'static EnumDescription) {
        let file = self.file(enumeration.full_name);
        if file
            .enum_type
            .iter()
            .all(|known| known.name() != enumeration.name)
        {
            file.enum_type.push(describe_enum(enumeration));
        }
    }

    fn kind(&mut self, kind: &Kind) {
        match kind {
            Kind::Message(message) => self.message(message),
            Kind::Enum(enumeration) => self.enumeration(enumeration),
            Kind::Map(kind) => self.kind(kind),
            _ => (),
        }
    }

    fn file(&mut self, full_name: &str) -> &mut FileDescriptorProto {
        const PROTOBUF: &str = "google.protobuf";
        let (name, package) = match full_name {
            "google.protobuf.Empty" => ("google/protobuf/empty.proto", PROTOBUF),
            "google.protobuf.Timestamp" => ("google/protobuf/timestamp.proto", PROTOBUF),
            name if name.starts_with(PROTOBUF) => ("google/protobuf/struct.proto", PROTOBUF),
            _ => (self.package.file, self.package.name),
        };
        let new = || new_file(name, package);
        self.files.entry(name).or_insert_with(new)
    }
}

fn new_file(name: &str, package: &str) -> FileDescriptorProto {
    FileDescriptorProto {
        name: Some(name.to_owned()),
        package: Some(package.to_owned()),
        syntax: Some("proto3".to_owned()),
        ..FileDescriptorProto::default()
    }
}

fn service(methods: &[Method]) -> ServiceDescriptorProto {
    let methods = methods.iter().map(|method| MethodDescriptorProto {
        name: Some(method.name.to_owned()),
        input_type: Some(reference(method.input.full_name)),
        output_type: Some(reference(method.output.full_name)),
        server_streaming: Some(method.streaming),
        ..MethodDescriptorProto::default()
    });
    ServiceDescriptorProto {
        name: Some(SERVICE.to_owned()),
        method: methods.collect(),
        ..ServiceDescriptorProto::default()
    }
}

fn describe(message: &MessageDescription) -> DescriptorProto {
    let mut proto = DescriptorProto {
        name: Some(message.name.to_owned()),
        ..DescriptorProto::default()
    };
    if let Some(oneof) = message.oneof {
        proto.oneof_decl.push(new_oneof(oneof.name));
    }
    for field in message.fields() {
        let mut described = describe_field(&field);
        if let Kind::Map(value) = field.kind {
            let entry = entry(field.name, value);
            described.type_name =
                Some(format!("{}.{}", reference(message.full_name), entry.name()));
            proto.nested_type.push(entry);
        }
        if field.oneof.is_some() {
            described.oneof_index = Some(0);
        }
        if field.label == Label::Optional {
            // Explicit presence is a oneof of one field; those follow the real ones.
            described.proto3_optional = Some(true);
            described.oneof_index = Some(proto.oneof_decl.len() as i32);
            proto
                .oneof_decl
                .push(new_oneof(&format!("_{}", field.name)));
        }
        proto.field.push(described);
    }
    proto
}

fn describe_field(field: &FieldDescription) -> FieldDescriptorProto {
    let (kind, type_name) = match field.kind {
        Kind::Bool => (Type::Bool, None),
        Kind::Int32 => (Type::Int32, None),
        Kind::Int64 => (Type::Int64, None),
        Kind::Double => (Type::Double, None),
        Kind::String => (Type::String, None),
        Kind::Bytes => (Type::Bytes, None),
        Kind::Enum(enumeration) => (Type::Enum, Some(reference(enumeration.full_name))),
        Kind::Message(message) => (Type::Message, Some(reference(message.full_name))),
        // Named by the message that it is declared in.
        Kind::Map(_) => (Type::Message, None),
    };
    let label = match field.label {
        Label::Repeated => ProtoLabel::Repeated,
        Label::Plain | Label::Optional => ProtoLabel::Optional,
    };
    FieldDescriptorProto {
        name: Some(field.name.to_owned()),
        number: Some(field.tag as i32),
        label: Some(label.into()),
        r#type: Some(kind.into()),
        type_name,
        json_name: Some(field.json_name.to_owned()),
        ..FieldDescriptorProto::default()
    }
}

/// The message that protobuf makes of an entry of a map. It is called after the field, in capitals.
fn entry(field: &str, value: &'static Kind) -> DescriptorProto {
    let words = field.split('_').map(|word| {
        let (first, rest) = word.split_at(1);
        format!("{}{rest}", first.to_ascii_uppercase())
    });
    let members = [
        FieldDescription::plain("key", "key", 1, Kind::String),
        FieldDescription::plain("value", "value", 2, *value),
    ];
    DescriptorProto {
        name: Some(format!("{}Entry", words.collect::<String>())),
        field: members.iter().map(describe_field).collect(),
        options: Some(MessageOptions {
            map_entry: Some(true),
            ..MessageOptions::default()
        }),
        ..DescriptorProto::default()
    }
}

fn describe_enum(enumeration: &EnumDescription) -> EnumDescriptorProto {
    let values = enumeration.values.iter();
    let values = values.map(|&(name, number)| EnumValueDescriptorProto {
        name: Some(name.to_owned()),
        number: Some(number),
        options: None,
    });
    EnumDescriptorProto {
        name: Some(enumeration.name.to_owned()),
        value: values.collect(),
        ..EnumDescriptorProto::default()
    }
}

fn new_oneof(name: &str) -> OneofDescriptorProto {
    OneofDescriptorProto {
        name: Some(name.to_owned()),
        options: None,
    }
}

/// A full name, from the root of all packages.
fn reference(full_name: &str) -> String {
    format!(".{full_name}")
}
