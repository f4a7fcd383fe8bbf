//! The invariants of the model: told from what can be seen, and from what was seen before.

use a2a::types::TaskState;

use crate::agent_control;
use crate::client::{Answer, End, Heard, Request, Start, Told, What};
use crate::sight::{Sight, Status};

/// A rule for what is seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Rule {
    /// What was committed stays as it was.
    NothingLost,
    /// A task has at most one end, and nothing comes after it.
    OneEnd,
    /// From every cursor a stream gives exactly the rest, and nothing from beyond it.
    FromEveryCursor,
    /// A reader has every event once and in order, over cuts and restarts.
    Followed,
    /// What was taken from an agent is told once and in order; only the end of a process takes some of it.
    SaidOnce,
    /// What a caller was told of its message is so: it is kept once, or not at all.
    MessagesKept,
    /// Every message that is kept reaches the agent, and once.
    MessagesReach,
    /// A cancellation that was answered ended the task; one that was refused came after another end.
    CancelledOrNot,
    /// No caller waits when nothing more will come.
    ToldAtLast,
    /// A task that is neither over nor waiting for its caller is being worked on, also after a restart.
    WorkedOn,
    /// The journal lists what is worked on: the next process will find it.
    Listed,
    /// A message that is sent again opens no second task.
    OneTask,
    /// The task is the fold of its events.
    Folded,
    /// No caller gets an error without a cause.
    NoOtherError,
}

type Holds = fn(&Sight, &Sight) -> bool;

const RULES: [(Rule, Holds); 14] = [
    (Rule::NothingLost, nothing_lost),
    (Rule::OneEnd, |_, now| one_end(now.journal())),
    (Rule::FromEveryCursor, |_, now| from_every_cursor(now)),
    (Rule::Followed, |_, now| followed(now)),
    (Rule::SaidOnce, |_, now| said_once(now)),
    (Rule::MessagesKept, |_, now| messages_kept(now)),
    (Rule::MessagesReach, |_, now| messages_reach(now)),
    (Rule::CancelledOrNot, |_, now| cancelled_or_not(now)),
    (Rule::ToldAtLast, |_, now| told_at_last(now)),
    (Rule::WorkedOn, |_, now| worked_on(now)),
    (Rule::Listed, |_, now| {
        now.running == usize::from(now.tasks > 0 && works(now.state))
    }),
    (Rule::OneTask, |_, now| now.tasks <= 1),
    (Rule::Folded, |_, now| folded(now)),
    (Rule::NoOtherError, |_, now| no_other_error(now)),
];

/// The rules that do not hold.
pub(crate) fn broken(before: &Sight, now: &Sight) -> impl Iterator<Item = Rule> {
    let broken = |(rule, holds): (Rule, Holds)| (!holds(before, now)).then_some(rule);
    RULES.into_iter().filter_map(broken)
}

fn works(state: TaskState) -> bool {
    !state.is_terminal() && !state.is_interrupted()
}

fn nothing_lost(before: &Sight, now: &Sight) -> bool {
    let (earlier, later) = (before.journal(), now.journal());
    now.last >= before.last && later.starts_with(earlier)
}

fn one_end(journal: &[Told]) -> bool {
    let ends = |told: &Told| told.state().is_some_and(TaskState::is_terminal);
    let end = journal.iter().position(ends);
    end.is_none_or(|end| end + 1 == journal.len())
}

fn from_every_cursor(now: &Sight) -> bool {
    let journal = now.journal();
    let Some((ahead, present)) = now.resumed.split_last() else {
        return true;
    };
    let refused = matches!(&ahead.end, Some(End::Refused(Answer::Wrong(_))));
    let complete = journal.len() as u64 == now.last || !now.up;
    let rest = |(cursor, heard): (usize, &Heard)| {
        heard.events == journal[cursor.min(journal.len())..]
            && ends_rightly(cursor as u64, heard, now)
    };
    refused && ahead.events.is_empty() && complete && present.iter().enumerate().all(rest)
}

/// The state of the task after an event of this number.
fn state_at(now: &Sight, cursor: u64) -> TaskState {
    let until = now
        .journal()
        .iter()
        .take_while(|told| told.cursor <= cursor);
    until.filter_map(Told::state).last().unwrap_or_default()
}

/// A stream ends with its task or with a question, and not before.
fn ends_rightly(after: u64, heard: &Heard, now: &Sight) -> bool {
    let cursor = heard.events.last().map_or(after, |told| told.cursor);
    let state = state_at(now, cursor);
    match &heard.end {
        None => !state.is_terminal() && (cursor == now.last || !now.up),
        Some(End::Over) => state.ends_streams(),
        // A2A 3.1.6: there is nothing to subscribe to.
        Some(End::Refused(Answer::Over)) => now.state.is_terminal(),
        // The message came to nothing.
        Some(End::Refused(Answer::Nothing)) => now.turns.iter().any(|turn| turn.is_empty()),
        Some(_) => false,
    }
}

fn followed(now: &Sight) -> bool {
    let Some((start, heard)) = &now.reader else {
        return true;
    };
    let (after, events) = match (start, heard.events.split_first()) {
        (Start::After(cursor), _) => (*cursor, &heard.events[..]),
        (Start::Now, Some((first, rest))) if matches!(first.what, What::Task(_)) => {
            (first.cursor, rest)
        }
        (Start::Now, first) => {
            return first.is_none() && heard.end == Some(End::Refused(Answer::Over));
        }
    };
    // What the journal has told may be known from before a restart.
    let expected = now.journal().iter().skip_while(|told| told.cursor <= after);
    let mut known = expected.zip(events);
    let numbered = events
        .iter()
        .zip(after + 1..)
        .all(|(told, cursor)| told.cursor == cursor);
    numbered && known.all(|(told, heard)| told == heard) && ends_rightly(after, heard, now)
}

