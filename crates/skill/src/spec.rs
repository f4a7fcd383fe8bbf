//! The description of a skill in code: constants that are checked when the program is compiled.

use std::time::Duration;

use access::Permission;

/// What a skill says of itself.
///
/// ```
/// use skill::{Id, OneOrMore, Spec};
///
/// const SPEC: Spec = Spec::new(
///     Id::new("weather"),
///     "Weather",
///     "Tells the weather of a city.",
///     OneOrMore::new(&["weather"]),
///     OneOrMore::new(&["What is the weather in Riga?"]),
/// );
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spec {
    /// The name on every wire.
    pub id: Id,
    pub name: &'static str,
    /// What it does, for people, models and other agents.
    pub description: &'static str,
    /// Words to find it by.
    pub tags: OneOrMore,
    /// What one could ask for.
    pub examples: OneOrMore,
    pub traits: Traits,
    /// The permission that its callers need.
    pub needs: Needs,
    /// The scopes that its callers need beside the permission.
    pub scopes: &'static [&'static str],
}

/// The permission that callers of a skill need.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Needs {
    /// The one that fits its traits: [`Traits::permission`].
    #[default]
    ByTraits,
    /// None: every caller of the agent may have it called.
    Nothing,
    Permission(Permission),
}

impl Spec {
    /// A specification with the usual traits.
    pub const fn new(
        id: Id,
        name: &'static str,
        description: &'static str,
        tags: OneOrMore,
        examples: OneOrMore,
    ) -> Self {
        Self {
            id,
            name,
            description,
            tags,
            examples,
            traits: Traits::new(),
            needs: Needs::ByTraits,
            scopes: &[],
        }
    }

    /// The same for callers with this permission.
    pub const fn needs(mut self, needs: Needs) -> Self {
        self.needs = needs;
        self
    }

    /// The same for callers with all of these scopes.
    pub const fn scopes(mut self, scopes: &'static [&'static str]) -> Self {
        self.scopes = scopes;
        self
    }

    /// The same with other traits.
    pub const fn with(mut self, traits: Traits) -> Self {
        self.traits = traits;
        self
    }
}

/// The id of a skill: a lower-case DNS label of at most 63 letters, digits and hyphens. It is legal as an
/// A2A skill, an MCP tool, an ACP agent and a function of a model, and so it is never rewritten.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Id(&'static str);

impl Id {
    /// This id. Where it is not one the program does not compile, provided that a constant holds it.
    pub const fn new(id: &'static str) -> Self {
        assert!(
            is_label(id),
            "the id of a skill is a lower-case DNS label: 1 to 63 of a-z, 0-9 and '-', no '-' at either end"
        );
        Self(id)
    }

    pub const fn as_str(self) -> &'static str {
        self.0
    }
}

/// The length of the longest DNS label.
pub const MAX_LABEL: usize = 63;

/// Whether a text is a lower-case DNS label, as the ids of skills and agents are.
pub const fn is_label(text: &str) -> bool {
    let bytes = text.as_bytes();
    if bytes.is_empty() || bytes.len() > MAX_LABEL {
        return false;
    }
    let mut at = 0;
    while at < bytes.len() {
        let inner = at > 0 && at + 1 < bytes.len();
        match bytes[at] {
            b'a'..=b'z' | b'0'..=b'9' => {}
            b'-' if inner => {}
            _ => return false,
        }
        at += 1;
    }
    true
}

/// The ASCII letters and digits of a text in lower case, with one hyphen in place of everything between them. This is a
/// label ([`is_label`]) unless it is empty or longer than [`MAX_LABEL`].
pub fn to_label(text: &str) -> String {
    let words = text.split(|character: char| !character.is_ascii_alphanumeric());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    words.join("-").to_ascii_lowercase()
}

/// A list of texts that is not empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OneOrMore(&'static [&'static str]);

impl OneOrMore {
    /// This list. Where it is empty the program does not compile, provided that a constant holds it.
    pub const fn new(texts: &'static [&'static str]) -> Self {
        assert!(
            !texts.is_empty(),
            "a skill has at least one tag and one example"
        );
        Self(texts)
    }

    pub const fn texts(self) -> &'static [&'static str] {
        self.0
    }
}

/// How a skill behaves: what callers are told about it, and what its fence goes by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Traits {
    pub read_only: bool,
    /// What it changes may be lost for good.
    pub destructive: bool,
    /// To do it twice is to do it once.
    pub idempotent: bool,
    /// It reaches things outside of this server.
    pub open_world: bool,
    /// It can be begun again after a restart, with the answers it was given: an effect that must not be
    /// done twice is done in [`Context::once`](crate::Context::once).
    pub replayable: bool,
    /// A person agrees before it is done: the agent that runs it shows them what the skill
    /// [says it will do](crate::Registry::preview) and waits. The mark says so; it does not wait itself.
    pub approval: bool,
    /// A person agrees to each call by itself: an earlier decision never counts for a later call.
    pub ask_each_time: bool,
    /// It changes nothing but what the agent itself keeps: its memory, its timers, its letters. No approval is needed for
    /// that.
    pub own_state: bool,
    /// The other traits are the word of another server, which the manifest does not trust.
    pub claimed: bool,
    /// How long it may take, not counting what it waits for answers. None: what the fence says.
    pub timeout: Option<Duration>,
}

impl Traits {
    /// What is assumed of a skill that says nothing: it changes something, and not for the worse.
    pub const fn new() -> Self {
        Self {
            read_only: false,
            destructive: false,
            idempotent: false,
            open_world: false,
            replayable: false,
            approval: false,
            ask_each_time: false,
            own_state: false,
            claimed: false,
            timeout: None,
        }
    }

    /// The permission that callers need of a skill that names none. What another server claims of its tools counts for
    /// nothing: they may change everything.
    pub const fn permission(&self) -> Permission {
        if self.claimed {
            Permission::ExecuteCommands
        } else if self.read_only && self.open_world {
            Permission::Browse
        } else if self.read_only {
            Permission::ReadFiles
        } else if self.own_state {
            Permission::Remember
        } else {
            Permission::ExecuteCommands
        }
    }
}

impl Default for Traits {
    fn default() -> Self {
        Self::new()
    }
}
