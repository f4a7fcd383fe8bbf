//! Extraction of entities and relations by rules: names, identifiers, files, dates, quoted terms, and verbs between them.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::text::{self, date};

/// The kind of an entity, judged by its spelling.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EntityKind {
    /// A speaker of a record.
    Speaker,
    /// Capitalised: a person, a place, a product.
    Name,
    /// An identifier of code, of a ticket, or of a version.
    Symbol,
    /// A path or a file name.
    File,
    /// A day, a month or a year.
    Date,
    /// A term in quotation marks.
    Term,
}

/// The entities and relations of a text.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Extract {
    pub(crate) entities: Vec<(String, EntityKind)>,
    /// Each as (from, to, type).
    pub(crate) relations: Vec<(String, String, String)>,
}

/// Most entities of one text.
const MAX_ENTITIES: usize = 64;

/// How many hexadecimal digits a word has that is taken for a hash, and is no entity.
const HASH: usize = 32;

/// Extracts from a text and its speaker. Of JSON, such as the output of a skill, the texts in it are read, and not the
/// names of its members.
pub(crate) fn extract(content: &str, speaker: Option<&str>) -> Extract {
    let mut extract = Extract::default();
    let speaker = speaker.map(str::trim).filter(|speaker| !speaker.is_empty());
    if let Some(speaker) = speaker {
        extract.add(speaker, EntityKind::Speaker);
    }
    match structured(content) {
        Some(value) => extract.texts(&value, speaker),
        None => extract.text(content, speaker),
    }
    extract
}

/// A text that is an object or a list of JSON as a whole.
fn structured(content: &str) -> Option<Value> {
    let begins = content.trim_start().starts_with(['{', '[']);
    begins.then(|| serde_json::from_str(content).ok()).flatten()
}

impl Extract {
    pub(crate) fn add(&mut self, name: &str, kind: EntityKind) {
        let known = self
            .entities
            .iter()
            .any(|(it, _)| it.eq_ignore_ascii_case(name));
        let hash = name.len() >= HASH && name.bytes().all(|it| it.is_ascii_hexdigit());
        if !known && !hash && self.entities.len() < MAX_ENTITIES && name.len() <= 100 {
            self.entities.push((name.to_owned(), kind));
        }
    }

    pub(crate) fn relate(&mut self, from: &str, to: &str, kind: &str) {
        if !from.eq_ignore_ascii_case(to) && self.relations.len() < MAX_ENTITIES {
            self.relations
                .push((from.to_owned(), to.to_owned(), kind.to_owned()));
        }
    }

    fn text(&mut self, text: &str, speaker: Option<&str>) {
        for sentence in sentences(text) {
            self.sentence(sentence, speaker);
        }
    }

    /// Reads every text of a value, which is no deeper than what is parsed.
    fn texts(&mut self, value: &Value, speaker: Option<&str>) {
        match value {
            Value::String(text) => self.text(text, speaker),
            Value::Array(items) => items.iter().for_each(|it| self.texts(it, speaker)),
            Value::Object(members) => members.values().for_each(|it| self.texts(it, speaker)),
            _ => {}
        }
    }

    fn sentence(&mut self, sentence: &str, speaker: Option<&str>) {
        let tokens = tokens(sentence);
        let mut found: Vec<(usize, usize, String, EntityKind)> = Vec::new();
        let mut place = 0;
        while place < tokens.len() {
            match entity_at(&tokens, place) {
                Some((length, name, kind)) => {
                    found.push((place, place + length, name, kind));
                    place += length;
                }
                None => place += 1,
            }
        }
        for quoted in quoted(sentence) {
            if !found
                .iter()
                .any(|(_, _, name, _)| name.eq_ignore_ascii_case(quoted))
            {
                self.add(quoted, EntityKind::Term);
                if let Some(speaker) = speaker {
                    self.relate(speaker, quoted, "MENTIONS");
                }
            }
        }
        for (_, _, name, kind) in &found {
            self.add(name, *kind);
        }
        for pair in found.windows(2) {
            let between = &tokens[pair[0].1..pair[1].0];
            let kind = verb_between(between);
            self.relate(
                &pair[0].2,
                &pair[1].2,
                kind.as_deref().unwrap_or("RELATED_TO"),
            );
        }
        if let (Some(speaker), Some((start, _, name, _))) = (speaker, found.first()) {
            let before = &tokens[..*start];
            // "I" is the speaker.
            let own = before
                .iter()
                .position(|token| matches!(&*token.lower, "i" | "we" | "my"));
            let verb = own.and_then(|place| verb_between(&before[place + 1..]));
            self.relate(speaker, name, verb.as_deref().unwrap_or("MENTIONS"));
            for (_, _, name, _) in found.iter().skip(1) {
                self.relate(speaker, name, "MENTIONS");
            }
        }
    }
}

