//! Invariants of a space under random sequences of writes.

use proptest::prelude::*;

use super::claim::{Claim, conflict};
use super::decide::{self, Keep, Outcome};
use super::layer::{Lasting, Layer};
use super::reason::Reason;
use super::record::{Content, Kept, RecordId, Standing};
use super::rules::Rules;
use super::space::{Change, Space};
use super::text::date::{DAY, Millis};
use super::viewer::Viewer;

/// An operation on a space.
#[derive(Clone, Copy, Debug)]
enum Deed {
    Observe(usize, usize),
    Keep(usize, usize, f64, Lasting),
    Use(usize, u32),
    Forget(usize),
    Expire,
    Wait(Millis),
}

/// Claims that confirm and contradict each other in many ways.
const SAYINGS: [&str; 14] = [
    "The API listens on port 8080.",
    "The API listens on port 9090.",
    "The API listens on port 7070.",
    "As I said, the API listens on port 8080",
    "Ada likes coffee.",
    "Ada does not like coffee.",
    "Remember that Ada likes coffee!",
    "The concert is on 9 June 2024.",
    "The concert is on 16 June 2024.",
    "Bob lives in Lisbon.",
    "Bob lives in Porto.",
    "Bob lives in Rome.",
    "The cache is enabled.",
    "The cache is disabled.",
];

const SOURCES: [&str; 4] = ["user:ada", "tool:terminal", "own", "user:bob"];

fn deeds() -> impl Strategy<Value = Vec<Deed>> {
    let layer = prop_oneof![4 => Just(Lasting::Belief), 1 => Just(Lasting::Procedure), 1 => Just(Lasting::Axiom)];
    let deed = prop_oneof![
        2 => (0..SAYINGS.len(), 0..SOURCES.len()).prop_map(|(said, by)| Deed::Observe(said, by)),
        5 => (0..SAYINGS.len(), 0..SOURCES.len(), 0.0..1.0_f64, layer)
            .prop_map(|(said, by, sure, layer)| Deed::Keep(said, by, sure, layer)),
        3 => (0..40_usize, 1..4_u32).prop_map(|(place, times)| Deed::Use(place, times)),
        1 => (0..40_usize).prop_map(Deed::Forget),
        1 => Just(Deed::Expire),
        1 => (0..400_i64).prop_map(|days| Deed::Wait(days * DAY)),
    ];
    proptest::collection::vec(deed, 1..60)
}

/// A space under test, with a clock that the test sets.
#[derive(Default)]
struct World {
    space: Space,
    rules: Rules,
    now: Millis,
    given: u32,
}

impl World {
    fn fresh(&mut self) -> RecordId {
        self.given += 1;
        RecordId::new(format!("{:04}", self.given))
    }

    fn id(&self, place: usize) -> Option<RecordId> {
        self.space
            .records()
            .nth(place)
            .map(|record| record.id.clone())
    }

    fn apply(&mut self, changes: Vec<Change>) {
        changes
            .into_iter()
            .for_each(|change| self.space.apply(change));
    }

    fn perform(&mut self, deed: Deed) {
        self.now += 1000;
        let (now, rules) = (self.now, self.rules.clone());
        match deed {
            Deed::Wait(time) => self.now += time,
            Deed::Observe(said, by) => {
                let mut content = Content::text(SAYINGS[said]);
                content.source = Some(SOURCES[by].to_owned());
                let id = self.fresh();
                let record =
                    decide::observe(&self.space, content, &Viewer::All, &rules, now, id).unwrap();
                self.apply(vec![Change::Insert(record)]);
            }
            Deed::Keep(said, by, sure, layer) => {
                let id = self.fresh();
                let reason =
                    Reason::new(SOURCES[by], sure, "what is it?", "it may be asked").unwrap();
                let keep = Keep {
                    content: Content::text(SAYINGS[said]),
                    layer,
                    reason,
                    from: Vec::new(),
                };
                if let Ok((changes, _)) =
                    decide::keep(&self.space, keep, &Viewer::All, &rules, now, id)
                {
                    self.apply(changes);
                }
            }
            Deed::Use(place, times) => {
                let id = self.fresh();
                if let Some(used) = self.id(place) {
                    let changes = decide::used(
                        &self.space,
                        &used,
                        times,
                        ("what?", &Viewer::All),
                        &rules,
                        now,
                        || id,
                    );
                    self.apply(changes);
                }
            }
            Deed::Forget(place) => {
                if let Some(id) = self.id(place) {
                    let record = self.space.get(&id).unwrap().clone();
                    let changes = decide::forget(&self.space, &record, "no longer of use", now);
                    self.apply(changes);
                }
            }
            Deed::Expire => {
                let changes = decide::expire(&self.space, &rules, now);
                self.apply(changes);
            }
        }
    }

