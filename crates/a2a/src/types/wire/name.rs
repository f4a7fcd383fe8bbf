//! The names of a field, in protobuf and in JSON, made from its identifier when we are compiled.

/// The name that an identifier stands for: some are words of Rust, too, and bear a mark.
pub(crate) const fn unmarked(identifier: &str) -> &str {
    match identifier.as_bytes() {
        [b'r', b'#', ..] => identifier.split_at(2).1,
        _ => identifier,
    }
}

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

/// The protobuf name of the field that an identifier names, as a constant.
macro_rules! snake {
    ($name:ident) => {{
        const SNAKE: &str = $crate::types::wire::unmarked(stringify!($name));
        SNAKE
    }};
}
pub(crate) use snake;

/// The JSON name of the field that an identifier names, as a constant, or the one that is given.
macro_rules! camel {
    ($name:ident $json:literal) => {
        $json
    };
    ($name:ident) => {{
        const SNAKE: &str = $crate::types::wire::snake!($name);
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