#[derive(Clone, Debug)]
struct Token<'a> {
    raw: &'a str,
    lower: String,
    /// Whether punctuation that ends a phrase follows.
    ends: bool,
}

fn tokens(sentence: &str) -> Vec<Token<'_>> {
    let edge = |c: char| !c.is_alphanumeric() && !matches!(c, '_' | '/' | '`' | '(' | ')');
    sentence
        .split_whitespace()
        .filter_map(|word| {
            let raw = word.trim_matches(edge).trim_matches(['`', '"']);
            let raw = raw
                .strip_suffix("'s")
                .or_else(|| raw.strip_suffix("’s"))
                .unwrap_or(raw);
            let ends =
                word.ends_with([',', ';', ':', ')']) || word.contains("'s") || word.contains("’s");
            (!raw.is_empty()).then(|| Token {
                raw,
                lower: raw.to_lowercase(),
                ends,
            })
        })
        .collect()
}

/// The entity that begins at a token: number of tokens, name, kind.
fn entity_at(tokens: &[Token<'_>], place: usize) -> Option<(usize, String, EntityKind)> {
    let token = &tokens[place];
    if let Some(kind) = spelled(token.raw) {
        let name = token.raw.trim_end_matches("()").trim_matches(['(', ')']);
        return (name.len() > 1).then(|| (1, name.to_owned(), kind));
    }
    if let Some((length, name)) = date_at(&tokens[place..]) {
        return Some((length, name, EntityKind::Date));
    }
    let capital = |token: &Token<'_>| {
        token.raw.starts_with(char::is_uppercase)
            && token
                .raw
                .chars()
                .all(|c| c.is_alphabetic() || matches!(c, '-' | '\'' | '.'))
    };
    if !capital(token) || text::is_common(&token.lower) || token.raw == "I" {
        return None;
    }
    let mut length = 1;
    while !tokens[place + length - 1].ends
        && tokens
            .get(place + length)
            .is_some_and(|next| capital(next) && next.raw != "I" && !text::is_common(&next.lower))
    {
        length += 1;
    }
    // The first word of a sentence is always capitalised, so alone it is a name only if a verb follows.
    if place == 0 && length == 1 {
        let next = tokens.get(1).map_or("", |token| &*token.lower);
        let spoken_of = tokens[0].ends || is_verb(next);
        if !spoken_of || token.lower.ends_with("ing") || is_opening(&token.lower) {
            return None;
        }
    }
    let name: Vec<&str> = tokens[place..place + length]
        .iter()
        .map(|it| it.raw)
        .collect();
    Some((length, name.join(" "), EntityKind::Name))
}

/// Words at the beginning of sentences that are not names.
fn is_opening(word: &str) -> bool {
    const OPENINGS: &str = "yes no yeah oh wow hey hi hello thanks thank well okay ok sure sorry please maybe today \
        yesterday tomorrow now then later first second next last also still never always everything everyone nobody \
        nothing something someone somebody one two three my your his her our their this that these those it there \
        here good great nice cool true right congratulations bravo morning agreed noted fine";
    OPENINGS.split_whitespace().any(|it| it == word)
}

/// The kind of a token by its spelling alone.
fn spelled(raw: &str) -> Option<EntityKind> {
    let inner = raw.trim_end_matches("()");
    let letters = inner.chars().any(char::is_alphabetic);
    if !letters || inner.starts_with("http") {
        return inner.starts_with("http").then_some(EntityKind::Term);
    }
    let extension = inner.rsplit_once('.').is_some_and(|(stem, end)| {
        !stem.is_empty()
            && (1..=4).contains(&end.len())
            && end
                .chars()
                .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
            && end.chars().any(|c| c.is_ascii_lowercase())
    });
    if extension || inner.contains('/') && inner.len() > 3 && !inner.ends_with('/') {
        return Some(EntityKind::File);
    }
    let mut chars = inner.chars();
    let camel = chars.next().is_some()
        && inner.chars().skip(1).any(char::is_uppercase)
        && inner.chars().any(char::is_lowercase)
        && inner.chars().all(char::is_alphanumeric);
    let ticket = inner.contains('-')
        && inner.chars().any(|c| c.is_ascii_digit())
        && inner.starts_with(char::is_uppercase);
    let acronym = inner.len() > 1
        && inner
            .chars()
            .all(|c| c.is_uppercase() || c.is_ascii_digit())
        && inner.chars().filter(|c| c.is_uppercase()).count() > 1;
    let symbol = inner.contains('_') || inner.contains("::") || raw.ends_with("()");
    (camel || ticket || acronym || symbol).then_some(EntityKind::Symbol)
}

