//! Credentials in texts, by rules in the format of gitleaks: an expression, keywords that must be near, a least entropy, and
//! texts that are allowed. Only the id of the rule and a hash of the credential leave this module.

use aho_corasick::{AhoCorasick, AhoCorasickBuilder};
use regex::{Regex, RegexBuilder};
use serde::Deserialize;

use super::text::hash;
use crate::Error;

/// The largest compiled expression, in bytes.
const LARGEST: usize = 1 << 20;

/// A credential that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leak {
    /// The id of the rule.
    pub rule: String,
    /// By which it is told from others; the credential itself is not kept.
    pub hash: u64,
    /// Where it is in the text, in bytes.
    pub range: std::ops::Range<usize>,
}

/// Rules that find credentials.
#[derive(Clone, Debug)]
pub struct Secrets {
    rules: Vec<Rule>,
    /// The rules of each keyword; those without keywords are in `always`.
    keywords: Vec<Vec<usize>>,
    always: Vec<usize>,
    finder: AhoCorasick,
    allowed: Allowed,
}

#[derive(Clone, Debug)]
struct Rule {
    id: String,
    expression: Regex,
    group: usize,
    entropy: f64,
    allowed: Vec<Allowed>,
}

#[derive(Clone, Debug, Default)]
struct Allowed {
    expressions: Vec<Regex>,
    words: Vec<String>,
}

#[derive(Deserialize)]
struct File {
    #[serde(default)]
    rules: Vec<RuleForm>,
    #[serde(default)]
    allowlist: AllowForm,
}

#[derive(Deserialize)]
struct RuleForm {
    id: String,
    regex: String,
    #[serde(default)]
    entropy: f64,
    #[serde(default)]
    keywords: Vec<String>,
    #[serde(default, rename = "secretGroup")]
    group: usize,
    #[serde(default)]
    allowlist: Option<AllowForm>,
    #[serde(default)]
    allowlists: Vec<AllowForm>,
}

#[derive(Default, Deserialize)]
struct AllowForm {
    #[serde(default)]
    regexes: Vec<String>,
    #[serde(default)]
    stopwords: Vec<String>,
}

impl Secrets {
    /// Reads rules in the TOML of gitleaks. Paths and commits of its allow-lists mean nothing here and are passed over.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let file: File = toml::from_str(text).map_err(|error| Error::form("secrets", &error))?;
        let mut rules = Vec::new();
        let (mut words, mut keywords, mut always) = (Vec::new(), Vec::new(), Vec::new());
        for (number, form) in file.rules.into_iter().enumerate() {
            if form.keywords.is_empty() {
                always.push(number);
            }
            for word in &form.keywords {
                words.push(word.to_lowercase());
                keywords.push(vec![number]);
            }
            let lists = form.allowlist.iter().chain(&form.allowlists);
            rules.push(Rule {
                expression: expression(&form.id, &form.regex)?,
                allowed: lists
                    .map(|it| Allowed::read(&form.id, it))
                    .collect::<Result<_, _>>()?,
                id: form.id,
                group: form.group,
                entropy: form.entropy,
            });
        }
        let finder = AhoCorasickBuilder::new()
            .ascii_case_insensitive(true)
            .build(&words);
        Ok(Self {
            rules,
            keywords,
            always,
            finder: finder.map_err(|error| Error::form("secrets", &error))?,
            allowed: Allowed::read("allowlist", &file.allowlist)?,
        })
    }

    /// How many rules there are.
    pub fn len(&self) -> usize {
        self.rules.len()
    }

    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// The credentials in a text.
    pub fn find(&self, text: &str) -> Vec<Leak> {
        let mut due: Vec<usize> = self.always.clone();
        for hit in self.finder.find_overlapping_iter(text) {
            for rule in self
                .keywords
                .get(hit.pattern().as_usize())
                .into_iter()
                .flatten()
            {
                if !due.contains(rule) {
                    due.push(*rule);
                }
            }
        }
        due.sort_unstable();
        let rules = due.iter().filter_map(|it| self.rules.get(*it));
        let mut found: Vec<Leak> = Vec::new();
        for rule in rules {
            for leak in self.of_rule(rule, text) {
                if !found
                    .iter()
                    .any(|it| it.range.start < leak.range.end && leak.range.start < it.range.end)
                {
                    found.push(leak);
                }
            }
        }
        found
    }

    fn of_rule<'a>(&'a self, rule: &'a Rule, text: &'a str) -> impl Iterator<Item = Leak> + 'a {
        rule.expression
            .captures_iter(text)
            .filter_map(move |captures| {
                let whole = captures.get(0)?;
                let chosen = match rule.group {
                    0 => captures.iter().skip(1).flatten().next(),
                    group => captures.get(group),
                };
                let secret = chosen.unwrap_or(whole);
                let value = secret.as_str();
                let allowed = self.allowed.has(value, whole.as_str())
                    || rule.allowed.iter().any(|it| it.has(value, whole.as_str()));
                if allowed || entropy(value) < rule.entropy {
                    return None;
                }
                Some(Leak {
                    rule: rule.id.clone(),
                    hash: hash(value),
                    range: secret.range(),
                })
            })
    }

    /// The text with each credential replaced by the id of the rule that found it.
    pub fn redact(&self, text: &str) -> String {
        let mut leaks = self.find(text);
        leaks.sort_by_key(|it| it.range.start);
        let mut redacted = String::with_capacity(text.len());
        let mut from = 0;
        for leak in leaks {
            redacted.push_str(text.get(from..leak.range.start).unwrap_or_default());
            redacted.push_str(&format!("[{}]", leak.rule));
            from = leak.range.end;
        }
        redacted.push_str(text.get(from..).unwrap_or_default());
        redacted
    }
}

impl Allowed {
    fn read(id: &str, form: &AllowForm) -> Result<Self, Error> {
        let expressions = form.regexes.iter().map(|it| expression(id, it));
        Ok(Self {
            expressions: expressions.collect::<Result<_, _>>()?,
            words: form.stopwords.iter().map(|it| it.to_lowercase()).collect(),
        })
    }

    fn has(&self, secret: &str, whole: &str) -> bool {
        let small = secret.to_lowercase();
        self.words.iter().any(|it| small.contains(it.as_str()))
            || self
                .expressions
                .iter()
                .any(|it| it.is_match(secret) || it.is_match(whole))
    }
}

fn expression(id: &str, text: &str) -> Result<Regex, Error> {
    let built = RegexBuilder::new(text).size_limit(LARGEST).build();
    built.map_err(|error| Error::form(id, &error))
}

/// Bits for each character of a text.
fn entropy(text: &str) -> f64 {
    let mut counts = [0u32; 256];
    for byte in text.bytes() {
        counts[usize::from(byte)] += 1;
    }
    let length = text.len() as f64;
    let shares = counts
        .iter()
        .filter(|it| **it > 0)
        .map(|it| f64::from(*it) / length);
    shares.map(|it| -it * it.log2()).sum()
}
