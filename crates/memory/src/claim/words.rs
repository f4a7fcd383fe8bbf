//! English words that decide how claims are compared.

/// Phrases that introduce a repetition or a speculation.
const FRAMES: [&str; 27] = [
    "as i said",
    "as mentioned",
    "as noted",
    "as stated",
    "again",
    "to repeat",
    "once more",
    "remember that",
    "remember",
    "note that",
    "i recall that",
    "i recall",
    "i remember that",
    "from memory",
    "according to my memory",
    "it is known that",
    "we know that",
    "reminder",
    "maybe",
    "perhaps",
    "possibly",
    "probably",
    "i think that",
    "i think",
    "i guess",
    "i suppose",
    "i suspect",
];

/// The text without such phrases at its beginning.
pub(super) fn without_frame(text: &str) -> &str {
    let mut rest = text.trim_start();
    while let Some(shorter) = FRAMES.iter().find_map(|frame| strip(rest, frame)) {
        rest = shorter;
    }
    rest
}

fn strip<'a>(text: &'a str, frame: &str) -> Option<&'a str> {
    let head = text.get(..frame.len())?;
    let rest = &text[frame.len()..];
    let ends = rest.starts_with(|c: char| !c.is_alphanumeric());
    let left = rest.trim_start_matches(|c: char| !c.is_alphanumeric());
    (ends && head.eq_ignore_ascii_case(frame) && !left.is_empty()).then_some(left)
}

/// Antonyms, the negative word first.
const OPPOSITES: [(&str, &str); 31] = [
    ("disabled", "enabled"),
    ("disable", "enable"),
    ("disables", "enables"),
    ("off", "on"),
    ("forbidden", "allowed"),
    ("prohibited", "allowed"),
    ("denied", "allowed"),
    ("forbids", "allows"),
    ("closed", "open"),
    ("false", "true"),
    ("impossible", "possible"),
    ("unavailable", "available"),
    ("invalid", "valid"),
    ("unlocked", "locked"),
    ("absent", "present"),
    ("offline", "online"),
    ("unsafe", "safe"),
    ("unsupported", "supported"),
    ("inactive", "active"),
    ("incorrect", "correct"),
    ("dead", "alive"),
    ("excludes", "includes"),
    ("hates", "likes"),
    ("hate", "like"),
    ("hated", "liked"),
    ("dislikes", "likes"),
    ("dislike", "like"),
    ("disliked", "liked"),
    ("detests", "likes"),
    ("detest", "like"),
    ("loathes", "likes"),
];

/// The positive word of a negative one, both in lower case.
pub(super) fn negative_of(word: &str) -> Option<&'static str> {
    let found = OPPOSITES.iter().find(|(negative, _)| *negative == word);
    found.map(|(_, positive)| *positive)
}

/// The word by which a stronger one is compared: who loves something likes it.
pub(super) fn weaker(word: &str) -> &str {
    match word {
        "loves" | "adores" | "enjoys" => "likes",
        "love" | "adore" | "enjoy" => "like",
        "loved" | "adored" | "enjoyed" => "liked",
        word => word,
    }
}

/// Whether a word only says how sure the speaker is.
pub(super) fn hedges(word: &str) -> bool {
    matches!(
        word,
        "maybe" | "perhaps" | "possibly" | "probably" | "presumably" | "supposedly"
    )
}

/// Whether a word at the beginning of a text makes its subject a definite one.
pub(super) fn definite(word: &str) -> bool {
    matches!(
        word,
        "the" | "my" | "our" | "your" | "his" | "her" | "their" | "its"
    )
}

/// Nouns for attributes that have one value at a time.
const ATTRIBUTES: [&str; 38] = [
    "password",
    "passphrase",
    "pin",
    "code",
    "key",
    "name",
    "colour",
    "color",
    "address",
    "number",
    "capital",
    "owner",
    "birthday",
    "price",
    "port",
    "version",
    "location",
    "status",
    "size",
    "deadline",
    "date",
    "boss",
    "manager",
    "leader",
    "winner",
    "currency",
    "url",
    "email",
    "phone",
    "host",
    "branch",
    "default",
    "timezone",
    "language",
    "title",
    "author",
    "limit",
    "temperature",
];

