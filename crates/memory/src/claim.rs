//! Claims: when two texts say the same, and when they cannot both be true. Pure, and without a model.
//!
//! A claim is a list of tokens without the words that only connect. Two claims contradict each other when they are the
//! same but for one thing: a negation, a number, a date, or the value of something that has one value at a time.

use rustc_hash::FxHashSet;

use crate::text::{self, date};

mod words;

use words::{negative_of, repeats, single_valued, verb};

/// In which way two claims cannot both be true.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conflict {
    /// One says that it is, the other that it is not.
    Negation,
    /// They give two values to what has one.
    Value,
    /// They give two times to what has one.
    Date,
}

impl Conflict {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Negation => "negation",
            Self::Value => "value",
            Self::Date => "date",
        }
    }
}

/// What a text claims.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    tokens: Vec<Token>,
    /// Whether it denies what its tokens say.
    denied: bool,
}

#[derive(Clone, Debug, PartialEq)]
struct Token {
    /// What the forms of the word have in common; numbers and times as they are.
    term: String,
    kind: Kind,
    verb: bool,
    /// It belongs to what follows: "Ada's", or a noun with "of" after it.
    owner: bool,
    /// An event that can happen again, as a verb in the past is.
    repeats: bool,
    /// A verb or a word that takes one value.
    single: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Word,
    Name,
    Number,
    Date,
}

/// The most tokens of a claim that are looked at: a longer text is a story, not a claim.
const MAX_TOKENS: usize = 48;

impl Claim {
    /// What a text claims, leaving out that it is being said again.
    pub fn of(text: &str) -> Self {
        let text = words::without_frame(text);
        let raw: Vec<&str> = text.split_whitespace().take(MAX_TOKENS * 2).collect();
        let mut claim = Self {
            tokens: Vec::new(),
            denied: false,
        };
        let mut place = 0;
        while place < raw.len() {
            let next = raw.get(place + 1).copied().unwrap_or_default();
            place += claim.take(raw[place], next, place == 0);
        }
        claim.tokens.truncate(MAX_TOKENS);
        claim
    }

    /// Takes a word in, and says how many it took.
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

    /// What it begins with: claims that contradict each other begin alike.
    pub(crate) fn subject(&self) -> Option<&str> {
        self.about().next().map(|token| &*token.term)
    }

    /// The tokens without those verbs that only connect: forms of "be", "do", "have" and the like.
    fn about(&self) -> impl Iterator<Item = &Token> {
        self.tokens
            .iter()
            .filter(|token| !words::connects(&token.term))
    }

    /// How alike two claims are, from 0 to 1: the share of their terms that they have in common. Claims that differ in
    /// a number, a date, a name or in whether they deny are not alike at all.
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

/// In which way two claims cannot both be true, if they cannot. The order does not matter.
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
    // What differs has to be what is said of something, and not what it is said of.
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
    (kinds && (single || owned && copula(one) && copula(other))).then_some(Conflict::Value)
}

/// Whether two parts have the same terms in another order: "tea to coffee", "coffee to tea".
fn swapped(left: &[&Token], right: &[&Token]) -> bool {
    let sorted = |tokens: &[&Token]| {
        let mut terms: Vec<String> = tokens.iter().map(|token| token.term.clone()).collect();
        terms.sort_unstable();
        terms
    };
    left.len() == right.len() && sorted(left) == sorted(right)
}

/// Whether a verb stands before this token; without a verb that is known, whether two tokens do.
fn follows_verb(claim: &Claim, token: &Token) -> bool {
    let place = claim.tokens.iter().position(|it| std::ptr::eq(it, token));
    let before = &claim.tokens[..place.unwrap_or_default()];
    if claim.tokens.iter().any(|it| it.verb) {
        return before.iter().any(|it| it.verb);
    }
    before.len() >= 2
}
