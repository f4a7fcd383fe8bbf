//! PackStream, in which Bolt writes its messages: JSON in bytes, and structures.

use serde_json::{Map, Number, Value};

#[cfg(test)]
#[path = "pack_tests.rs"]
mod tests;

/// How deep values may be nested when they are read.
const DEPTH: usize = 32;

/// A message: a structure of this tag with these fields, of which there are at most 15.
pub(super) fn structure(tag: u8, fields: &[&Value]) -> Vec<u8> {
    let count = u8::try_from(fields.len()).unwrap_or(15).min(15);
    let mut bytes = vec![0xB0 + count, tag];
    fields.iter().for_each(|field| pack(field, &mut bytes));
    bytes
}

/// The tag and the fields of a message. Structures inside of it are lists of their fields; None: it is no message.
pub(super) fn parse(bytes: &[u8]) -> Option<(u8, Value)> {
    let mut reader = Reader { bytes };
    let marker = reader.byte()?;
    let tag = reader.byte()?;
    (marker & 0xF0 == 0xB0).then_some(())?;
    let fields = (0..marker & 0x0F).map(|_| reader.value(DEPTH));
    let fields = fields.collect::<Option<Vec<Value>>>()?;
    Some((tag, Value::Array(fields)))
}

fn pack(value: &Value, bytes: &mut Vec<u8>) {
    match value {
        Value::Null => bytes.push(0xC0),
        Value::Bool(false) => bytes.push(0xC2),
        Value::Bool(true) => bytes.push(0xC3),
        Value::Number(number) => pack_number(number, bytes),
        Value::String(text) => {
            sized(text.len(), [0x80, 0xD0, 0xD1, 0xD2], bytes);
            bytes.extend_from_slice(text.as_bytes());
        }
        Value::Array(list) => {
            sized(list.len(), [0x90, 0xD4, 0xD5, 0xD6], bytes);
            list.iter().for_each(|it| pack(it, bytes));
        }
        Value::Object(map) => {
            sized(map.len(), [0xA0, 0xD8, 0xD9, 0xDA], bytes);
            for (name, value) in map {
                sized(name.len(), [0x80, 0xD0, 0xD1, 0xD2], bytes);
                bytes.extend_from_slice(name.as_bytes());
                pack(value, bytes);
            }
        }
    }
}

fn pack_number(number: &Number, bytes: &mut Vec<u8>) {
    let Some(whole) = number.as_i64() else {
        bytes.push(0xC1);
        let float = number.as_f64().unwrap_or_default();
        bytes.extend_from_slice(&float.to_be_bytes());
        return;
    };
    if let Ok(small) = i8::try_from(whole) {
        if small < -16 {
            bytes.push(0xC8);
        }
        bytes.extend_from_slice(&small.to_be_bytes());
    } else if let Ok(short) = i16::try_from(whole) {
        bytes.push(0xC9);
        bytes.extend_from_slice(&short.to_be_bytes());
    } else if let Ok(middle) = i32::try_from(whole) {
        bytes.push(0xCA);
        bytes.extend_from_slice(&middle.to_be_bytes());
    } else {
        bytes.push(0xCB);
        bytes.extend_from_slice(&whole.to_be_bytes());
    }
}

/// The marker of something of this length: the first one holds up to 15, the others have one, two or four bytes of it.
fn sized(length: usize, [tiny, one, two, four]: [u8; 4], bytes: &mut Vec<u8>) {
    if let Ok(length) = u8::try_from(length) {
        match length {
            0..16 => bytes.push(tiny + length),
            _ => bytes.extend_from_slice(&[one, length]),
        }
    } else if let Ok(length) = u16::try_from(length) {
        bytes.push(two);
        bytes.extend_from_slice(&length.to_be_bytes());
    } else {
        bytes.push(four);
        let length = u32::try_from(length).unwrap_or(u32::MAX);
        bytes.extend_from_slice(&length.to_be_bytes());
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
}

impl Reader<'_> {
    fn byte(&mut self) -> Option<u8> {
        self.take::<1>().map(|[byte]| byte)
    }

    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (first, rest) = self.bytes.split_first_chunk::<N>()?;
        self.bytes = rest;
        Some(*first)
    }

    fn value(&mut self, depth: usize) -> Option<Value> {
        let below = depth.checked_sub(1)?;
        let marker = self.byte()?;
        Some(match marker {
            0xC0 => Value::Null,
            0xC1 => Number::from_f64(f64::from_be_bytes(self.take()?))
                .map_or(Value::Null, Value::Number),
            0xC2 => false.into(),
            0xC3 => true.into(),
            0xC8 => i8::from_be_bytes(self.take()?).into(),
            0xC9 => i16::from_be_bytes(self.take()?).into(),
            0xCA => i32::from_be_bytes(self.take()?).into(),
            0xCB => i64::from_be_bytes(self.take()?).into(),
            0x00..=0x7F => marker.into(),
            0xF0..=0xFF => marker.cast_signed().into(),
            0x80..=0x8F | 0xD0..=0xD2 => {
                let length = self.length(marker, 0xD0)?;
                self.text(length)?.into()
            }
            // Bytes are of no use here.
            0xCC..=0xCE => {
                let length = self.length(marker, 0xCC)?;
                self.skip(length)?;
                Value::Null
            }
            0x90..=0x9F | 0xD4..=0xD6 => {
                let length = self.length(marker, 0xD4)?;
                self.list(length, below)?
            }
            0xA0..=0xAF | 0xD8..=0xDA => {
                let length = self.length(marker, 0xD8)?;
                self.map(length, below)?
            }
            0xB0..=0xBF => {
                self.byte()?;
                self.list(usize::from(marker & 0x0F), below)?
            }
            _ => return None,
        })
    }

    /// The length that a marker stands for; `first` is the one that one byte follows.
    fn length(&mut self, marker: u8, first: u8) -> Option<usize> {
        match marker.checked_sub(first) {
            Some(0) => self.byte().map(usize::from),
            Some(1) => self.take().map(u16::from_be_bytes).map(usize::from),
            Some(2) => usize::try_from(u32::from_be_bytes(self.take()?)).ok(),
            _ => Some(usize::from(marker & 0x0F)),
        }
    }

    fn skip(&mut self, length: usize) -> Option<&[u8]> {
        let (skipped, rest) = self.bytes.split_at_checked(length)?;
        self.bytes = rest;
        Some(skipped)
    }

    fn text(&mut self, length: usize) -> Option<String> {
        let text = self.skip(length)?;
        String::from_utf8(text.to_vec()).ok()
    }

    // Each item has at least one byte, so that a length that is made up ends with the bytes.
    fn list(&mut self, length: usize, depth: usize) -> Option<Value> {
        let mut list = Vec::new();
        for _ in 0..length {
            list.push(self.value(depth)?);
        }
        Some(list.into())
    }

    fn map(&mut self, length: usize, depth: usize) -> Option<Value> {
        let mut map = Map::new();
        for _ in 0..length {
            let Value::String(name) = self.value(depth)? else {
                return None;
            };
            let value = self.value(depth)?;
            map.insert(name, value);
        }
        Some(map.into())
    }
}
