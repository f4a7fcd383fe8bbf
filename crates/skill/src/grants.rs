//! The grants of each skill: other skills, and the model.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use model::Model;

use crate::error::{DefinitionError, SkillError};
use crate::registry::Registry;

/// What each skill may use: what it was granted, or everything.
#[derive(Debug)]
pub struct Grants {
    offered: Registry,
    /// What is offered, and what only skills of the agent can call.
    all: Registry,
    some: HashMap<String, Registry>,
    model: Option<Arc<dyn Model>>,
    /// Who may use the model. None: all.
    model_for: Option<HashSet<String>>,
}

impl Grants {
    /// All skills may call all that are offered or hidden, except those that are granted some only.
    pub fn new(
        offered: Registry,
        hidden: &Registry,
        granted: &BTreeMap<String, Vec<String>>,
    ) -> Result<Self, DefinitionError> {
        let all = offered.clone().merge(hidden)?;
        let mut some = HashMap::new();
        for (skill, ids) in granted {
            known(&all, skill)?;
            let narrow = all.narrow(ids.iter().map(String::as_str))?;
            some.insert(skill.clone(), narrow);
        }
        Ok(Self {
            offered,
            all,
            some,
            model: None,
            model_for: None,
        })
    }

    /// The same, with a model for these skills. None: for all.
    pub fn with_model(
        mut self,
        model: Option<Arc<dyn Model>>,
        model_for: Option<&[String]>,
    ) -> Result<Self, DefinitionError> {
        for skill in model_for.into_iter().flatten() {
            known(&self.all, skill)?;
        }
        self.model = model;
        self.model_for = model_for.map(|skills| skills.iter().cloned().collect());
        Ok(self)
    }

    /// What callers can call.
    pub fn offered(&self) -> &Registry {
        &self.offered
    }

    /// Those that this skill may call.
    pub fn of(&self, skill: &str) -> &Registry {
        self.some.get(skill).unwrap_or(&self.all)
    }

    /// The model, without regard to grants.
    pub fn any_model(&self) -> Option<&Arc<dyn Model>> {
        self.model.as_ref()
    }

    /// The model, if this skill may use it.
    pub fn model(&self, skill: &str) -> Result<&Arc<dyn Model>, SkillError> {
        let granted = self.model_for.as_ref();
        if !granted.is_none_or(|skills| skills.contains(skill)) {
            let why = format!("skill {skill:?} may not use the language model: no grant names it");
            return Err(SkillError::coded("no-model", why));
        }
        let none = || SkillError::coded("no-model", "no language model is configured");
        self.model.as_ref().ok_or_else(none)
    }
}

fn known(all: &Registry, skill: &str) -> Result<(), DefinitionError> {
    match all.get(skill) {
        Some(_) => Ok(()),
        None => Err(DefinitionError::Unknown(skill.to_owned())),
    }
}
