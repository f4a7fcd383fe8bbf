//! Conditions: `sel and not (a or b)`, `1 of sel_*`, `all of them`.

/// How selections are combined. Selections are known by their number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Condition {
    Is(usize),
    Not(Box<Condition>),
    All(Vec<Condition>),
    Any(Vec<Condition>),
}

/// The deepest nesting of parentheses and negations.
const DEEPEST: usize = 32;

impl Condition {
    pub(crate) fn holds(&self, selected: &dyn Fn(usize) -> bool) -> bool {
        match self {
            Self::Is(number) => selected(*number),
            Self::Not(inner) => !inner.holds(selected),
            Self::All(parts) => parts.iter().all(|it| it.holds(selected)),
            Self::Any(parts) => parts.iter().any(|it| it.holds(selected)),
        }
    }

    /// The selections without which it cannot hold.
    pub(crate) fn needed(&self, into: &mut Vec<usize>) {
        match self {
            Self::Is(number) => into.push(*number),
            Self::All(parts) => parts.iter().for_each(|it| it.needed(into)),
            Self::Any(parts) if parts.len() == 1 => parts.iter().for_each(|it| it.needed(into)),
            Self::Not(_) | Self::Any(_) => {}
        }
    }
}

/// Reads a condition over selections of these names; the problem is for the author of the rule.
pub(crate) fn parse(text: &str, names: &[&str]) -> Result<Condition, String> {
    let spaced = text.replace('(', " ( ").replace(')', " ) ");
    let mut parser = Parser {
        words: spaced.split_whitespace().collect(),
        at: 0,
        names,
        depth: 0,
    };
    let condition = parser.any()?;
    match parser.words.get(parser.at) {
        None => Ok(condition),
        Some(word) => Err(format!(
            "condition {text:?}: {word:?} is not expected there"
        )),
    }
}

struct Parser<'a> {
    words: Vec<&'a str>,
    at: usize,
    names: &'a [&'a str],
    depth: usize,
}

impl Parser<'_> {
    fn take(&mut self, word: &str) -> bool {
        let found = self
            .words
            .get(self.at)
            .is_some_and(|it| it.eq_ignore_ascii_case(word));
        self.at += usize::from(found);
        found
    }

    fn any(&mut self) -> Result<Condition, String> {
        let mut parts = vec![self.all()?];
        while self.take("or") {
            parts.push(self.all()?);
        }
        Ok(one_or(parts, Condition::Any))
    }

    fn all(&mut self) -> Result<Condition, String> {
        let mut parts = vec![self.not()?];
        while self.take("and") {
            parts.push(self.not()?);
        }
        Ok(one_or(parts, Condition::All))
    }

    fn not(&mut self) -> Result<Condition, String> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(format!("a condition is nested more than {DEEPEST} times"));
        }
        let made = match self.take("not") {
            true => Condition::Not(Box::new(self.not()?)),
            false => self.atom()?,
        };
        self.depth -= 1;
        Ok(made)
    }

    fn atom(&mut self) -> Result<Condition, String> {
        if self.take("(") {
            let inner = self.any()?;
            return match self.take(")") {
                true => Ok(inner),
                false => Err("a parenthesis is not closed".to_owned()),
            };
        }
        let Some(word) = self.words.get(self.at).copied() else {
            return Err("the condition ends where a selection is expected".to_owned());
        };
        self.at += 1;
        if self.take("of") {
            return self.group(word);
        }
        match self.names.iter().position(|it| *it == word) {
            Some(number) => Ok(Condition::Is(number)),
            None => Err(format!("there is no selection {word:?}")),
        }
    }

    /// `1 of sel_*`, `any of them`, `all of them`.
    fn group(&mut self, quantity: &str) -> Result<Condition, String> {
        let Some(pattern) = self.words.get(self.at).copied() else {
            return Err(format!("{quantity} of what?"));
        };
        self.at += 1;
        let fits = |name: &&str| match pattern.strip_suffix('*') {
            _ if pattern == "them" => !name.starts_with('_'),
            Some(prefix) => name.starts_with(prefix),
            None => *name == pattern,
        };
        let numbers = self.names.iter().enumerate().filter(|(_, name)| fits(name));
        let parts: Vec<Condition> = numbers.map(|(number, _)| Condition::Is(number)).collect();
        match quantity.to_ascii_lowercase().as_str() {
            _ if parts.is_empty() => Err(format!("no selection fits {pattern:?}")),
            "all" => Ok(one_or(parts, Condition::All)),
            "1" | "any" => Ok(one_or(parts, Condition::Any)),
            other => Err(format!(
                "{other:?} of {pattern} is not supported: use 1, any or all"
            )),
        }
    }
}

fn one_or(mut parts: Vec<Condition>, many: fn(Vec<Condition>) -> Condition) -> Condition {
    match parts.len() {
        1 => parts.remove(0),
        _ => many(parts),
    }
}
