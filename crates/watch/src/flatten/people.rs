//! What people are asked and decide, and what becomes of the law and of memory, as facts.

use serde_json::Value;

use super::{CALLS, Work, task_of};
use crate::fact::Field;
use crate::record::{StoredApproval, StoredChange, StoredEdit, StoredEvent, StoredGrant, part};

impl Work<'_> {
    pub(super) fn asked(&mut self, change: &StoredChange<'_>) {
        let Some(approval) = part::<StoredApproval<'_>>(change.approval) else {
            return;
        };
        let (task, skill) = (approval.turn.into_owned(), approval.skill.into_owned());
        let at = self.at;
        self.trail(&task).waits.get_or_insert(at);
        let fact = self
            .of_task("asked", &task)
            .with(Field::Skill, skill.as_str());
        self.facts.push(fact);
        if self.own.approvals.len() >= CALLS {
            self.own.approvals.pop_first();
        }
        self.own.approvals.insert(approval.id, (task, skill));
    }

    pub(super) fn waits(&mut self, change: &StoredChange<'_>) {
        if let Some(task) = task_of(change) {
            let at = self.at;
            self.trail(&task).waits.get_or_insert(at);
        }
    }

    pub(super) fn decided(&mut self, event: &StoredEvent<'_>) {
        let Some((task, skill)) = event.approval.and_then(|it| self.own.approvals.remove(&it))
        else {
            return;
        };
        let decision = event.decision.map_or("", |it| it.get());
        let approved = !decision.contains("\"reject\"");
        self.goes_on(&task);
        if approved {
            self.trail(&task).approved.insert(skill.clone());
        }
        let fact = self
            .of_task("decided", &task)
            .with(Field::Skill, skill)
            .with(Field::Caller, event.by.as_deref().unwrap_or_default())
            .with(Field::Approved, approved);
        self.facts.push(fact);
    }

    pub(super) fn answered(&mut self, event: &StoredEvent<'_>) {
        if let Some(task) = event.turn.as_deref().map(str::to_owned) {
            self.goes_on(&task);
        }
        let said = event.text.as_deref().unwrap_or_default();
        for trail in self.own.tasks.values_mut().filter(|it| it.waits.is_some()) {
            trail.hear(said);
            trail.waited += self.at - trail.waits.take().unwrap_or(self.at);
        }
    }

    /// A person has answered: the time until then is not the agent's.
    pub(super) fn goes_on(&mut self, task: &str) {
        let at = self.at;
        if let Some(trail) = self.own.tasks.get_mut(task)
            && let Some(since) = trail.waits.take()
        {
            trail.waited += at - since;
        }
        // The call that waited is not slow either.
        let calls = self.own.calls.values_mut().filter(|it| it.task == task);
        calls.for_each(|it| it.at = at);
    }

    pub(super) fn granted(&mut self, change: &StoredChange<'_>) {
        if let Some(grant) = part::<StoredGrant<'_>>(change.grant) {
            let fact = self
                .fact("granted")
                .with(Field::Skill, &*grant.skill)
                .with(Field::Caller, &*grant.by);
            self.facts.push(fact);
        }
    }

    pub(super) fn proposed(&mut self, event: &StoredEvent<'_>) {
        let Some(edit) = part::<StoredEdit<'_>>(event.edit) else {
            return;
        };
        let target = &*edit.target;
        let frozen =
            target == "frozen" || target.starts_with("frozen.") || target.starts_with("frozen[");
        let mut fact = self
            .fact("proposed")
            .with(Field::Target, target)
            .with(Field::Frozen, frozen)
            .with(Field::Caller, event.by.as_deref().unwrap_or_default())
            .with(Field::Approved, event.ordered_by.is_some());
        if let Some(refused) = event.refused.as_deref() {
            fact.set(Field::Code, refused);
        }
        let fact = self.text(fact, &edit.justification);
        self.facts.push(fact);
    }

    pub(super) fn gate(&mut self, change: &StoredChange<'_>) {
        if change.step.is_some_and(|it| it.get().contains("rolled")) {
            self.plain("rolled-back", "");
        }
    }

    pub(super) fn rolled_back(&mut self, event: &StoredEvent<'_>) {
        let by = event.by.as_deref().unwrap_or_default();
        let fact = self
            .fact("rolled-back")
            .with(Field::Caller, by)
            .with(Field::Approved, true);
        self.facts.push(fact);
    }

    pub(super) fn remembered(&mut self, event: &StoredEvent<'_>) {
        let outcomes: Value = part(event.outcomes).unwrap_or_default();
        let outcomes = outcomes.as_array().map(Vec::as_slice).unwrap_or_default();
        let doubted = outcomes
            .iter()
            .any(|it| !it["against_record"].is_null() || it["outcome"] == "doubted");
        let fact = self.fact("remembered").with(Field::Doubted, doubted);
        self.facts.push(fact);
    }
}
