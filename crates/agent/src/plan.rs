//! Plans: what an agent intends to do for the requests that it works on, step by step. They are part of its state, read
//! from what is recorded of each request.

use serde::Serialize;

use crate::context::{Called, Context, Outcome, Stage};
use crate::event::TurnId;
use crate::law::Law;
use crate::text;

/// The most bytes of a request in a plan.
const REQUEST: usize = 200;

/// What is planned for one request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Plan {
    /// The task of the request.
    pub turn: TurnId,
    /// What is to be done.
    pub goal: String,
    pub stage: Stage,
    /// The procedure of the law by which it is done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub procedure: Option<String>,
    pub steps: Vec<PlanStep>,
}

/// A call of a skill that is planned, under way or over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PlanStep {
    pub skill: String,
    pub state: StepState,
}

/// How far a step of a plan is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StepState {
    Planned,
    Running,
    Done,
    Failed,
}

impl Context {
    /// The plans for the requests that have been begun and not answered, in their order.
    pub(crate) fn plans(&self, law: &Law) -> Vec<Plan> {
        let mut turns: Vec<_> = self.turns.values().collect();
        turns.sort_by_key(|turn| turn.order);
        let plans = turns.into_iter().map(|turn| {
            let made = turn.rounds.iter().flat_map(|it| &it.calls);
            let mut steps: Vec<PlanStep> = made.map(PlanStep::of).collect();
            let procedure = turn.procedure.as_ref().map(|(name, _)| name.clone());
            let mut procedures = law.procedures.iter();
            if let Some(procedure) = procedures.find(|it| Some(&it.name) == procedure.as_ref()) {
                let left = procedure.steps.iter().skip(steps.len());
                let left: Vec<PlanStep> = left.map(|it| PlanStep::planned(&it.skill)).collect();
                steps.extend(left);
            }
            Plan {
                turn: turn.heard.turn.clone(),
                goal: text::bounded(&turn.heard.text, REQUEST),
                stage: turn.stage,
                procedure,
                steps,
            }
        });
        plans.collect()
    }
}

impl PlanStep {
    fn of(call: &Called) -> Self {
        let state = match (&call.outcome, call.effect) {
            (Some(Outcome::Gave(_)), _) => StepState::Done,
            (Some(Outcome::Failed(..)), _) => StepState::Failed,
            (None, Some(_)) => StepState::Running,
            (None, None) => StepState::Planned,
        };
        Self {
            skill: call.skill.clone(),
            state,
        }
    }

    fn planned(skill: &str) -> Self {
        Self {
            skill: skill.to_owned(),
            state: StepState::Planned,
        }
    }
}
