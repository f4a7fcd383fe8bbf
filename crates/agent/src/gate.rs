//! Where the law of the agent is asked about a call, and a person where the law says so.

use access::{Permission, Refusal};
use serde_json::Value;
use skill::extension::QuestionKind;
use skill::{Context, Definition, Entry, QuestionAnswer, SkillError, UNCHANGED};

use crate::actor::Outcome;
use crate::approval::{self, Decision};
use crate::call::CallState;
use crate::context::Outcome as Came;
use crate::event::{Asking, CallFacts, EventKind, FurtherCall, Verdict};
use crate::handle::AgentHandle;
use crate::{limits, text, turn};

/// The gate of one agent: every call of a skill passes it, from a caller over any protocol, from the agent itself, or
/// from another skill.
///
/// The order is: the law judges the call, and nothing is recorded if it may be made or must not be. If a person has to
/// agree, the input is bound to the state it depends on, and the skill shows what it would do with that; both, and the
/// place of the call, become the record of the approval, which is durable before the question is shown. The answer is
/// read, input and preview are made once more and compared, and the decision is recorded, durable again, before the call
/// is made. So after a restart at any moment the journal says whether the person was asked and what they said, and
/// nothing is done that was not agreed to.
///
/// An answer counts for what was shown. Where the preview has changed, meanwhile or over a restart, the person is shown
/// the new one and asked again; an earlier message is not taken as the answer to that. What changes after the answer, in
/// a pause or over a restart, is noticed by the skill: the bound input names the state that was shown.
///
/// There is one question for one call, whatever the reasons to ask: the law, the marks of the skill, and a proposal of
/// the agent that its caller did not put into words.
#[derive(Clone, Debug)]
pub(crate) struct Gate {
    pub(crate) agent: AgentHandle,
    /// The agent has a law: what changes something is asked about.
    pub(crate) governed: bool,
    /// The manifest lets the skill be called without an approval.
    pub(crate) unasked: bool,
}

impl Gate {
    /// The input that a call may be made with.
    pub(crate) async fn pass(
        &self,
        entry: &Entry,
        input: &Value,
        ctx: &Context,
        state: &CallState,
    ) -> Result<Value, SkillError> {
        let definition = entry.definition();
        let skill = definition.id.clone();
        let place = format!("{}/{skill}#{}", ctx.scope(), ctx.count(&skill));
        let facts = CallFacts {
            person: turn::person(&ctx.caller()),
            ..self.facts(definition)
        };
        let wanted = |shown: &Shown| EventKind::Wanted {
            turn: ctx.task_id().into(),
            place: place.clone(),
            conversation: ctx.context_id(),
            skill: skill.clone(),
            input: input.clone(),
            marked: definition.traits.approval,
            by: ctx.caller().to_string(),
            shown: shown.text.clone(),
            facts: CallFacts {
                bound: (shown.bound != *input).then(|| shown.bound.clone()),
                further: shown.further.clone(),
                ..facts.clone()
            },
        };
        let mut shown = Shown {
            bound: self.bound(entry, input).await?,
            text: String::new(),
            further: Vec::new(),
            unchanged: false,
        };
        // During a pause this takes as long as the pause.
        let mut outcome = ctx.waiting(self.agent.judge(wanted(&shown))).await?;
        if settled(&outcome)?.is_some() && outcome.changed {
            outcome = ctx.waiting(self.perceive(wanted(&shown))).await?;
        }
        let mut note = String::new();
        loop {
            if let Some(input) = settled(&outcome)? {
                return Ok(input);
            }
            let further = further_of(&outcome);
            shown = preview_all(entry, input, &further, ctx).await?;
            if shown.changes_nothing() {
                return Ok(shown.bound);
            }
            outcome = ctx.waiting(self.perceive(wanted(&shown))).await?;
            let Some((Some(approval), Verdict::Ask(asking))) = &outcome.gate else {
                continue;
            };
            let (approval, asked_before) = (*approval, !outcome.changed);
            let question = question(&note, definition, input, asking, &shown.text);
            let form = approval::form(asking.grants);
            let asked =
                state.ask_recorded_elsewhere(question, form, asked_before, QuestionKind::Approval);
            let Some(given) = asked.await? else {
                // Withdrawn: the law may have decided meanwhile.
                outcome = ctx.waiting(self.agent.judge(wanted(&shown))).await?;
                continue;
            };
            let decision = match &given.answer {
                QuestionAnswer::Declined => {
                    Ok(Decision::Reject("the question was declined".to_owned()))
                }
                QuestionAnswer::Given(answer) => {
                    approval::decision(answer, definition, &shown.bound)
                }
            };
            note = match decision {
                // To say no lets nothing happen, and needs no permission.
                Ok(Decision::Approve(_) | Decision::Modify(_)) if !given.may_approve => {
                    let refusal = Refusal::permission(Permission::Approve);
                    format!("That does not count: {refusal}.\n")
                }
                Ok(Decision::Approve(_))
                    if differs(entry, input, &further, ctx, &shown).await? =>
                {
                    "That has changed meanwhile.\n".to_owned()
                }
                Ok(decision) => {
                    let decision = bind_modified(entry, decision).await?;
                    let decided = EventKind::Decided {
                        approval,
                        decision,
                        permission: right_of(&given.by, ctx).to_owned(),
                        by: given.by,
                        message: given.message,
                    };
                    outcome = ctx.waiting(self.perceive(decided)).await?;
                    String::new()
                }
                Err(problem) => format!("That cannot be used: {problem}\n"),
            };
        }
    }

