//! How much memory JSON takes once it is parsed, estimated before it is parsed.
//!
//! Three bytes, `{},`, become an empty map of some hundred bytes, so a bound on the bytes of a text is no bound on the
//! memory of its tree. [`census`] counts what a tree would hold in one pass that allocates nothing; [`check`] refuses a
//! text whose tree would be out of proportion to the text.

#[cfg(test)]
#[path = "weight_tests.rs"]
mod tests;

/// A text of at most this many bytes is not counted: its tree is small enough, and is parsed where it arrives. A
/// longer one is counted and parsed beside the threads that serve (see [`beside`](crate::beside)).
pub const LARGE: usize = 256 << 10;

/// The tree of any text may take this many bytes,
pub const LEEWAY: usize = 32 << 20;

/// and this many more for each byte of the text.
pub const GROWTH: usize = 8;

// Roughly what the parts of a tree take, in this crate and in `serde_json`, counted twice: for a short time there
// are two trees, that of the message and that of the values in it, or a list that grows and its copy.
const VALUE: usize = 80;
const CONTAINER: usize = 160;
const MEMBER: usize = 112;
/// A map with members has a table for them, with room for some more.
const FIRST_MEMBER: usize = 480;

/// What a JSON text holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Census {
    /// All values: texts, numbers, literals, arrays and objects; no names of members.
    pub values: usize,
    /// The arrays and objects among them.
    pub containers: usize,
    /// The members of all objects.
    pub members: usize,
    /// The objects that have members.
    pub filled: usize,
}

impl Census {
    /// The bytes, roughly, that the tree takes besides its texts.
    pub fn weight(&self) -> usize {
        self.values * VALUE
            + self.containers * CONTAINER
            + self.members * MEMBER
            + self.filled * FIRST_MEMBER
    }
}

/// The tree of a text would take too much memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{bytes} bytes of JSON hold {values} values, which take too much memory; send fewer of them"
)]
pub struct TooHeavy {
    /// The length of the text.
    pub bytes: usize,
    /// The values in it.
    pub values: usize,
}

/// Refuses a text above [`LARGE`] whose tree would take more than [`LEEWAY`] and [`GROWTH`] times its length.
pub fn check(json: &[u8]) -> Result<(), TooHeavy> {
    check_growth(json, GROWTH)
}

pub(crate) fn check_growth(json: &[u8], growth: usize) -> Result<(), TooHeavy> {
    if json.len() <= LARGE {
        return Ok(());
    }
    let census = census(json);
    let most = LEEWAY.saturating_add(json.len().saturating_mul(growth));
    if census.weight() <= most {
        return Ok(());
    }
    Err(TooHeavy {
        bytes: json.len(),
        values: census.values,
    })
}

/// Counts what a JSON text holds. Of a text that is not JSON it counts what looks like it, and never more than a
/// parser would have made of it before it found the fault.
pub fn census(json: &[u8]) -> Census {
    let mut census = Census::default();
    // Whether a value may begin here: at the start, and behind `[`, `,` and `:`.
    let mut expects = true;
    // Whether the last token opened an object.
    let mut opened = false;
    let mut rest = json;
    while let Some((&byte, behind)) = rest.split_first() {
        rest = behind;
        match byte {
            b' ' | b'\t' | b'\n' | b'\r' => continue,
            b'{' | b'[' => {
                census.values += 1;
                census.containers += 1;
                expects = true;
            }
            b'}' | b']' => expects = false,
            b',' => expects = true,
            b':' => {
                // What was counted as a value was the name of a member.
                census.values = census.values.saturating_sub(1);
                census.members += 1;
                expects = true;
            }
            b'"' => {
                if opened {
                    census.filled += 1;
                }
                census.values += usize::from(expects);
                expects = false;
                rest = behind_string(rest);
            }
            // A number or a literal; its further bytes are not expected.
            _ => {
                census.values += usize::from(expects);
                expects = false;
            }
        }
        opened = byte == b'{';
    }
    census
}

/// The text after the string whose first quote was read.
fn behind_string(text: &[u8]) -> &[u8] {
    let mut rest = text;
    loop {
        let plain = crate::expression::plain_length(rest);
        match rest.get(plain) {
            Some(b'"') => return &rest[plain + 1..],
            // The escaped byte may be a quote.
            Some(b'\\') => rest = rest.get(plain + 2..).unwrap_or_default(),
            // A control character, which a parser refuses.
            Some(_) => rest = &rest[plain + 1..],
            None => return &[],
        }
    }
}
