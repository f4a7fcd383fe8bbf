//! A message as the sum of its members, and the macro that declares one.

use std::fmt;
use std::marker::PhantomData;

use serde::Deserializer;
use serde::de::{DeserializeSeed, Error, IgnoredAny, MapAccess, Visitor};
use serde::ser::{SerializeMap, Serializer};

use super::field::{ReadingField, WrittenField};
use super::{DecodeError, Fault, Field, MessageDescription, Path, Reader, Violation, Wire};

/// A message as the sum of its members. `messages!` implements it; everything else is done once for all.
pub(crate) trait Members: Default {
    const DESCRIPTION: MessageDescription;

    /// How many bytes [`put_members`](Members::put_members) writes.
    fn size_members(&self) -> usize;

    fn put_members(&self, out: &mut Vec<u8>);

    /// Reads one member from protobuf, behind its key, or passes over it.
    fn take_member(&mut self, tag: u32, wire: Wire, input: &mut Reader<'_>) -> Result<(), Fault>;

    /// The tag of the member with this name, in either spelling.
    fn tag_of(name: &str) -> Option<u32>;

    fn write_members<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error>;

    /// Reads one member from JSON, behind its name.
    fn read_member<'de, A: MapAccess<'de>>(
        &mut self,
        tag: u32,
        map: &mut A,
    ) -> Result<(), A::Error>;

    /// Sets one member from what stands in a URL.
    fn set_member(&mut self, tag: u32, text: &str) -> Result<(), DecodeError>;

    /// Reports the required members that are missing.
    fn check_members(&self, path: &Path<'_>, found: &mut Vec<Violation>);
}

/// Reads the members that are left.
pub(super) fn take_members<M: Members>(
    message: &mut M,
    input: &mut Reader<'_>,
) -> Result<(), Fault> {
    while let Some((tag, wire)) = input.member()? {
        message.take_member(tag, wire, input)?;
    }
    Ok(())
}

/// Writes a message as a JSON object.
pub(crate) fn write_object<M: Members, S: Serializer>(
    message: &M,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(None)?;
    message.write_members(&mut map)?;
    map.end()
}

/// Reads a message from a JSON object.
pub(crate) struct Object<M>(PhantomData<M>);

impl<M> Object<M> {
    pub(crate) fn new() -> Self {
        Self(PhantomData)
    }
}

impl<'de, M: Members> Visitor<'de> for Object<M> {
    type Value = M;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an object ({})", M::DESCRIPTION.name)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<M, A::Error> {
        let mut message = M::default();
        // One bit for each tag that was given.
        let mut given = 0u64;
        while let Some(tag) = map.next_key_seed(Name::<M>(PhantomData))? {
            let Some(tag) = tag else {
                map.next_value::<IgnoredAny>()?;
                continue;
            };
            if given & 1 << tag != 0 {
                map.next_value_seed(Again)?;
            }
            given |= 1 << tag;
            message.read_member(tag, &mut map)?;
        }
        Ok(message)
    }
}

/// Refuses a value, in its place.
struct Again;

impl<'de> DeserializeSeed<'de> for Again {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, _: D) -> Result<(), D::Error> {
        Err(D::Error::custom("given twice"))
    }
}

/// Reads the name of a member, and returns its tag.
struct Name<M>(PhantomData<M>);

impl<'de, M: Members> DeserializeSeed<'de> for Name<M> {
    type Value = Option<u32>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl<M: Members> Visitor<'_> for Name<M> {
    type Value = Option<u32>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_str<E>(self, name: &str) -> Result<Self::Value, E> {
        Ok(M::tag_of(name))
    }
}

/// What the word behind a tag says about a field.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rule {
    /// No word: written when given.
    Given,
    /// `required`: a message without it is not valid.
    Required,
    /// `always`: written in JSON also when it is empty, which is how it is always there.
    Always,
}

impl Rule {
    pub(crate) const fn is_required(self) -> bool {
        !matches!(self, Rule::Given)
    }

    /// Writes a field as a member of a JSON object.
    pub(crate) fn write<F: Field, M: SerializeMap>(
        self,
        name: &'static str,
        field: &F,
        map: &mut M,
    ) -> Result<(), M::Error> {
        if self != Rule::Always && field.absent() {
            return Ok(());
        }
        map.serialize_entry(name, &WrittenField(field))
    }

    /// Reports what a field lacks, or else what is missing inside.
    pub(crate) fn check<F: Field>(
        self,
        name: &str,
        field: &F,
        path: &Path<'_>,
        found: &mut Vec<Violation>,
    ) {
        let path = Path::Field(path, name);
        match field.lack() {
            Some(lack) if self == Rule::Required => path.report(found, lack),
            _ => field.check(&path, found),
        }
    }
}

/// Reads the value of a member.
pub(crate) fn read_field<'de, F: Field, A: MapAccess<'de>>(map: &mut A) -> Result<F, A::Error> {
    map.next_value_seed(ReadingField(PhantomData))
}