    /// The conditions of an approval besides the law.
    fn facts(&self, definition: &Definition) -> CallFacts {
        let traits = &definition.traits;
        CallFacts {
            changes: self.governed && !traits.read_only && !traits.own_state,
            claimed: self.governed && traits.claimed,
            unasked: self.unasked && !traits.ask_each_time,
            each_time: traits.ask_each_time,
            version: approval::version(definition),
            person: String::new(),
            approval: uuid::Uuid::new_v4().to_string(),
            bound: None,
            further: Vec::new(),
        }
    }

    /// The input bound to the state it depends on. A skill that only reads or changes the agent itself depends on none.
    async fn bound(&self, entry: &Entry, input: &Value) -> Result<Value, SkillError> {
        let traits = &entry.definition().traits;
        match traits.read_only || traits.own_state {
            true => Ok(input.clone()),
            false => entry.bind(input.clone()).await,
        }
    }

    /// Tells the agent that a caller's call has ended. The results of its own calls are events of their effects.
    pub(crate) async fn called(
        &self,
        definition: &Definition,
        input: Value,
        outcome: &skill::Outcome,
        ctx: &Context,
    ) -> Result<(), SkillError> {
        let outcome = match outcome {
            Ok(reply) => {
                let gave = text::in_words(&recorded_output(&definition.id, turn::words(reply)));
                Came::Gave(Value::String(text::bounded(&gave, limits::LINE)))
            }
            Err(error) => {
                let why = text::bounded(&error.to_string(), limits::LINE);
                Came::Failed(error.code().to_owned(), why)
            }
        };
        let called = EventKind::Called {
            turn: ctx.task_id().into(),
            skill: definition.id.clone(),
            input: recorded(&definition.id, input),
            by: ctx.caller().to_string(),
            conversation: ctx.context_id(),
            outcome,
        };
        self.perceive(called).await.map(drop)
    }

    async fn perceive(&self, what: EventKind) -> Result<Outcome, SkillError> {
        Ok(self.agent.perceive(what).await?)
    }
}

/// The permission by which a person decides about a call: its own call, also through an agent that passes the answer on,
/// or that of another caller.
fn right_of(person: &str, ctx: &Context) -> &'static str {
    let caller = ctx.caller().to_string();
    let own = person == caller || person.ends_with(&format!(", through {caller}"));
    match own {
        true => Permission::Approve.name(),
        false => Permission::Operate.name(),
    }
}

/// The input to call the skill with, if that is settled; an error if the call may not be made.
fn settled(outcome: &Outcome) -> Result<Option<Value>, SkillError> {
    match outcome.gate.as_ref().ok_or_else(stopped)? {
        (_, Verdict::Go(input)) => Ok(Some(input.clone())),
        (_, Verdict::No(why)) => Err(SkillError::Refused(why.clone())),
        (_, Verdict::Rejected(why)) => Err(SkillError::NotApproved(why.clone())),
        (_, Verdict::Ask(_)) => Ok(None),
    }
}

/// The output of a call as the journal has it: of what was remembered, the record and what became of it; of what was
/// forgotten nothing.
fn recorded_output(skill: &str, output: Value) -> Value {
    match skill {
        "remember" => serde_json::json!({
            "outcome": output["outcome"], "record": output["record"],
        }),
        "forget" => Value::String("forgotten, or nothing to forget".to_owned()),
        _ => output,
    }
}

/// The input of a call as the journal has it. A text to remember or to forget is there by its hash: memory alone holds it,
/// and can forget it.
fn recorded(skill: &str, mut input: Value) -> Value {
    if matches!(skill, "remember" | "forget")
        && let Some(text) = input.get("text").and_then(Value::as_str)
    {
        input["text"] = serde_json::json!({ "sha256": crate::keeping::hash_of(text) });
    }
    input
}

