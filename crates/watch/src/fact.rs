//! What rules see of an event: named fields with plain values. The list of fields is closed, so that a rule which names a
//! field that does not exist is refused when it is loaded instead of never matching.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

/// Declares the fields with their names and what they say.
macro_rules! fields {
    ($($variant:ident $name:literal $help:literal)*) => {
        /// A field of a fact, by which rules select.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum Field { $($variant),* }

        impl Field {
            /// All fields, in the order of the documentation.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// Its name in rules.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),* }
            }

            /// What it says, for people who write rules.
            pub fn help(self) -> &'static str {
                match self { $(Self::$variant => $help),* }
            }
        }
    };
}

fields! {
    Kind "kind" "heard, thought, called, done, failed, refused, ended, asked, decided, granted, remembered, proposed, law, rolled-back, paused, broken, secret"
    Agent "agent" "the id of the agent"
    Task "task" "the id of the task"
    Conversation "conversation" "the id of the conversation"
    Caller "caller" "the caller of the task, or the author of a proposal"
    Origin "origin" "user, agent or own: what kind of caller the task is of"
    Skill "skill" "the id of the skill"
    Effects "effects" "read, write, send, pay or run: what a call of the skill can do"
    Untrusted "untrusted" "true when the result comes from outside: a page, a mail, a tool server, another agent"
    InputHash "input_hash" "the input without its volatile members, as a hash"
    OutputHash "output_hash" "the output without its volatile members, as a hash"
    Shape "shape" "the output without figures and without words of the input, as a hash"
    Epoch "epoch" "how many changes that are new to the task came before"
    Similar "similar" "true when the input says the same as an earlier one of the task in other words"
    Empty "empty" "true when the result holds nothing"
    Cycle "cycle" "the length of the cycle that the last calls of the task form, when it was gone through three times"
    Stale "stale" "how many calls of the task in a row gave nothing that was not known"
    Code "code" "the code of a failure"
    Text "text" "what was said, given or written: beginning and end, at most 8 KiB"
    Bytes "bytes" "how long the whole text is"
    Tokens "tokens" "tokens of the thought, or of the whole task when it ended"
    TokensRatio "tokens_ratio" "tokens of the task, divided by the median of the last tasks of the agent"
    Ms "ms" "milliseconds of the call, or of the whole task without the time in which people were waited for"
    MsRatio "ms_ratio" "milliseconds of the task, divided by the median of the last tasks of the agent"
    BudgetShare "budget_share" "the used share of the budget, from 0 to 1"
    Calls "calls" "how many calls the task has made"
    End "end" "answered, refused, failed, not-approved or cancelled"
    Path "path" "the file that is written, moved or deleted"
    FileKind "file_kind" "test, lock, pipeline, hook, credential or other"
    Named "named" "true when people named the file or the target in the task"
    Command "command" "the command line"
    Destroys "destroys" "true when the command deletes or overwrites more than what a build makes"
    Target "target" "the place in the law that is to change"
    Frozen "frozen" "true when that place is in the frozen part"
    Secret "secret" "the id of the rule that found a credential"
    SecretHash "secret_hash" "a hash of the credential, by which it is told from others"
    Place "place" "output, file, input, memory or said: where the credential is"
    Injection "injection" "from 0 to 1: how much the text reads as orders to an assistant"
    TaskInjection "task_injection" "the highest such figure of results from outside in this task"
    Tainted "tainted" "true when the call has a target that only a result from outside names"
    Private "private" "true when the task has read private data before"
    SawUntrusted "saw_untrusted" "true when the task has read something from outside before"
    Approved "approved" "true when a person agreed to the call"
    Doubted "doubted" "true when what is remembered contradicts something held"
    Novel "novel" "true for the first use of the skill by the agent"
    Theme "theme" "the named theme with most terms in the task"
    ThemeTerms "theme_terms" "how many terms of the theme the task has used"
    Request "request" "the request of the task, as a hash"
}

impl Field {
    /// The field of a name.
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|it| it.name() == name)
    }
}

/// The value of a field.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Scalar {
    #[default]
    None,
    Flag(bool),
    Number(f64),
    Text(String),
}

impl Scalar {
    /// It as a text, as rules compare it; nothing if it is absent.
    pub fn text(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::None => None,
            Self::Flag(flag) => Some(Cow::Borrowed(if *flag { "true" } else { "false" })),
            Self::Number(number) => Some(Cow::Owned(number.to_string())),
            Self::Text(text) => Some(Cow::Borrowed(text)),
        }
    }

    /// It as a number, if it is one or reads as one.
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Text(text) => text.parse().ok(),
            Self::None | Self::Flag(_) => None,
        }
    }
}

impl From<&str> for Scalar {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Scalar {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<bool> for Scalar {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}

impl From<f64> for Scalar {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

/// One thing that happened, as rules see it. An event of a journal gives none, one or several.
#[derive(Clone, Debug, PartialEq)]
pub struct Fact {
    /// The journal it is from.
    pub stream: String,
    /// Its event in that journal.
    pub sequence: u64,
    /// When, in milliseconds since 1970: the time of the event, never of the clock.
    pub at: i64,
    /// In the order of [`Field::ALL`].
    values: Vec<Scalar>,
}

impl Fact {
    /// A fact without fields.
    pub fn new(stream: &str, sequence: u64, at: i64) -> Self {
        Self {
            stream: stream.to_owned(),
            sequence,
            at,
            values: vec![Scalar::None; Field::ALL.len()],
        }
    }

    /// The same with this field.
    #[must_use]
    pub fn with(mut self, field: Field, value: impl Into<Scalar>) -> Self {
        self.set(field, value);
        self
    }

    /// Gives a field a value.
    pub fn set(&mut self, field: Field, value: impl Into<Scalar>) {
        if let Some(place) = self.values.get_mut(field as usize) {
            *place = value.into();
        }
    }

    /// The value of a field.
    pub fn get(&self, field: Field) -> &Scalar {
        self.values.get(field as usize).unwrap_or(&Scalar::None)
    }

    /// The text of a field; empty if it is absent or no text.
    pub fn text(&self, field: Field) -> &str {
        match self.get(field) {
            Scalar::Text(text) => text,
            _ => "",
        }
    }

    /// Whether a field is true.
    pub fn is(&self, field: Field) -> bool {
        self.get(field) == &Scalar::Flag(true)
    }
}
