//! What each skill may call.

use std::collections::{BTreeMap, HashMap};

use crate::error::DefinitionError;
use crate::registry::Registry;

/// What each skill may call: what it was granted, or everything.
#[derive(Debug)]
pub(crate) struct Grants {
    all: Registry,
    some: HashMap<String, Registry>,
}

impl Grants {
    pub(crate) fn new(
        all: Registry,
        granted: &BTreeMap<String, Vec<String>>,
    ) -> Result<Self, DefinitionError> {
        let mut some = HashMap::new();
        for (skill, ids) in granted {
            if all.get(skill).is_none() {
                return Err(DefinitionError::Unknown(skill.clone()));
            }
            let narrow = all.narrow(ids.iter().map(String::as_str))?;
            some.insert(skill.clone(), narrow);
        }
        Ok(Self { all, some })
    }

    /// All skills of the agent.
    pub(crate) fn all(&self) -> &Registry {
        &self.all
    }

    /// Those that this skill may call.
    pub(crate) fn of(&self, skill: &str) -> &Registry {
        self.some.get(skill).unwrap_or(&self.all)
    }
}
