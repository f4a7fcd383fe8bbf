//! A choice between members of a message, and the macro that declares one.

use std::marker::PhantomData;

use serde::Deserializer;
use serde::de::{DeserializeSeed, Error, MapAccess};
use serde::ser::SerializeMap;

use super::element::Written;
use super::{DecodeError, Element, Fault, FieldDescription, Path, Reader, Violation, Wire};

/// At most one of several members.
pub(crate) trait Oneof: Default {
    const MEMBERS: &'static [FieldDescription];

    /// How many bytes [`put`](Oneof::put) writes.
    fn size(&self) -> usize;

    /// Writes the chosen member to protobuf.
    fn put(&self, out: &mut Vec<u8>);

    /// Reads a member from protobuf, behind its key. Returns `false`, and reads nothing, when the tag is none of
    /// its members'.
    fn take(&mut self, tag: u32, wire: Wire, input: &mut Reader<'_>) -> Result<bool, Fault>;

    /// The tag of the member with this name, in either spelling.
    fn tag_of(name: &str) -> Option<u32>;

    /// Writes the chosen member to JSON.
    fn write<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error>;

    /// Reads a member from JSON, behind its name. A second one is an error, as it would replace the first.
    fn read<'de, A: MapAccess<'de>>(&mut self, tag: u32, map: &mut A) -> Result<(), A::Error>;

    /// Sets a member from what stands in a URL.
    fn set(&mut self, tag: u32, text: &str) -> Result<(), DecodeError>;

    /// Reports that none is chosen, or else what is missing inside.
    fn check(&self, name: &str, path: &Path<'_>, found: &mut Vec<Violation>);
}

/// Writes a chosen member as a member of a JSON object.
pub(crate) fn write_member<T: Element, M: SerializeMap>(
    name: &'static str,
    member: &T,
    map: &mut M,
) -> Result<(), M::Error> {
    map.serialize_entry(name, &Written(member))
}

/// Reads the value of a member, which may be `null` for none.
pub(crate) fn read_member<'de, T: Element, A: MapAccess<'de>>(
    unset: bool,
    map: &mut A,
) -> Result<Option<T>, A::Error> {
    struct Given<T> {
        unset: bool,
        kind: PhantomData<T>,
    }

    impl<'de, T: Element> DeserializeSeed<'de> for Given<T> {
        type Value = Option<T>;

        fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Option<T>, D::Error> {
            let given = T::read_given(from)?;
            if given.is_some() && !self.unset {
                return Err(D::Error::custom("excludes another member that is given"));
            }
            Ok(given)
        }
    }

    let kind = PhantomData;
    map.next_value_seed(Given { unset, kind })
}

/// Reports that one of these members is needed.
#[cold]
pub(crate) fn report_unset(
    name: &str,
    members: &[FieldDescription],
    path: &Path<'_>,
    found: &mut Vec<Violation>,
) {
    let names: Vec<_> = members.iter().map(|member| member.json_name).collect();
    let description = format!("needs one of {}", names.join(", "));
    Path::Field(path, name).report(found, description);
}

/// Declares oneofs:
///
/// ```text
/// oneofs! {
///     /// What is chosen between.
///     Name {
///         /// What it means.
///         Variant field: Type = 1,
///     }
/// }
/// ```
///
/// Each becomes an enum with these variants, and `Unset` for none.
macro_rules! oneofs {
    ($(
        $(#[doc = $about:literal])*
        $name:ident {
            $( $(#[doc = $member_about:literal])* $variant:ident $field:ident $(as $json:literal)?: $type:ty = $tag:literal ),* $(,)?
        }
    )*) => { $(
        $(#[doc = $about])*
        #[derive(Debug, Clone, PartialEq, Eq, Default)]
        pub enum $name {
            /// None of them, which no valid message has.
            #[default]
            Unset,
            $( $(#[doc = $member_about])* $variant($type), )*
        }

        impl $crate::types::wire::Oneof for $name {
            const MEMBERS: &'static [$crate::types::wire::FieldDescription] = &[ $(
                $crate::types::wire::FieldDescription {
                    name: $crate::types::wire::snake!($field),
                    json_name: $crate::types::wire::camel!($field $($json)?),
                    // The tag is also the number of a bit in 64.
                    tag: { const { assert!($tag > 0 && $tag < 64) }; $tag },
                    kind: <$type as $crate::types::wire::Element>::KIND,
                    label: $crate::types::wire::Label::Plain,
                    oneof: None,
                    required: false,
                    about: concat!($($member_about),*),
                }
            ),* ];

            fn size(&self) -> usize {
                match self {
                    Self::Unset => 0,
                    $( Self::$variant(member) => {
                        $crate::types::wire::Element::size(member, $tag)
                    } )*
                }
            }

            fn put(&self, out: &mut Vec<u8>) {
                match self {
                    Self::Unset => (),
                    $( Self::$variant(member) => {
                        $crate::types::wire::Element::put(member, $tag, out);
                    } )*
                }
            }

            fn take(
                &mut self,
                tag: u32,
                wire: $crate::types::wire::Wire,
                input: &mut $crate::types::wire::Reader<'_>,
            ) -> Result<bool, $crate::types::wire::Fault> {
                match tag {
                    $( $tag => {
                        // The last member wins; the same one again adds to what is there.
                        let mut member = match std::mem::take(self) {
                            Self::$variant(member) => member,
                            _ => <$type>::default(),
                        };
                        $crate::types::wire::FaultPath::within(
                            $crate::types::wire::Element::take(&mut member, wire, input),
                            $crate::types::wire::camel!($field $($json)?),
                        )?;
                        *self = Self::$variant(member);
                        Ok(true)
                    } )*
                    _ => Ok(false),
                }
            }

            fn tag_of(name: &str) -> Option<u32> {
                $( if name == $crate::types::wire::camel!($field $($json)?)
                    || name == $crate::types::wire::snake!($field)
                {
                    return Some($tag);
                } )*
                None
            }

            fn write<M: serde::ser::SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
                match self {
                    Self::Unset => Ok(()),
                    $( Self::$variant(member) => $crate::types::wire::write_member(
                        $crate::types::wire::camel!($field $($json)?),
                        member,
                        map,
                    ), )*
                }
            }

            fn read<'de, A: serde::de::MapAccess<'de>>(
                &mut self,
                tag: u32,
                map: &mut A,
            ) -> Result<(), A::Error> {
                let unset = matches!(self, Self::Unset);
                match tag {
                    $( $tag => {
                        if let Some(member) = $crate::types::wire::read_member(unset, map)? {
                            *self = Self::$variant(member);
                        }
                    } )*
                    _ => unreachable!("no other tag has a name"),
                }
                Ok(())
            }

            fn set(
                &mut self,
                tag: u32,
                text: &str,
            ) -> Result<(), $crate::types::wire::DecodeError> {
                match tag {
                    $( $tag => {
                        *self = Self::$variant($crate::types::wire::Element::parse(text)?);
                    } )*
                    _ => unreachable!("no other tag has a name"),
                }
                Ok(())
            }

            fn check(
                &self,
                name: &str,
                path: &$crate::types::wire::Path<'_>,
                found: &mut Vec<$crate::types::wire::Violation>,
            ) {
                match self {
                    Self::Unset => $crate::types::wire::report_unset(name, Self::MEMBERS, path, found),
                    $( Self::$variant(member) => {
                        let name = $crate::types::wire::camel!($field $($json)?);
                        let path = $crate::types::wire::Path::Field(path, name);
                        $crate::types::wire::Element::check(member, &path, found);
                    } )*
                }
            }
        }
    )* };
}
pub(crate) use oneofs;