    /// Asserts all invariants of the space.
    fn check(&self) -> Result<(), TestCaseError> {
        let mut certain: Vec<(Claim, &str)> = Vec::new();
        for record in self.space.records() {
            match &record.standing {
                Standing::Kept(kept) => {
                    let reason = &kept.reason;
                    for part in [reason.source(), reason.context(), reason.why()] {
                        prop_assert!(!part.trim().is_empty());
                    }
                    prop_assert!((0.0..=1.0).contains(&reason.confidence()));
                    prop_assert!(record.layer() >= Layer::Belief);
                    if kept.certain() {
                        certain.push((Claim::of(&record.content.text), &record.content.text));
                    }
                }
                Standing::Working { .. } | Standing::Observed => {}
            }
            prop_assert!(self.space.tombstone(&record.id).is_none());
            prop_assert!(record.echo.is_none() || record.layer() <= Layer::Working);
        }
        for (place, (one, text)) in certain.iter().enumerate() {
            for (other, against) in &certain[place + 1..] {
                prop_assert!(
                    conflict(one, other).is_none(),
                    "{text:?} and {against:?} are both certain"
                );
            }
        }
        for tombstone in self.space.tombstones() {
            prop_assert!(!tombstone.why.trim().is_empty());
        }
        let audit = crate::audit::audit(&self.space, &Viewer::All, &self.rules);
        prop_assert_eq!(
            (audit.unsettled, audit.without_reason, audit.recall_loops),
            (0, 0, 0)
        );
        Ok(())
    }
}

proptest! {
    #[test]
    fn layers_and_reasons_hold_and_contradictions_are_never_both_certain(deeds in deeds()) {
        let mut world = World::default();
        for deed in deeds {
            world.perform(deed);
            world.check()?;
        }
        world.perform(Deed::Expire);
        world.check()?;
    }
}

fn belief(text: &str, source: &str, sure: f64) -> Keep {
    Keep::belief(
        text,
        Reason::new(source, sure, "what is it?", "it may be asked").unwrap(),
    )
}

impl World {
    fn keep(&mut self, keep: Keep) -> Outcome {
        self.now += 1000;
        let id = self.fresh();
        let (changes, outcome) =
            decide::keep(&self.space, keep, &Viewer::All, &self.rules, self.now, id).unwrap();
        self.apply(changes);
        outcome
    }

    fn kept(&self, outcome: &Outcome) -> &Kept {
        self.space
            .get(outcome.id())
            .and_then(|record| record.kept())
            .unwrap()
    }
}

#[test]
fn another_source_confirms_and_the_same_one_does_not() {
    let mut world = World::default();
    let first = world.keep(belief("Ada likes coffee.", "user:ada", 0.5));
    assert!(matches!(first, Outcome::Kept(_)));
    let same = world.keep(belief("Remember that Ada likes coffee", "user:ada", 0.9));
    assert_eq!(same, Outcome::Known(first.id().clone()));
    assert_eq!(world.kept(&first).reason.confidence(), 0.5);
    let other = world.keep(belief("Ada likes coffee", "user:bob", 0.5));
    assert_eq!(other, Outcome::Corroborated(first.id().clone()));
    assert!(world.kept(&first).reason.confidence() > 0.5);
}

#[test]
fn a_newer_claim_puts_an_older_one_in_doubt_unless_that_is_much_surer() {
    let mut world = World::default();
    let old = world.keep(belief("Bob lives in Lisbon.", "user:bob", 0.6));
    let new = world.keep(belief("Bob lives in Porto.", "user:bob", 0.6));
    assert!(!world.kept(&old).certain() && world.kept(&new).certain());
    let rumour = world.keep(belief("Bob lives in Rome.", "tool:web", 0.2));
    assert!(matches!(rumour, Outcome::Doubted(_)));
    assert!(world.kept(&new).certain());
}

