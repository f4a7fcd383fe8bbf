//! The JSON name of a field, made from its protobuf name when we are compiled.

/// How long `snake` is in camelCase.
pub(crate) const fn camel_length(snake: &str) -> usize {
    let bytes = snake.as_bytes();
    let (mut index, mut length) = (0, 0);
    while index < bytes.len() {
        if bytes[index] != b'_' {
            length += 1;
        }
        index += 1;
    }
    length
}

/// `snake` in camelCase: an underscore goes, and the letter behind it becomes a capital.
pub(crate) const fn camel_bytes<const LENGTH: usize>(snake: &str) -> [u8; LENGTH] {
    let bytes = snake.as_bytes();
    let mut camel = [0; LENGTH];
    let (mut index, mut length, mut capital) = (0, 0, false);
    while index < bytes.len() {
        let byte = bytes[index];
        if byte == b'_' {
            capital = true;
        } else {
            camel[length] = if capital {
                byte.to_ascii_uppercase()
            } else {
                byte
            };
            length += 1;
            capital = false;
        }
        index += 1;
    }
    camel
}

/// The JSON name of the field that an identifier names, as a constant.
macro_rules! camel {
    ($name:ident) => {{
        const SNAKE: &str = stringify!($name);
        const BYTES: [u8; $crate::types::wire::camel_length(SNAKE)] =
            $crate::types::wire::camel_bytes(SNAKE);
        const CAMEL: &str = match std::str::from_utf8(&BYTES) {
            Ok(camel) => camel,
            Err(_) => panic!("field names are ASCII"),
        };
        CAMEL
    }};
}
pub(crate) use camel;
