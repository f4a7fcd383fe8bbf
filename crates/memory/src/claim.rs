//! Claims: whether two texts say the same, and whether they contradict each other. Pure, and without a model.
//!
//! A text becomes a list of tokens: stems, names, numbers and dates, without function words, and a flag for negation.
//! Two claims contradict each other when they are equal except for one thing: the negation, a number, a date, or the
//! value of an attribute that has one value at a time ("lives in", "costs", "Ada's favourite"). Everything else is
//! compatible. So the detector is precise and not complete: paraphrases are missed, on purpose, because a false
//! contradiction puts a true belief in doubt, while a missed one is a second belief that recall shows beside the first.
//!
//! Why not a model (natural language inference): a decision must be the same after a restart, must not need a network,
//! and is made for every write while other writes wait. The lists of words are in `claim/words.rs`; precision and recall
//! on frozen pairs (`conformance/memory/contradictions.tsv`) are asserted in `claim_tests.rs`.
//!
//! Contradicting claims begin with the same token ([`Claim::subject`]). The space indexes claims by it, so that a new
//! claim is compared with those of its subject only; a property test checks that this loses none.

use rustc_hash::FxHashSet;

use crate::text::{self, date};

mod words;

use words::{negative_of, repeats, single_valued, verb};

/// How two claims contradict each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conflict {
    /// One denies what the other says.
    Negation,
    /// Two values of an attribute that has one.
    Value,
    /// Two dates of one event.
    Date,
}

impl Conflict {
    /// Its name in records.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Negation => "negation",
            Self::Value => "value",
            Self::Date => "date",
        }
    }
}

/// The claim of a text.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    tokens: Vec<Token>,
    /// Whether the tokens are negated. Two negations cancel out.
    denied: bool,
    /// Whether its subject is definite: "the", "my".
    definite: bool,
}

#[derive(Clone, Debug, PartialEq)]
struct Token {
    /// The stem of the word; numbers, dates and identifiers as they are.
    term: String,
    kind: Kind,
    verb: bool,
    /// A possessive ("Ada's"), or a noun before "of".
    owner: bool,
    /// A verb in the past: the event can have happened several times, on different dates.
    repeats: bool,
    /// The word takes one value at a time.
    single: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Word,
    Name,
    Number,
    Date,
}

/// Most tokens of a claim. A longer text tells several things and is not compared as a whole.
const MAX_TOKENS: usize = 48;

impl Claim {
    /// The claim of a text, without phrases such as "as I said" at its beginning.
    pub fn of(text: &str) -> Self {
        let text = words::without_frame(text);
        let raw: Vec<&str> = text.split_whitespace().take(MAX_TOKENS * 2).collect();
        let mut claim = Self {
            tokens: Vec::new(),
            denied: false,
            definite: false,
        };
        let mut place = 0;
        while place < raw.len() {
            let next = raw.get(place + 1).copied().unwrap_or_default();
            place += claim.take(raw[place], next, place == 0);
        }
        claim.tokens.truncate(MAX_TOKENS);
        claim
    }

    /// Adds a word. Returns how many words were used: two for a negation of two words.
    fn take(&mut self, raw: &str, next: &str, first: bool) -> usize {
        let raw = raw.replace('’', "'");
        let trimmed = raw.trim_matches(|c: char| !c.is_alphanumeric());
        if trimmed.is_empty() {
            return 1;
        }
        let lower = trimmed.to_lowercase();
        let (lower, negated) = match lower.strip_suffix("n't") {
            Some("wo") => ("will".to_owned(), true),
            Some("ca") => ("can".to_owned(), true),
            Some(rest) => (rest.to_owned(), true),
            None if lower == "cannot" => ("can".to_owned(), true),
            None => (lower, false),
        };
        self.denied ^= negated;
        if lower == "no" && next.trim_matches(|c: char| !c.is_alphanumeric()) == "longer" {
            self.denied = !self.denied;
            return 2;
        }
        if matches!(
            &*lower,
            "not" | "never" | "no" | "none" | "nobody" | "without"
        ) {
            self.denied = !self.denied;
            return 1;
        }
        if lower == "of" {
            if let Some(last) = self.tokens.last_mut() {
                last.owner = true;
            }
            return 1;
        }
        let (word, owner) = match lower.strip_suffix("'s") {
            Some(word) => (word, true),
            None => (&*lower, false),
        };
        self.definite |= first && words::definite(word);
        if words::hedges(word) {
            return 1;
        }
        let word = words::weaker(word);
        let word = match negative_of(word) {
            Some(positive) => {
                self.denied = !self.denied;
                positive
            }
            None => word,
        };
        let verb = verb(word) || negated;
        if !verb && (text::is_common(word) || matches!(word, "a" | "an" | "the" | "end" | "per")) {
            return 1;
        }
        let numeric = word.starts_with(|c: char| c.is_ascii_digit());
        let calendar = date::month(word).is_some_and(|_| word.len() > 3 || first)
            || date::weekday(word).is_some()
            || words::ordinal(word)
            || numeric && word.contains([':', '-'])
            || words::year(word);
        let name = !first && trimmed.starts_with(char::is_uppercase);
        let kind = match () {
            () if calendar => Kind::Date,
            () if numeric => Kind::Number,
            () if name => Kind::Name,
            () => Kind::Word,
        };
        let term = match kind {
            Kind::Number | Kind::Date => word.to_owned(),
            _ if word.contains(['_', '-', '/', '.']) => word.to_owned(),
            _ => text::term(word),
        };
        self.tokens.push(Token {
            single: single_valued(word),
            repeats: repeats(word),
            term,
            kind,
            verb,
            owner,
        });
        1
    }