const COLOURS: [&str; 14] = [
    "red", "green", "blue", "yellow", "black", "white", "grey", "gray", "brown", "orange",
    "purple", "pink", "golden", "silver",
];

/// Whether a stem is that of an attribute with one value at a time.
pub(super) fn is_attribute(term: &str) -> bool {
    use std::sync::LazyLock;
    static STEMS: LazyLock<rustc_hash::FxHashSet<String>> = LazyLock::new(|| {
        ATTRIBUTES
            .iter()
            .map(|word| crate::text::term(word))
            .collect()
    });
    STEMS.contains(term)
}

/// Whether a stem is that of a colour: a thing that is said to be of one is not of another.
pub(super) fn is_colour(term: &str) -> bool {
    COLOURS.iter().any(|word| crate::text::term(word) == term)
}

/// Words that take one value at a time.
const SINGLE: [&str; 26] = [
    "lives",
    "live",
    "lived",
    "born",
    "called",
    "named",
    "costs",
    "cost",
    "drives",
    "drive",
    "returns",
    "return",
    "listens",
    "listen",
    "prefers",
    "prefer",
    "weighs",
    "measures",
    "equals",
    "as",
    "favourite",
    "favorite",
    "defaults",
    "expires",
    "belongs",
    "resides",
];

pub(super) fn single_valued(word: &str) -> bool {
    SINGLE.contains(&word)
}

const COPULAS: [&str; 8] = ["is", "are", "was", "were", "be", "am", "been", "becomes"];

/// Whether a stem is that of a copula.
pub(super) fn is_copula(term: &str) -> bool {
    COPULAS.iter().any(|word| crate::text::term(word) == term)
}

const HELPERS: [&str; 19] = [
    "is", "are", "was", "were", "be", "am", "been", "do", "does", "did", "has", "have", "had",
    "will", "can", "must", "should", "may", "might",
];

/// Whether a stem is that of an auxiliary verb or of "as" and "on".
pub(super) fn connects(term: &str) -> bool {
    // "As" and "on" stay tokens while a claim is parsed, because they mark its verb as single-valued.
    matches!(term, "doe" | "ha" | "as" | "wa" | "i") || HELPERS.contains(&term)
}

/// Whether a word in lower case is a verb, judged without its context.
pub(super) fn verb(word: &str) -> bool {
    const OTHERS: [&str; 24] = [
        "takes", "uses", "works", "ends", "starts", "begins", "leaves", "arrives", "opens",
        "supports", "needs", "runs", "contains", "likes", "eats", "speaks", "owns", "wants",
        "works", "closes", "knows", "says", "makes", "requires",
    ];
    HELPERS.contains(&word)
        || SINGLE.contains(&word) && !matches!(word, "favourite" | "favorite" | "called" | "named")
        || OTHERS.contains(&word)
}

/// Whether a word is a verb in the past tense: the event may have happened more than once.
pub(super) fn repeats(word: &str) -> bool {
    const PAST: [&str; 20] = [
        "ran", "bought", "saw", "met", "ate", "went", "came", "made", "gave", "took", "sold",
        "sent", "wrote", "said", "told", "won", "lost", "flew", "drove", "found",
    ];
    PAST.contains(&word)
        || word.len() > 4
            && word.ends_with("ed")
            && !matches!(word, "released" | "founded" | "called" | "named")
}

pub(super) fn year(word: &str) -> bool {
    word.len() == 4
        && word
            .parse()
            .is_ok_and(|year: u16| (1900..2100).contains(&year))
}

/// Whether a word is an ordinal number, as in days of a month.
pub(super) fn ordinal(word: &str) -> bool {
    const WORDS: [&str; 12] = [
        "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth",
        "tenth", "eleventh", "twelfth",
    ];
    WORDS.contains(&word)
        || ["st", "nd", "rd", "th"].iter().any(|end| {
            word.strip_suffix(end).is_some_and(|digits| {
                !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())
            })
        })
}
