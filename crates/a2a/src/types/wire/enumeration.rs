//! Enums that keep numbers they do not know, and the macro that declares one.

use std::fmt;

use serde::Deserializer;
use serde::de::{Error, Unexpected, Visitor};
use serde::ser::Serializer;

use super::DecodeError;
use super::element::Integer;

/// Declares enums of one package:
///
/// ```text
/// enumerations! { "package";
///     /// What it is.
///     Name "NAME_UNSPECIFIED" {
///         /// What it means.
///         Variant = 1 "NAME_VARIANT",
///     }
/// }
/// ```
///
/// Each becomes an enum with these variants, `Unspecified` for zero, and `Other` for numbers without a name.
macro_rules! enumerations {
    ($package:literal; $(
        $(#[doc = $about:literal])*
        $name:ident $unspecified:literal {
            $( $(#[$variant_about:meta])* $variant:ident = $number:literal $label:literal ),* $(,)?
        }
    )*) => { $(
        $(#[doc = $about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
        pub enum $name {
            /// The value that means "not given".
            #[default]
            Unspecified,
            $( $(#[$variant_about])* $variant, )*
            /// A number that is not in this version of the protocol. It survives being passed on.
            Other(i32),
        }

        impl $name {
            const DESCRIPTION: $crate::types::wire::EnumDescription =
                $crate::types::wire::EnumDescription {
                    name: stringify!($name),
                    full_name: concat!($package, ".", stringify!($name)),
                    about: concat!($($about),*),
                    values: &[($unspecified, 0), $( ($label, $number) ),*],
                };

            /// The number that stands for it in protobuf.
            pub fn number(self) -> i32 {
                match self {
                    Self::Unspecified => 0,
                    $( Self::$variant => $number, )*
                    Self::Other(number) => number,
                }
            }

            /// The name that stands for it in JSON, if its number has one.
            pub fn name(self) -> Option<&'static str> {
                match self {
                    Self::Unspecified => Some($unspecified),
                    $( Self::$variant => Some($label), )*
                    Self::Other(_) => None,
                }
            }

            /// The one with this name.
            pub fn named(name: &str) -> Option<Self> {
                match name {
                    $unspecified => Some(Self::Unspecified),
                    $( $label => Some(Self::$variant), )*
                    _ => None,
                }
            }
        }

        impl From<i32> for $name {
            fn from(number: i32) -> Self {
                match number {
                    0 => Self::Unspecified,
                    $( $number => Self::$variant, )*
                    _ => Self::Other(number),
                }
            }
        }

        impl $crate::types::wire::Scalar for $name {}

        impl $crate::types::wire::Element for $name {
            const KIND: $crate::types::wire::Kind =
                $crate::types::wire::Kind::Enum(&Self::DESCRIPTION);

            fn put(&self, tag: u32, out: &mut Vec<u8>) {
                $crate::types::wire::Element::put(&self.number(), tag, out);
            }

            fn size(&self, tag: u32) -> usize {
                $crate::types::wire::Element::size(&self.number(), tag)
            }

            fn take(
                &mut self,
                wire: $crate::types::wire::Wire,
                input: &mut $crate::types::wire::Reader<'_>,
            ) -> Result<(), $crate::types::wire::Fault> {
                *self = Self::from(input.varint(wire)? as i32);
                Ok(())
            }

            fn write<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                $crate::types::wire::write_enum(self.name(), self.number(), serializer)
            }

            fn read<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::types::wire::read_enum(Self::named, stringify!($name), deserializer)
            }

            fn parse(text: &str) -> Result<Self, $crate::types::wire::DecodeError> {
                $crate::types::wire::parse_enum(Self::named, stringify!($name), text)
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
pub(crate) use enumerations;

/// Writes the name, or the number where there is none.
pub(crate) fn write_enum<S: Serializer>(
    name: Option<&'static str>,
    number: i32,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match name {
        Some(name) => serializer.serialize_str(name),
        None => serializer.serialize_i32(number),
    }
}

/// Reads a name or a number.
pub(crate) fn read_enum<'de, T: From<i32>, D: Deserializer<'de>>(
    named: fn(&str) -> Option<T>,
    expected: &'static str,
    deserializer: D,
) -> Result<T, D::Error> {
    deserializer.deserialize_any(NameOrNumber { named, expected })
}

/// Reads a name or a number that stands in a URL.
pub(crate) fn parse_enum<T: From<i32>>(
    named: fn(&str) -> Option<T>,
    expected: &'static str,
    text: &str,
) -> Result<T, DecodeError> {
    let numbered = || text.parse::<i32>().ok().map(T::from);
    let found = named(text).or_else(numbered);
    found.ok_or_else(|| DecodeError::new(format!("{text:?} is not a {expected}")))
}

struct NameOrNumber<T> {
    named: fn(&str) -> Option<T>,
    expected: &'static str,
}

impl<T: From<i32>> NameOrNumber<T> {
    fn numbered<E: Error>(&self, number: i64) -> Result<T, E> {
        let small = i32::try_from(number);
        let small = small.map_err(|_| E::invalid_value(Unexpected::Signed(number), self))?;
        Ok(T::from(small))
    }
}

impl<T: From<i32>> Visitor<'_> for NameOrNumber<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a name or number of {}", self.expected)
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<T, E> {
        parse_enum(self.named, self.expected, name)
            .map_err(|_| E::invalid_value(Unexpected::Str(name), &self))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<T, E> {
        self.numbered(number)
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<T, E> {
        self.numbered(Integer.visit_u64(number)?)
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<T, E> {
        self.numbered(Integer.visit_f64(number)?)
    }
}
