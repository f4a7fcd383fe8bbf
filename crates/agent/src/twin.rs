//! The difference between agents: rules, skills, objectives and views of memory, by what they mean. Names, descriptions, the
//! order of lists, capitals, blanks and punctuation make no difference.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use skill::Registry;

use crate::error::Error;
use crate::law::{Law, Refused};
use crate::population::{Inner, Population, Profile};
use crate::text;

/// The hash of everything in which two agents must differ: rules, skills, objectives, views.
pub(crate) type Print = [u8; 32];

/// What two agents are compared by, besides their laws.
#[derive(Clone, Debug)]
pub(crate) struct Traits {
    skills: Vec<String>,
    objectives: Vec<String>,
    views: Vec<String>,
}

impl Traits {
    pub(crate) fn of(profile: &Profile, skills: &Registry) -> Self {
        let ids = skills.iter().map(|it| it.id.clone());
        // Its own memory it sees anyway.
        let views = profile.views.iter().filter(|it| **it != profile.id);
        Self {
            skills: set(ids.chain(profile.gets.iter().cloned())),
            objectives: meanings(&profile.objectives),
            views: set(views.cloned()),
        }
    }

    /// The same with other objectives.
    pub(crate) fn for_objectives(&self, objectives: &[String]) -> Self {
        Self {
            objectives: meanings(objectives),
            ..self.clone()
        }
    }

    pub(crate) fn print(&self, law: &Law) -> Print {
        let Self {
            skills,
            objectives,
            views,
        } = self;
        let all = json!([rules(law), skills, objectives, views]);
        Sha256::digest(all.to_string().as_bytes()).into()
    }
}

impl Population {
    /// Lets an agent have a law, unless it would be the same as another agent then, whatever either of them remembers. Its
    /// print is that of the law from now on; [`Inner::settle_print`] corrects it if the law does not become so.
    pub(crate) fn reserve(
        &self,
        id: &str,
        law: &Law,
        objectives: Option<&[String]>,
    ) -> Result<(), Error> {
        match self.0.reprint(id, law, objectives) {
            Some(twin) => Err(Refused::Twin(twin).into()),
            None => Ok(()),
        }
    }
}

impl Inner {
    /// Gives an agent the print of a law, unless another agent has it: then says which.
    fn reprint(&self, id: &str, law: &Law, objectives: Option<&[String]>) -> Option<String> {
        let mut agents = self.lock();
        let slot = agents.get(id)?;
        let traits = slot.traits.as_ref()?;
        let traits = match objectives {
            Some(objectives) => traits.for_objectives(objectives),
            None => traits.clone(),
        };
        let print = traits.print(law);
        // What changes nothing makes no twin, also of agents that were alike before they were compared.
        let same = slot.print == print;
        let mut twins = agents.iter();
        let twin = twins.find(|(other, slot)| slot.print == print && *other != id && !same);
        if let Some((twin, _)) = twin {
            return Some(twin.clone());
        }
        if let Some(slot) = agents.get_mut(id) {
            slot.print = print;
            slot.traits = Some(traits);
        }
        None
    }

    /// Gives an agent the print of the law that it has.
    pub(crate) fn settle_print(&self, id: &str, law: &Law) {
        if let Some(slot) = self.lock().get_mut(id)
            && let Some(traits) = &slot.traits
        {
            slot.print = traits.print(law);
        }
    }
}

/// The rules of a law without what makes no difference to what they mean.
fn rules(law: &Law) -> Value {
    let mut law = law.clone();
    law.frozen.axioms = meanings(&law.frozen.axioms);
    law.frozen.never = set(law.frozen.never);
    law.frozen.always_ask = set(law.frozen.always_ask);
    for words in law.update.iter_mut().map(|it| &mut it.words) {
        *words = meanings(words);
    }
    for words in law.goal_priority.iter_mut().map(|it| &mut it.words) {
        *words = meanings(words);
    }
    for words in law.skill_selection.iter_mut().map(|it| &mut it.words) {
        *words = meanings(words);
    }
    for words in law.agent_choice.iter_mut().map(|it| &mut it.words) {
        *words = meanings(words);
    }
    for rule in &mut law.goal_conflict {
        rule.goal = meanings(&rule.goal);
        rule.request = meanings(&rule.request);
    }
    for timer in &mut law.timers {
        timer.request = text::plain(&timer.request);
    }
    if let Some(idle) = &mut law.idle {
        idle.request = text::plain(&idle.request);
    }
    json!(law)
}

fn meanings(texts: &[String]) -> Vec<String> {
    let plain = texts.iter().map(|it| text::plain(it));
    set(plain.filter(|it| !it.is_empty()))
}

fn set(items: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut items: Vec<String> = items.into_iter().collect();
    items.sort_unstable();
    items.dedup();
    items
}