/// The date that begins at a token: number of tokens, and its name.
fn date_at(tokens: &[Token<'_>]) -> Option<(usize, String)> {
    let first = tokens.first()?;
    let parsed = date::parse(first.raw).is_some() && first.raw.len() >= 10;
    if parsed {
        return Some((1, first.raw[..10].to_owned()));
    }
    for length in (1..=4).rev() {
        let Some(window) = tokens.get(..length) else {
            continue;
        };
        let joined: Vec<&str> = window.iter().map(|token| token.raw).collect();
        let joined = joined.join(" ");
        // A number alone is not a date.
        let says = window
            .iter()
            .any(|token| date::month(&token.lower).is_some_and(|_| token.lower.len() > 2));
        let edges = |token: &Token<'_>| token.lower != "of" && !text::is_common(&token.lower);
        if says
            && edges(&window[0])
            && edges(&window[length - 1])
            && let [only] = date::named(&joined)[..]
            && only.month.is_some()
            && length
                == 1 + usize::from(only.day.is_some())
                    + usize::from(only.year.is_some())
                    + usize::from(joined.contains(" of "))
            && window[0].raw != "may"
        {
            return Some((length, joined));
        }
    }
    None
}

/// The type of the relation that the words between two entities state, if they contain a verb.
fn verb_between(words: &[Token<'_>]) -> Option<String> {
    if words.len() > 6 {
        return None;
    }
    let at = words.iter().rposition(|token| is_verb(&token.lower))?;
    let mut kind = base(&words[at].lower);
    // "Is" takes the following word into the type.
    if let Some(next) = words.get(at + 1)
        && (kind == "be" || is_preposition(&next.lower))
        && !matches!(&*next.lower, "a" | "an" | "the" | "not")
    {
        kind = format!("{kind}_{}", next.lower);
    }
    let kind = kind.to_uppercase();
    let kind = if kind == "BE" {
        "IS".to_owned()
    } else {
        kind.replace("BE_", "IS_")
    };
    kind.chars()
        .all(|c| c.is_ascii_alphabetic() || c == '_')
        .then_some(kind)
}

fn is_preposition(word: &str) -> bool {
    matches!(
        word,
        "in" | "at" | "on" | "to" | "from" | "with" | "for" | "by" | "as" | "of" | "into"
    )
}

const VERBS: &str = "is are was were be live lives lived work works worked use uses used like likes liked love loves \
    loved own owns owned have has had make makes made write writes wrote build builds built call calls called know \
    knows knew meet meets met visit visits visited depend depends depended implement implements implemented return \
    returns returned contain contains contained include includes included need needs needed want wants wanted run \
    runs ran study studies studied teach teaches taught marry marries married join joins joined leave leaves left \
    move moves moved start starts started end ends ended play plays played sing sings sang prefer prefers preferred \
    replace replaces replaced take takes took give gives gave buy buys bought sell sells sold send sends sent create \
    creates created import imports imported extend extends extended fix fixes fixed cause causes caused break breaks \
    broke support supports supported go goes went come comes came travel travels travelled arrive arrives arrived \
    found founded lead leads led manage manages managed help helps helped see sees saw think thinks thought say says \
    said tell tells told ask asks asked read reads adopt adopts adopted win wins won lose loses lost will can does did";

fn is_verb(word: &str) -> bool {
    use std::sync::LazyLock;
    static WORDS: LazyLock<rustc_hash::FxHashSet<&str>> =
        LazyLock::new(|| VERBS.split_whitespace().collect());
    WORDS.contains(word)
}

/// The base form of a verb.
fn base(verb: &str) -> String {
    if matches!(verb, "is" | "are" | "was" | "were" | "be") {
        return "be".to_owned();
    }
    let term = text::term(verb);
    let mut words = VERBS.split_whitespace();
    words
        .find(|word| text::term(word) == term)
        .unwrap_or(verb)
        .to_owned()
}

fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = rest
            .char_indices()
            .find(|&(at, c)| {
                let after = &rest[at + c.len_utf8()..];
                c == '\n'
                    || matches!(c, '.' | '!' | '?')
                        && after.chars().next().is_none_or(char::is_whitespace)
            })
            .map_or(rest.len(), |(at, c)| at + c.len_utf8());
        let (sentence, after) = rest.split_at(end);
        rest = after;
        Some(sentence)
    })
    .filter(|sentence| !sentence.trim().is_empty())
}

/// Short texts in quotation marks.
fn quoted(sentence: &str) -> impl Iterator<Item = &str> {
    let pairs = [('"', '"'), ('“', '”'), ('`', '`'), ('«', '»')];
    pairs.into_iter().flat_map(move |(open, close)| {
        let mut rest = sentence;
        std::iter::from_fn(move || {
            let start = rest.find(open)? + open.len_utf8();
            let length = rest[start..].find(close)?;
            let inner = &rest[start..start + length];
            rest = &rest[start + length + close.len_utf8()..];
            Some(inner.trim())
        })
        .filter(|inner| !inner.is_empty() && inner.split_whitespace().count() <= 6)
    })
}
