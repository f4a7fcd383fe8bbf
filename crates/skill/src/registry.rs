//! Skills by id. The holder of a registry can call what is in it and nothing else, so to give less is to
//! narrow.

use std::sync::Arc;

use futures_core::future::BoxFuture;
use indexmap::IndexMap;
use model::Tool;
use serde_json::Value;

use crate::context::Context;
use crate::definition::{Checked, Definition};
use crate::error::{DefinitionError, Fault, SkillError};
use crate::handler::{Handler, Typed};
use crate::reply::{Outcome, Reply};
use crate::skill::Skill;
use crate::spec::Traits;

/// Skills in the order in which they were added. Clones share them.
///
/// A registry is the right to call what is in it. There is no list of all skills besides, and no permission that is
/// checked elsewhere: an agent offers its registry, a skill gets one that was narrowed to its grants, a test makes its
/// own. To give less is to [`narrow`](Self::narrow); nothing can be added to a registry that was handed out, because every change
/// makes a new value.
///
/// A definition is checked when it is added, not when it is called: the id, the schemas (compiled once), tags and examples.
/// A server with a faulty skill therefore does not start, and a call needs no second check of the definition. An id stands for one skill;
/// a second one is an error and does not replace the first, since a tool of another server could otherwise take the
/// place of a skill that callers trust.
///
/// The order is that of the card, of `tools/list` and of a model's prompt, and the same after every start.
#[derive(Clone, Debug, Default)]
pub struct Registry {
    entries: Arc<IndexMap<String, Arc<Entry>>>,
}

/// A skill that can be called: its definition with the schemas compiled, and its handler.
#[derive(Debug)]
pub struct Entry {
    pub(crate) checked: Checked,
    pub(crate) handler: Arc<dyn Handler>,
}

impl Entry {
    /// What is said about the skill.
    pub fn definition(&self) -> &Definition {
        &self.checked.definition
    }

    /// The skill as a function of a language model, made once: a clone shares its schema.
    pub fn tool(&self) -> &Tool {
        &self.checked.tool
    }

    /// All that is wrong with an input.
    pub fn input_faults(&self, input: &Value) -> Vec<Fault> {
        self.checked.input_faults(input)
    }

    /// Runs the skill with input that has no faults. A panic is not caught, time is not limited, and the output is not
    /// checked: what runs calls does that.
    pub fn run(&self, input: Value, ctx: Context) -> BoxFuture<'static, Outcome> {
        self.handler.run(input, ctx)
    }

    /// An output of the skill as a text for people: what the skill makes of it, or its field `says`.
    pub fn tell(&self, output: &Value) -> Option<String> {
        let says = || {
            output
                .get("says")
                .and_then(Value::as_str)
                .map(str::to_owned)
        };
        self.handler.tell(output).or_else(says)
    }

    /// The reply, if its output is what the definition promises.
    pub fn check_output(&self, reply: Reply<Value>) -> Outcome {
        let Reply::Done(output) = &reply else {
            return Ok(reply);
        };
        let faults = self.checked.output_faults(output);
        if faults.is_empty() {
            return Ok(reply);
        }
        Err(SkillError::InvalidOutput {
            id: self.checked.definition.id.clone(),
            faults,
        })
    }
}

impl Registry {
    pub fn new() -> Self {
        Self::default()
    }

    /// With this skill, too.
    pub fn with<S: Skill>(self, skill: S) -> Result<Self, DefinitionError> {
        self.with_traits(skill, |_| {})
    }

    /// With this skill, and traits that depend on where it runs.
    pub fn with_traits<S: Skill>(
        self,
        skill: S,
        change: impl FnOnce(&mut Traits),
    ) -> Result<Self, DefinitionError> {
        let mut definition =
            Definition::new(&S::SPEC, schema::<S::Input>(), Some(schema::<S::Output>()));
        change(&mut definition.traits);
        self.with_handler(definition, Arc::new(Typed(Arc::new(skill))))
    }

    /// With a skill that is defined at run time: one that comes from elsewhere.
    pub fn with_handler(
        mut self,
        definition: Definition,
        handler: Arc<dyn Handler>,
    ) -> Result<Self, DefinitionError> {
        let checked = Checked::new(definition)?;
        let id = checked.definition.id.clone();
        if self.entries.contains_key(&id) {
            return Err(DefinitionError::Duplicate(id));
        }
        let entry = Arc::new(Entry { checked, handler });
        Arc::make_mut(&mut self.entries).insert(id, entry);
        Ok(self)
    }

    /// With all that another registry has.
    pub fn merge(mut self, other: &Self) -> Result<Self, DefinitionError> {
        for (id, entry) in &*other.entries {
            if self.entries.contains_key(id) {
                return Err(DefinitionError::Duplicate(id.clone()));
            }
            Arc::make_mut(&mut self.entries).insert(id.clone(), entry.clone());
        }
        Ok(self)
    }

    /// Only these, in the order they have here.
    pub fn narrow<'a>(
        &self,
        ids: impl IntoIterator<Item = &'a str>,
    ) -> Result<Self, DefinitionError> {
        let mut kept: Vec<usize> = Vec::new();
        for id in ids {
            let place = self.entries.get_index_of(id);
            kept.push(place.ok_or_else(|| DefinitionError::Unknown(id.to_owned()))?);
        }
        kept.sort_unstable();
        kept.dedup();
        let entries = kept.into_iter().filter_map(|place| {
            let (id, entry) = self.entries.get_index(place)?;
            Some((id.clone(), entry.clone()))
        });
        Ok(Self {
            entries: Arc::new(entries.collect()),
        })
    }

    /// What is said about a skill.
    pub fn get(&self, id: &str) -> Option<&Definition> {
        self.entries.get(id).map(|entry| &entry.checked.definition)
    }

    /// What is said about each, in a stable order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Definition> {
        self.entries.values().map(|entry| &entry.checked.definition)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The skills to be called, in a stable order.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = &Arc<Entry>> {
        self.entries.values()
    }

    /// A skill to be called, by its id.
    pub fn entry(&self, id: &str) -> Option<&Arc<Entry>> {
        self.entries.get(id)
    }
}

/// The schema of a type, without the name that Rust has for it.
pub(crate) fn schema<T: schemars::JsonSchema>() -> serde_json::Value {
    let mut schema = schemars::SchemaGenerator::default().into_root_schema_for::<T>();
    schema.remove("title");
    schema.into()
}