/// Declares messages of one package:
///
/// ```text
/// messages! { "package";
///     /// What it is.
///     Name [
///         /// What is chosen between.
///         choice: Oneof
///     ] {
///         /// What it means.
///         field: Type = 1 required,
///     }
/// }
/// ```
///
/// The part in brackets is for messages with a oneof; it comes first because a word in front of a field could
/// not be told from its name. Exactly one of its members must be there. The word behind the tag is one of
/// [`Rule`]'s, or missing. A field with a JSON name that does not follow from its own gives it: `msg as "message"`.
/// Each message becomes a struct with public fields.
macro_rules! messages {
    ($package:literal; $(
        $(#[doc = $about:literal])*
        $name:ident $([ $(#[doc = $choice_about:literal])* $choice:ident: $oneof:ty ])? {
            $( $(#[doc = $field_about:literal])* $field:ident $(as $json:literal)?: $type:ty = $tag:literal $($word:ident)? ),*
            $(,)?
        }
    )*) => { $(
        $(#[doc = $about])*
        #[derive(Debug, Clone, PartialEq, Eq, Default)]
        #[allow(unreachable_pub, reason = "declared messages are public where their module is")]
        pub struct $name {
            $( $(#[doc = $choice_about])* pub $choice: $oneof, )?
            $( $(#[doc = $field_about])* pub $field: $type, )*
        }

        impl $crate::types::wire::Members for $name {
            const DESCRIPTION: $crate::types::wire::MessageDescription =
                $crate::types::wire::MessageDescription {
                    name: stringify!($name),
                    full_name: concat!($package, ".", stringify!($name)),
                    about: concat!($($about),*),
                    plain: &[ $( $crate::types::wire::FieldDescription {
                        name: $crate::types::wire::snake!($field),
                        json_name: $crate::types::wire::camel!($field $($json)?),
                        // The tag is also the number of a bit in 64.
                        tag: { const { assert!($tag > 0 && $tag < 64) }; $tag },
                        kind: <$type as $crate::types::wire::Field>::KIND,
                        label: <$type as $crate::types::wire::Field>::LABEL,
                        oneof: None,
                        required: $crate::types::wire::rule!($($word)?).is_required(),
                        about: concat!($($field_about),*),
                    } ),* ],
                    oneof: {
                        let oneof: Option<$crate::types::wire::OneofDescription> = None;
                        $( let _ = oneof; let oneof = Some($crate::types::wire::OneofDescription {
                            name: stringify!($choice),
                            members: <$oneof as $crate::types::wire::Oneof>::MEMBERS,
                        }); )?
                        oneof
                    },
                };

            fn size_members(&self) -> usize {
                0 $( + $crate::types::wire::Oneof::size(&self.$choice) )?
                    $( + $crate::types::wire::Field::size(&self.$field, $tag) )*
            }

            fn put_members(&self, out: &mut Vec<u8>) {
                let _ = &out;
                $( $crate::types::wire::Oneof::put(&self.$choice, out); )?
                $( $crate::types::wire::Field::put(&self.$field, $tag, out); )*
            }

            fn take_member(
                &mut self,
                tag: u32,
                wire: $crate::types::wire::Wire,
                input: &mut $crate::types::wire::Reader<'_>,
            ) -> Result<(), $crate::types::wire::Fault> {
                match tag {
                    $( $tag => $crate::types::wire::FaultPath::within(
                        $crate::types::wire::Field::take(&mut self.$field, wire, input),
                        $crate::types::wire::camel!($field $($json)?),
                    ), )*
                    _ => {
                        $( if $crate::types::wire::Oneof::take(&mut self.$choice, tag, wire, input)? {
                            return Ok(());
                        } )?
                        input.skip(tag, wire)
                    }
                }
            }

            fn tag_of(name: &str) -> Option<u32> {
                $( if name == $crate::types::wire::camel!($field $($json)?)
                    || name == $crate::types::wire::snake!($field)
                {
                    return Some($tag);
                } )*
                $( if let Some(tag) = <$oneof as $crate::types::wire::Oneof>::tag_of(name) {
                    return Some(tag);
                } )?
                let _ = name;
                None
            }

            fn write_members<M: serde::ser::SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
                let _ = &map;
                $( $crate::types::wire::Oneof::write(&self.$choice, map)?; )?
                $( $crate::types::wire::rule!($($word)?)
                    .write($crate::types::wire::camel!($field $($json)?), &self.$field, map)?; )*
                Ok(())
            }

            fn read_member<'de, A: serde::de::MapAccess<'de>>(
                &mut self,
                tag: u32,
                map: &mut A,
            ) -> Result<(), A::Error> {
                match tag {
                    $( $tag => self.$field = $crate::types::wire::read_field(map)?, )*
                    _ => {
                        $( $crate::types::wire::Oneof::read(&mut self.$choice, tag, map)?; )?
                        let _ = map;
                    }
                }
                Ok(())
            }

            fn set_member(
                &mut self,
                tag: u32,
                text: &str,
            ) -> Result<(), $crate::types::wire::DecodeError> {
                match tag {
                    $( $tag => $crate::types::wire::Field::set(&mut self.$field, text), )*
                    _ => {
                        $( $crate::types::wire::Oneof::set(&mut self.$choice, tag, text)?; )?
                        let _ = text;
                        Ok(())
                    }
                }
            }

            fn check_members(
                &self,
                path: &$crate::types::wire::Path<'_>,
                found: &mut Vec<$crate::types::wire::Violation>,
            ) {
                let _ = (path, &found);
                $( $crate::types::wire::Oneof::check(&self.$choice, stringify!($choice), path, found); )?
                $( $crate::types::wire::rule!($($word)?)
                    .check($crate::types::wire::camel!($field $($json)?), &self.$field, path, found); )*
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                $crate::types::wire::Element::write(self, serializer)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::types::wire::Element::read(deserializer)
            }
        }
    )* };
}
pub(crate) use messages;

/// The [`Rule`] that a word stands for.
macro_rules! rule {
    () => {
        $crate::types::wire::Rule::Given
    };
    (required) => {
        $crate::types::wire::Rule::Required
    };
    (always) => {
        $crate::types::wire::Rule::Always
    };
}
pub(crate) use rule;
