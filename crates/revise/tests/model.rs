//! The gate at a small size, in every order of events: no major change is adopted without a person, no two adoptions are
//! closer than the rate limit, and there is always a version to return to. What is explored are the real steps and the
//! real fold. A restart is that fold once more, which the property tests compare.

use std::hash::{Hash, Hasher};

use revise::{Decision, Event, Gate, Limits, Open, Outcome, Verdict, VersionNumber};
use stateright::{Checker as _, Model, Property};

const LIMITS: Limits = Limits {
    every: 3,
    canary: 2,
    tolerance: 0.1,
};

/// At most this many events in a row.
const LENGTH: usize = 9;

/// A gate, and what an observer has seen of it.
#[derive(Clone, Debug)]
struct World {
    gate: Gate,
    /// Which proposal a person has approved.
    approved: Option<u64>,
    /// Episodes so far, and when a proposal was adopted that was no undo.
    episodes: u64,
    adoptions: Vec<u64>,
    faults: Vec<&'static str>,
    events: usize,
}

impl World {
    /// The gate has floating-point numbers, so worlds are compared by what they print.
    fn text(&self) -> String {
        format!("{self:?}")
    }

    fn tell(&mut self, event: &Event) -> bool {
        let Ok(step) = self.gate.next(&LIMITS, event) else {
            return false;
        };
        let open: Option<Open> = self.gate.open().cloned();
        if let Event::Decided { proposal, .. } = event {
            self.approved = Some(proposal.0);
        }
        if let Event::Scored { .. } = event {
            self.episodes += 1;
        }
        for change in &step.changes {
            self.gate.apply(change);
        }
        if let (Some(open), Some(closed)) = (open, self.gate.closed().last())
            && closed.proposal.id == open.id
            && matches!(closed.outcome, Outcome::Adopted(_))
        {
            self.note_adoption(&open);
        }
        self.events += 1;
        true
    }

    fn note_adoption(&mut self, open: &Open) {
        let ordered = open.ordered_by.is_some();
        if open.major && !ordered && self.approved != Some(open.id.0) {
            self.faults.push("a major change without a person");
        }
        if open.undoes.is_none() && !ordered {
            let last = self.adoptions.last();
            if last.is_some_and(|last| self.episodes - last < LIMITS.every) {
                self.faults.push("two adoptions too close");
            }
            self.adoptions.push(self.episodes);
        }
    }
}

impl PartialEq for World {
    fn eq(&self, other: &Self) -> bool {
        self.text() == other.text()
    }
}

impl Hash for World {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.text().hash(state);
    }
}

struct Changing;

fn proposed(candidate: &str, major: bool, undoes: Option<u64>) -> Event {
    Event::Proposed {
        by: "reflector".to_owned(),
        candidate: candidate.to_owned(),
        major,
        undoes: undoes.map(VersionNumber),
        ordered_by: None,
    }
}

/// The order of a person, which comes before a proposal that is under way.
fn ordered() -> Event {
    Event::Proposed {
        by: "ada".to_owned(),
        candidate: "v3".to_owned(),
        major: true,
        undoes: None,
        ordered_by: Some("ada".to_owned()),
    }
}

impl Model for Changing {
    type State = World;
    type Action = Event;

    fn init_states(&self) -> Vec<World> {
        vec![World {
            gate: Gate::new("v0"),
            approved: None,
            episodes: 0,
            adoptions: Vec::new(),
            faults: Vec::new(),
            events: 0,
        }]
    }

    fn actions(&self, world: &World, actions: &mut Vec<Event>) {
        if world.events >= LENGTH {
            return;
        }
        let mut events = vec![
            Event::Scored { score: 0.0 },
            Event::Scored { score: 1.0 },
            Event::Restored {
                to: VersionNumber(1),
                by: "ada".to_owned(),
            },
        ];
        match world.gate.open() {
            None => {
                events.push(proposed("v1", false, None));
                events.push(proposed("v2", true, None));
                events.push(proposed("v0", false, Some(1)));
                events.push(ordered());
            }
            Some(open) => {
                let proposal = open.id;
                let better = Verdict::Better {
                    objective: "done".to_owned(),
                    by: 1.0,
                    interval: (0.5, 1.5),
                };
                for verdict in [better, Verdict::TooFew { have: 1, need: 5 }] {
                    events.push(Event::Trialled {
                        proposal,
                        verdict: verdict.clone(),
                    });
                    events.push(Event::HeldOut { proposal, verdict });
                }
                events.push(Event::Decided {
                    proposal,
                    by: "ada".to_owned(),
                    decision: Decision::Approve,
                });
                events.push(Event::Expired { proposal });
                events.push(Event::Retested { proposal });
                events.push(ordered());
            }
        }
        actions.extend(events);
    }

    fn next_state(&self, world: &World, event: Event) -> Option<World> {
        let mut world = world.clone();
        world.tell(&event).then_some(world)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("no fault is seen", |_, world: &World| {
                world.faults.is_empty()
            }),
            Property::always("there is a version to return to", |_, world: &World| {
                let first = world.gate.find(VersionNumber(1));
                first.is_some_and(|it| it.hash == "v0")
            }),
            Property::sometimes("a major change is adopted", |_, world: &World| {
                world.gate.version().hash == "v2"
            }),
            Property::sometimes("a person's order is carried out", |_, world: &World| {
                world.gate.version().hash == "v3"
            }),
            Property::sometimes("two proposals are adopted", |_, world: &World| {
                world.adoptions.len() == 2
            }),
            Property::sometimes("a change is rolled back", |_, world: &World| {
                let version = world.gate.version();
                version.number.0 > 1 && version.proposal.is_none() && version.approved_by.is_none()
            }),
        ]
    }
}

#[test]
fn no_order_of_events_adopts_what_it_must_not() {
    let checker = Changing.checker().threads(2).spawn_bfs().join();
    checker.assert_properties();
    assert!(
        checker.unique_state_count() > 10_000,
        "{}",
        checker.unique_state_count()
    );
}
