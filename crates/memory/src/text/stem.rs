//! What the regular forms of an English word have in common, by the rules that M. F. Porter published in 1980.

/// The stem of a word in lower case. Words that are short, or not of ASCII letters, are their own stems.
pub(crate) fn stem(word: &str) -> String {
    let mut stem = word.to_owned();
    if word.len() > 2 && word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        plural(&mut stem);
        past(&mut stem);
        final_y(&mut stem);
        replace(&mut stem, &LONG);
        replace(&mut stem, &MIDDLE);
        remove(&mut stem);
        tidy(&mut stem);
    }
    stem
}

const LONG: [(&str, &str); 20] = [
    ("ational", "ate"),
    ("tional", "tion"),
    ("enci", "ence"),
    ("anci", "ance"),
    ("izer", "ize"),
    ("abli", "able"),
    ("alli", "al"),
    ("entli", "ent"),
    ("eli", "e"),
    ("ousli", "ous"),
    ("ization", "ize"),
    ("ation", "ate"),
    ("ator", "ate"),
    ("alism", "al"),
    ("iveness", "ive"),
    ("fulness", "ful"),
    ("ousness", "ous"),
    ("aliti", "al"),
    ("iviti", "ive"),
    ("biliti", "ble"),
];

const MIDDLE: [(&str, &str); 7] = [
    ("icate", "ic"),
    ("ative", ""),
    ("alize", "al"),
    ("iciti", "ic"),
    ("ical", "ic"),
    ("ful", ""),
    ("ness", ""),
];

/// Longer ones before those that they end with.
const LAST: [&str; 19] = [
    "ement", "ance", "ence", "able", "ible", "ment", "ant", "ent", "ion", "ism", "ate", "iti",
    "ous", "ive", "ize", "al", "er", "ic", "ou",
];

fn plural(word: &mut String) {
    if word.ends_with("sses") || word.ends_with("ies") {
        word.truncate(word.len() - 2);
    } else if word.ends_with('s') && !word.ends_with("ss") {
        word.pop();
    }
}

fn past(word: &mut String) {
    if let Some(rest) = word.strip_suffix("eed") {
        if measure(rest) > 0 {
            word.pop();
        }
        return;
    }
    let rest = word.strip_suffix("ed").or_else(|| word.strip_suffix("ing"));
    let Some(length) = rest.filter(|rest| has_vowel(rest)).map(str::len) else {
        return;
    };
    word.truncate(length);
    if ["at", "bl", "iz"].iter().any(|end| word.ends_with(end)) {
        word.push('e');
    } else if doubled(word) && !word.ends_with(['l', 's', 'z']) {
        word.pop();
    } else if measure(word) == 1 && closed(word) {
        word.push('e');
    }
}

fn final_y(word: &mut String) {
    if word.strip_suffix('y').is_some_and(has_vowel) {
        word.pop();
        word.push('i');
    }
}

/// The first ending that fits is replaced, if enough is left before it.
fn replace(word: &mut String, endings: &[(&str, &str)]) {
    let found = endings.iter().find(|(end, _)| word.ends_with(end));
    if let Some((end, instead)) = found
        && measure(&word[..word.len() - end.len()]) > 0
    {
        word.truncate(word.len() - end.len());
        word.push_str(instead);
    }
}

fn remove(word: &mut String) {
    let Some(end) = LAST.iter().find(|end| word.ends_with(**end)) else {
        return;
    };
    let rest = &word[..word.len() - end.len()];
    if measure(rest) > 1 && (*end != "ion" || rest.ends_with(['s', 't'])) {
        word.truncate(rest.len());
    }
}

fn tidy(word: &mut String) {
    if let Some(rest) = word.strip_suffix('e')
        && (measure(rest) > 1 || measure(rest) == 1 && !closed(rest))
    {
        word.pop();
    }
    if word.ends_with("ll") && measure(word) > 1 {
        word.pop();
    }
}

/// Whether the letter at a place is a vowel; `y` is one after a consonant.
fn is_vowel(word: &[u8], place: usize) -> bool {
    match word[place] {
        b'a' | b'e' | b'i' | b'o' | b'u' => true,
        b'y' => place > 0 && !is_vowel(word, place - 1),
        _ => false,
    }
}

fn has_vowel(word: &str) -> bool {
    (0..word.len()).any(|place| is_vowel(word.as_bytes(), place))
}

/// How often a vowel is followed by a consonant.
fn measure(word: &str) -> usize {
    let word = word.as_bytes();
    (1..word.len())
        .filter(|&place| is_vowel(word, place - 1) && !is_vowel(word, place))
        .count()
}

/// Whether it ends with twice the same consonant.
fn doubled(word: &str) -> bool {
    let bytes = word.as_bytes();
    let [.., one, two] = bytes else { return false };
    one == two && !is_vowel(bytes, bytes.len() - 1)
}

/// Whether it ends with a consonant, a vowel and a consonant that is heard.
fn closed(word: &str) -> bool {
    let bytes = word.as_bytes();
    let end = bytes.len();
    end > 2
        && !is_vowel(bytes, end - 1)
        && is_vowel(bytes, end - 2)
        && !is_vowel(bytes, end - 3)
        && !word.ends_with(['w', 'x', 'y'])
}