fn said_once(now: &Sight) -> bool {
    let told: Vec<usize> = now.journal().iter().filter_map(said).collect();
    let in_order = told.is_sorted_by(|a, b| a < b);
    let taken: Vec<usize> = now.turns.iter().flat_map(|turn| turn.said()).collect();
    let all_taken = told.iter().all(|number| taken.contains(number));
    let turns_now = now.turns_now().iter().flat_map(|turn| turn.said());
    let complete = !now.is_quiet() || turns_now.into_iter().all(|number| told.contains(&number));
    // A process that ends takes the end of what it was told, never something from the middle.
    let no_gap = now.turns_before().all(|turns| {
        let kept = turns.iter().flat_map(|turn| turn.said());
        kept.map(|number| told.contains(&number))
            .is_sorted_by(|a, b| a >= b)
    });
    in_order && all_taken && complete && no_gap
}

/// The number that an agent's artifact bears.
fn said(told: &Told) -> Option<usize> {
    match &told.what {
        What::Said(number) => number.parse().ok(),
        What::Task(_) | What::Status(_) => None,
    }
}

fn messages_kept(now: &Sight) -> bool {
    let Some(got) = &now.got else { return true };
    let kept = |number: usize| {
        let same = |text: &&String| **text == number.to_string();
        got.messages.iter().filter(same).count()
    };
    now.calls
        .iter()
        .all(|(asked, status)| match (asked, status) {
            (Request::Open, Status::Answered(Answer::Task(..))) => kept(0) == 1,
            (Request::Message(number), Status::Answered(Answer::Task(..))) => kept(*number) == 1,
            (Request::Message(number), Status::Answered(_)) => kept(*number) == 0,
            (Request::Message(number), _) => kept(*number) <= 1,
            _ => true,
        })
}

fn messages_reach(now: &Sight) -> bool {
    let turns = |text: &str| {
        let of_message = now.turns_now().iter().filter(|turn| turn.message == text);
        of_message.filter(|turn| !turn.is_empty()).count()
    };
    let once = now.turns_now().iter().all(|turn| turns(&turn.message) <= 1);
    // A process that ends while a message waits for an agent that asks leaves a task that waits for its caller: the
    // next message brings this one with it.
    let asks = now.starts.len() > 1 && now.state.is_interrupted();
    let idle = now.is_quiet() && now.at_work().is_none() && !now.state.is_terminal() && !asks;
    let reached = |text: &String| {
        // After a restart an agent gets the last message, and the others with the task.
        let found =
            |turn: &agent_control::Seen| now.starts.len() > 1 && turn.history.contains(text);
        now.turns
            .iter()
            .any(|turn| turn.message == *text || found(turn))
    };
    let all = now.got.iter().flat_map(|got| &got.messages).all(reached);
    once && (all || !idle)
}

fn cancelled_or_not(now: &Sight) -> bool {
    now.asked(Request::Cancel).all(|status| match status {
        Status::Answered(Answer::Task(state, _)) => {
            *state == TaskState::Canceled && now.state == TaskState::Canceled
        }
        Status::Answered(Answer::NotCancelable(state)) => {
            state.is_terminal() && *state != TaskState::Canceled && now.state == *state
        }
        Status::Answered(_) => false,
        Status::Waits | Status::Lost => true,
    })
}

fn told_at_last(now: &Sight) -> bool {
    let over = now.is_quiet() && (now.at_work().is_none() || now.state.is_terminal());
    let waits = |(_, status): &(Request, Status)| *status == Status::Waits;
    let answers_right = now.calls.iter().all(|(_, status)| match status {
        Status::Answered(Answer::Task(_, generation)) => generation.unsigned_abs() <= now.last,
        _ => true,
    });
    answers_right && !(over && now.calls.iter().any(waits))
}

fn worked_on(now: &Sight) -> bool {
    let rests = now.tasks == 0 || !works(now.state);
    rests || !now.is_quiet() || now.at_work().is_some()
}

fn folded(now: &Sight) -> bool {
    let Some(got) = &now.got else { return true };
    let told: Vec<String> = now
        .journal()
        .iter()
        .filter_map(|told| match &told.what {
            What::Said(text) => Some(text.clone()),
            What::Task(_) | What::Status(_) => None,
        })
        .collect();
    let current = !now.up || (got.generation == now.last && got.state == now.state);
    let last = state_at(now, got.generation);
    current && got.said == told && got.state == last
}

fn no_other_error(now: &Sight) -> bool {
    let failed = matches!(
        &now.reader,
        Some((
            _,
            Heard {
                end: Some(End::Failed(_) | End::Refused(Answer::Wrong(_))),
                ..
            }
        ))
    );
    let ended = now.state.is_terminal();
    !failed
        && now
            .calls
            .iter()
            .all(|(asked, status)| match (asked, status) {
                (_, Status::Answered(Answer::Wrong(_))) => false,
                (Request::Message(_), Status::Answered(Answer::Over)) => ended,
                (_, Status::Answered(Answer::Over)) => false,
                (Request::Open, Status::Answered(Answer::Nothing)) => {
                    now.turns.iter().any(|turn| turn.is_empty())
                }
                (_, Status::Answered(Answer::Nothing)) => false,
                _ => true,
            })
}