    /// The first token. Claims that contradict each other have the same one.
    pub(crate) fn subject(&self) -> Option<&str> {
        self.about().next().map(|token| &*token.term)
    }

    /// The tokens without auxiliary verbs: forms of "be", "do", "have" and the like.
    fn about(&self) -> impl Iterator<Item = &Token> {
        self.tokens
            .iter()
            .filter(|token| !words::connects(&token.term))
    }

    /// The likeness of two claims, from 0 to 1: the Jaccard index of their terms. It is 0 if they differ in a number, a
    /// date, a name or a negation.
    pub fn likeness(&self, other: &Self) -> f64 {
        if self.denied != other.denied {
            return 0.0;
        }
        let set = |claim: &Self| -> FxHashSet<String> {
            claim.about().map(|token| token.term.clone()).collect()
        };
        let (mine, theirs) = (set(self), set(other));
        let differs = |claim: &Self, others: &FxHashSet<String>| {
            claim
                .about()
                .any(|token| token.kind != Kind::Word && !others.contains(&token.term))
        };
        if mine.is_empty() || theirs.is_empty() || differs(self, &theirs) || differs(other, &mine) {
            return 0.0;
        }
        let common = mine.intersection(&theirs).count();
        common as f64 / (mine.len() + theirs.len() - common) as f64
    }
}

/// How two claims contradict each other, if they do. Symmetric.
pub fn conflict(one: &Claim, other: &Claim) -> Option<Conflict> {
    let (a, b): (Vec<&Token>, Vec<&Token>) = (one.about().collect(), other.about().collect());
    if a.is_empty() || b.is_empty() {
        return None;
    }
    let same = |a: &[&Token], b: &[&Token]| {
        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.term == b.term)
    };
    if one.denied != other.denied {
        return same(&a, &b).then_some(Conflict::Negation);
    }
    if same(&a, &b) {
        return None;
    }
    let before = a
        .iter()
        .zip(&b)
        .take_while(|(a, b)| a.term == b.term)
        .count();
    let after = a[before..]
        .iter()
        .rev()
        .zip(b[before..].iter().rev())
        .take_while(|(a, b)| a.term == b.term)
        .count();
    let (left, right) = (&a[before..a.len() - after], &b[before..b.len() - after]);
    if before == 0 || left.is_empty() || right.is_empty() {
        return None;
    }
    // The difference must be in the predicate: claims about different subjects are compatible.
    let whole = |claim: &Claim, kind: fn(&Token) -> bool| claim.tokens.iter().any(kind);
    let single = whole(one, |it| it.single) && whole(other, |it| it.single);
    if swapped(left, right) {
        return single.then_some(Conflict::Value);
    }
    if left.len() > 2
        || right.len() > 2
        || !follows_verb(one, left[0])
        || !follows_verb(other, right[0])
    {
        return None;
    }
    let all = |kind: Kind| left.iter().chain(right).all(|token| token.kind == kind);
    let repeats = !single && (whole(one, |it| it.repeats) || whole(other, |it| it.repeats));
    if all(Kind::Date) {
        return (!repeats).then_some(Conflict::Date);
    }
    // A number and its unit: "512 MB" and "1 GB".
    if left[0].kind == Kind::Number && right[0].kind == Kind::Number {
        return (!repeats).then_some(Conflict::Value);
    }
    let owned = a[..before].iter().any(|token| token.owner);
    let copula = |claim| whole(claim, |it| words::is_copula(&it.term));
    let kinds = left[0].kind != Kind::Number && right[0].kind != Kind::Number;
    let is = copula(one) && copula(other);
    let named = || definite_value(one, other, a[before - 1], (left[0], right[0]));
    (kinds && (single || is && (owned || named()))).then_some(Conflict::Value)
}

/// Whether "the X is Y" and "the X is Z" give one thing two values: X is an attribute with one value ("password"), or
/// both values are names, identifiers or colours. "The car is red" and "the car is fast" are compatible.
fn definite_value(one: &Claim, other: &Claim, last: &Token, values: (&Token, &Token)) -> bool {
    let plural = |claim: &Claim| claim.tokens.iter().any(|it| it.term == text::term("are"));
    if !one.definite || !other.definite || plural(one) || plural(other) {
        return false;
    }
    let both = |kind: fn(&Token) -> bool| kind(values.0) && kind(values.1);
    words::is_attribute(&last.term)
        || both(|it| it.kind == Kind::Name)
        || both(|it| it.term.contains(|c: char| c.is_ascii_digit()))
        || both(|it| words::is_colour(&it.term))
}

/// Whether two parts have the same terms in another order, as in "tea to coffee" and "coffee to tea".
fn swapped(left: &[&Token], right: &[&Token]) -> bool {
    let sorted = |tokens: &[&Token]| {
        let mut terms: Vec<String> = tokens.iter().map(|token| token.term.clone()).collect();
        terms.sort_unstable();
        terms
    };
    left.len() == right.len() && sorted(left) == sorted(right)
}

/// Whether a verb stands before this token. If no verb of the claim is known, whether two tokens stand before it.
fn follows_verb(claim: &Claim, token: &Token) -> bool {
    let place = claim.tokens.iter().position(|it| std::ptr::eq(it, token));
    let before = &claim.tokens[..place.unwrap_or_default()];
    if claim.tokens.iter().any(|it| it.verb) {
        return before.iter().any(|it| it.verb);
    }
    before.len() >= 2
}
