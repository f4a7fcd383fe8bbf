//! The parts of a message, as data.

use std::fmt;

/// A message: its names and its fields.
#[derive(Debug, Clone, Copy)]
pub struct MessageDescription {
    /// The short name: `Part`.
    pub name: &'static str,
    /// The name with its package: `lf.a2a.v1.Part`.
    pub full_name: &'static str,
    pub about: &'static str,
    /// The fields that are in no oneof, as declared.
    pub plain: &'static [FieldDescription],
    /// The choice between fields, where there is one.
    pub oneof: Option<OneofDescription>,
}

impl MessageDescription {
    /// All fields, those of the oneof first.
    pub fn fields(&self) -> impl Iterator<Item = FieldDescription> + use<> {
        let members = self.oneof.into_iter().flat_map(|oneof| {
            let name = Some(oneof.name);
            let members = oneof.members.iter();
            members.map(move |member| FieldDescription {
                oneof: name,
                ..*member
            })
        });
        members.chain(self.plain.iter().copied())
    }
}

/// A choice: exactly one of its members is there.
#[derive(Debug, Clone, Copy)]
pub struct OneofDescription {
    /// Its name in the message.
    pub name: &'static str,
    /// What can be chosen.
    pub members: &'static [FieldDescription],
}

/// A field of a message.
#[derive(Debug, Clone, Copy)]
pub struct FieldDescription {
    /// The name in protobuf: `message_id`.
    pub name: &'static str,
    /// The name in JSON: `messageId`.
    pub json_name: &'static str,
    /// The number that stands for it in protobuf.
    pub tag: u32,
    /// What it holds, or what each of its elements is.
    pub kind: Kind,
    /// How often it can occur, and whether its absence can be told from its default.
    pub label: Label,
    /// The choice it belongs to.
    pub oneof: Option<&'static str>,
    /// Whether the protocol requires it.
    pub required: bool,
    pub about: &'static str,
}

impl FieldDescription {
    /// A field that occurs at most once, and belongs to no choice.
    pub(crate) const fn plain(
        name: &'static str,
        json_name: &'static str,
        tag: u32,
        kind: Kind,
    ) -> Self {
        Self {
            name,
            json_name,
            tag,
            kind,
            label: Label::Plain,
            oneof: None,
            required: false,
            about: "",
        }
    }
}

/// How often a field can occur.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Label {
    /// At most once. The default of a scalar counts as absent.
    Plain,
    /// At most once. A given default differs from absence.
    Optional,
    /// Any number of times.
    Repeated,
}

/// What a field holds.
#[derive(Clone, Copy)]
pub enum Kind {
    Bool,
    /// A number of 32 bits.
    Int32,
    /// A number of 64 bits, in JSON a string.
    Int64,
    /// A floating point number.
    Double,
    String,
    /// Bytes, in JSON base64.
    Bytes,
    /// One of several names.
    Enum(&'static EnumDescription),
    Message(&'static MessageDescription),
    /// Values of this kind by name.
    Map(&'static Kind),
}

impl Kind {
    /// Whether a value of this kind can be absent by itself.
    pub(crate) const fn is_message(&self) -> bool {
        matches!(self, Kind::Message(_))
    }
}

/// Names what it holds, and does not go into it: some messages hold their own kind.
impl fmt::Debug for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::Bool => f.write_str("Bool"),
            Kind::Int32 => f.write_str("Int32"),
            Kind::Int64 => f.write_str("Int64"),
            Kind::Double => f.write_str("Double"),
            Kind::String => f.write_str("String"),
            Kind::Bytes => f.write_str("Bytes"),
            Kind::Enum(description) => write!(f, "Enum({})", description.full_name),
            Kind::Message(description) => write!(f, "Message({})", description.full_name),
            Kind::Map(kind) => write!(f, "Map({kind:?})"),
        }
    }
}

/// An enum: its name and its values.
#[derive(Debug, Clone, Copy)]
pub struct EnumDescription {
    /// The short name: `TaskState`.
    pub name: &'static str,
    /// The name with its package: `lf.a2a.v1.TaskState`.
    pub full_name: &'static str,
    pub about: &'static str,
    pub values: &'static [(&'static str, i32)],
}