/// What a person is shown of a call, and the input that this is about.
#[derive(PartialEq)]
struct Shown {
    bound: Value,
    text: String,
    /// Later steps of the same procedure that the text shows, too.
    further: Vec<FurtherCall>,
    /// The state is what the call would make of it.
    unchanged: bool,
}

impl Shown {
    /// Whether there is nothing to agree to.
    fn changes_nothing(&self) -> bool {
        self.unchanged && self.further.is_empty()
    }
}

/// Whether a call would do something else now than was shown, and something at all.
async fn differs(
    entry: &Entry,
    input: &Value,
    further: &[(String, Value)],
    ctx: &Context,
    shown: &Shown,
) -> Result<bool, SkillError> {
    let now = preview_all(entry, input, further, ctx).await?;
    Ok(now != *shown && !now.changes_nothing())
}

/// The later steps of a procedure that a question about this one can show.
fn further_of(outcome: &Outcome) -> Vec<(String, Value)> {
    match &outcome.gate {
        Some((_, Verdict::Ask(asking))) => asking.further.clone(),
        _ => Vec::new(),
    }
}

/// The preview of a call, and of later steps of its procedure that change something. A step that cannot be shown yet is asked
/// about when its turn comes.
async fn preview_all(
    entry: &Entry,
    input: &Value,
    further: &[(String, Value)],
    ctx: &Context,
) -> Result<Shown, SkillError> {
    let mut shown = preview(entry, input).await?;
    for (skill, input) in further {
        let Some(entry) = ctx.skills().entry(skill) else {
            continue;
        };
        let definition = entry.definition();
        if definition.traits.read_only || definition.traits.own_state {
            continue;
        }
        let Ok(next) = preview(entry, input).await else {
            continue;
        };
        let text = format!(
            "\nA later step of the same procedure, {skill}:\n{}",
            next.text
        );
        if shown.text.len() + text.len() > SHOWN {
            break;
        }
        shown.text.push_str(&text);
        shown.further.push(FurtherCall {
            skill: skill.clone(),
            input: input.clone(),
            bound: (next.bound != *input).then_some(next.bound),
            version: approval::version(definition),
        });
    }
    Ok(shown)
}

async fn preview(entry: &Entry, input: &Value) -> Result<Shown, SkillError> {
    let mut tries = 0;
    loop {
        let bound = entry.bind(input.clone()).await?;
        tries += 1;
        let mut unchanged = false;
        let text = match entry.preview(bound.clone()).await {
            Ok(preview) => preview.unwrap_or_else(|| text::in_words(input)),
            Err(error) if error.code() == UNCHANGED => {
                unchanged = true;
                error.to_string()
            }
            // The state has changed between the two.
            Err(error) if error.code() == "changed" && tries < TRIES && bound != *input => continue,
            // A call that is sure to fail is not worth a person's time.
            Err(error) => return Err(error),
        };
        let text = skill::visible(&text);
        if text.len() > SHOWN {
            let why = format!("there is more to see than the {SHOWN} bytes that a person is shown");
            return Err(SkillError::coded("too-much", why));
        }
        return Ok(Shown {
            bound,
            text,
            further: Vec::new(),
            unchanged,
        });
    }
}

/// How often a preview is made of something that changes meanwhile.
const TRIES: u8 = 3;

/// The input that a person gave instead is bound to the state of this moment.
async fn bind_modified(entry: &Entry, decision: Decision) -> Result<Decision, SkillError> {
    Ok(match decision {
        Decision::Modify(input) => Decision::Modify(entry.bind(input).await?),
        other => other,
    })
}

/// The question as the person reads it: what is to be called, what can be answered, and what it would do.
fn question(
    note: &str,
    definition: &Definition,
    input: &Value,
    asking: &Asking,
    shown: &str,
) -> String {
    let mut question = format!("{note}May I call {}?", definition.id);
    for it in &asking.notes {
        question.push(' ');
        question.push_str(it);
    }
    let session = match asking.grants {
        true => ", session (yes, also for the rest of this conversation)",
        false => "",
    };
    let example = approval::example(input);
    question.push_str(&format!(
        "\nAnswer yes, no (with a reason, if you like){session}, or modify with another input, for example: modify {example}\n{shown}"
    ));
    question
}

/// How much a person is shown of one call, in bytes. A call with a longer preview is refused.
const SHOWN: usize = 128 * 1024;

fn stopped() -> SkillError {
    SkillError::Interrupted("the agent did not say whether it may be done".to_owned())
}