#[test]
fn forgetting_what_was_against_it_takes_the_doubt_away() {
    let mut world = World::default();
    let old = world.keep(belief("The cache is enabled.", "user:ada", 0.6));
    let new = world.keep(belief("The cache is disabled.", "user:bob", 0.6));
    assert!(!world.kept(&old).certain());
    let record = world.space.get(new.id()).unwrap().clone();
    let changes = decide::forget(&world.space, &record, "it was a mistake", world.now);
    world.apply(changes);
    assert!(world.kept(&old).certain());
    assert_eq!(
        world.space.tombstone(new.id()).unwrap().why,
        "it was a mistake"
    );
}

#[test]
fn what_is_used_and_said_by_several_becomes_a_belief() {
    let mut world = World::default();
    let observe = |world: &mut World, source: &str| {
        let mut content = Content::text("The API listens on port 8080.");
        content.source = Some(source.to_owned());
        let id = world.fresh();
        let record = decide::observe(
            &world.space,
            content,
            &Viewer::All,
            &world.rules,
            world.now,
            id.clone(),
        )
        .unwrap();
        world.apply(vec![Change::Insert(record)]);
        id
    };
    let seen = observe(&mut world, "user:ada");
    observe(&mut world, "tool:terminal");
    for _ in 0..2 {
        world.perform(Deed::Use(0, 1));
    }
    assert_eq!(world.space.get(&seen).unwrap().layer(), Layer::Working);
    for _ in 0..2 {
        world.perform(Deed::Use(0, 1));
    }
    let beliefs: Vec<_> = world
        .space
        .records()
        .filter_map(|record| record.kept())
        .collect();
    assert_eq!(beliefs.len(), 1);
    assert_eq!(beliefs[0].from, std::slice::from_ref(&seen));
    assert_eq!(beliefs[0].reason.context(), "what?");
    // Forgetting the source forgets the conclusions that only it supported.
    let record = world.space.get(&seen).unwrap().clone();
    let changes = decide::forget(&world.space, &record, "asked to", world.now);
    world.apply(changes);
    assert_eq!(
        world
            .space
            .records()
            .filter(|record| record.kept().is_some())
            .count(),
        0
    );
}

#[test]
fn an_unused_record_fades_and_is_forgotten_with_a_tombstone_and_axioms_stay() {
    let mut world = World::default();
    let faded = world.keep(belief("Bob lives in Lisbon.", "user:bob", 0.9));
    let mut axiom = belief("The agent does no harm.", "operator", 1.0);
    axiom.layer = Lasting::Axiom;
    let axiom = world.keep(axiom);
    world.now += 3000 * DAY;
    world.perform(Deed::Expire);
    assert!(world.space.get(faded.id()).is_none());
    assert!(
        world
            .space
            .tombstone(faded.id())
            .unwrap()
            .why
            .contains("unused")
    );
    assert!(world.space.get(axiom.id()).is_some());
}

#[test]
fn working_memory_has_an_end_and_a_size() {
    let mut world = World::default();
    world.rules.working_capacity = 2;
    for said in [0, 4, 7, 9] {
        world.perform(Deed::Observe(said, 0));
    }
    for place in 0..4 {
        world.perform(Deed::Use(place, 2));
    }
    let working = |world: &World| {
        world
            .space
            .records()
            .filter(|it| it.layer() == Layer::Working)
            .count()
    };
    assert_eq!(working(&world), 4);
    world.perform(Deed::Expire);
    assert_eq!(working(&world), 2);
    world.now += 2 * DAY;
    world.perform(Deed::Expire);
    assert_eq!(working(&world), 0);
}

#[test]
fn what_was_recalled_and_is_said_again_by_the_agent_is_an_echo() {
    let mut world = World::default();
    world.perform(Deed::Observe(9, 0));
    let before = world.keep(belief("I recall that Bob lives in Lisbon", "own", 0.9));
    assert!(
        matches!(before, Outcome::Kept(_)),
        "nothing was recalled yet: {before:?}"
    );
    let mut world = World::default();
    world.perform(Deed::Observe(9, 0));
    world.perform(Deed::Use(0, 1));
    let seen = world.id(0).unwrap();
    let echo = world.keep(belief("I recall that Bob lives in Lisbon", "own", 0.9));
    assert_eq!(echo, Outcome::Echo(seen.clone()));
    // With the evidence named in `from`, it is a conclusion and not an echo.
    let mut concluded = belief("Bob lives in Lisbon.", "own", 0.9);
    concluded.from = vec![seen.clone()];
    assert!(matches!(world.keep(concluded), Outcome::Kept(_)));
}
