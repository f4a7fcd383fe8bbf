//! What a manifest and a law file say after they were edited: it is offered to the agent, and becomes its law when an
//! operator accepts it.

use std::sync::Arc;

use memory::{Keep, Lasting, Layer, Memory, Reason};

use crate::context::Goal;
use crate::error::Error;
use crate::event::EventKind;
use crate::handle::AgentHandle;
use crate::journal;
use crate::law::{Law, Refused};
use crate::population::{Inner, Population, Profile};
use crate::step::AgentState;

/// The law and objectives of an edited manifest that were not accepted yet.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Offer {
    pub(crate) law: Arc<Law>,
    pub(crate) objectives: Vec<String>,
}

impl Offer {
    /// The offer of a profile to an agent that has stepper before. There is none if nothing was edited since the profile
    /// was last accepted, whatever has become of the law meanwhile.
    pub(crate) fn of(profile: &Profile, state: &AgentState) -> Option<Self> {
        let goals = state.context().goals().iter().map(|goal| &goal.text);
        let same_goals = goals.eq(&profile.objectives);
        let same_law =
            state.law() == &profile.law || state.manifest.as_deref() == Some(&profile.law);
        (!same_goals || !same_law).then(|| Self {
            law: Arc::new(profile.law.clone()),
            objectives: profile.objectives.clone(),
        })
    }

    /// What would change: a line for each value, with its place, the old and the new value.
    pub(crate) fn lines(&self, state: &AgentState) -> Vec<String> {
        let goals = state.context().goals().iter().map(|goal| goal.text.clone());
        let goals: Vec<String> = goals.collect();
        let mut lines = Vec::new();
        if goals != self.objectives {
            let quoted = |goals: &[String]| {
                let goals = goals.iter().map(|goal| format!("\"{goal}\""));
                goals.collect::<Vec<_>>().join(", ")
            };
            lines.push(format!(
                "objectives: [{}] -> [{}]",
                quoted(&goals),
                quoted(&self.objectives)
            ));
        }
        lines.extend(state.law().diff(&self.law));
        lines
    }
}

impl AgentHandle {
    /// What the edited manifest or law file would change, a line for each value. Empty if nothing is offered.
    pub async fn offered(&self) -> Result<Vec<String>, Error> {
        match self.population.0.offer(&self.id) {
            Some(offer) => self.look(move |state, _| offer.lines(state)).await,
            None => Ok(Vec::new()),
        }
    }

    /// Makes what the manifest and the law file say now the agent's law, its axioms and its objectives.
    pub async fn accept(&self, why: &str, by: &str) -> Result<Arc<Law>, Error> {
        let offer = self.population.0.offer(&self.id).ok_or(Error::NoOffer)?;
        if why.trim().is_empty() {
            return Err(Refused::Unjustified.into());
        }
        self.population
            .reserve(&self.id, &offer.law, Some(&offer.objectives))?;
        let goals = offer
            .objectives
            .iter()
            .map(|text| Goal { text: text.clone() });
        self.perceive(EventKind::Accepted {
            goals: goals.collect(),
            law: Box::new(Law::clone(&offer.law)),
            why: why.to_owned(),
            by: by.to_owned(),
        })
        .await?;
        self.population.0.withdraw_offer(&self.id);
        if let Some(memory) = &self.population.0.parts.memory {
            keep_axioms(memory, &self.id, &offer.law.frozen.axioms).await?;
        }
        Ok(offer.law)
    }
}

impl Population {
    /// Says what the manifest of an agent has now, without admitting it: for commands that open the data of a server that
    /// does not run.
    pub async fn offer(&self, profile: &Profile) -> Result<(), Error> {
        crate::law::meta::check(&profile.law)?;
        self.find(&profile.id).await?;
        let (state, _) = journal::replay(&self.0.parts.store, &profile.id).await?;
        if let Some(slot) = self.0.lock().get_mut(&profile.id) {
            slot.offer = Offer::of(profile, &state);
        }
        Ok(())
    }
}

impl Inner {
    /// What the manifest of an agent has now and its law has not.
    pub(crate) fn offer(&self, id: &str) -> Option<Offer> {
        self.lock().get(id).and_then(|slot| slot.offer.clone())
    }

    pub(crate) fn withdraw_offer(&self, id: &str) {
        if let Some(slot) = self.lock().get_mut(id) {
            slot.offer = None;
        }
    }
}

/// Makes the axioms in an agent's memory those of its law: others are forgotten, so that memory has no two that
/// contradict each other. The agent can read them and not change them.
pub(crate) async fn keep_axioms(memory: &Memory, id: &str, axioms: &[String]) -> Result<(), Error> {
    let failed = |error: memory::Error| Error::Record(error.to_string());
    let space = memory.space(id).map_err(failed)?.governed(memory);
    let held = space.records(|it| it.layer() == Layer::Axiom).await;
    let held = held.map_err(failed)?;
    for record in &held {
        if !axioms.contains(&record.content.text) {
            let why = "it is not an axiom of the law";
            space.forget(&record.id, why).await.map_err(failed)?;
        }
    }
    for axiom in axioms {
        if held.iter().any(|it| it.content.text == *axiom) {
            continue;
        }
        let reason = Reason::new(
            "manifest:axioms",
            1.0,
            "what always holds",
            "its manifest says so",
        );
        let reason = reason.expect("all of it is there");
        let keep = Keep {
            layer: Lasting::Axiom,
            ..Keep::belief(axiom, reason)
        };
        space.keep(keep).await.map_err(failed)?;
    }
    Ok(())
}
