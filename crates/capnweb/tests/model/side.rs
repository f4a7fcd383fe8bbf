//! One session with its application, brought to where its events lead.
//!
//! A session cannot be copied, but it can be made again: it is pure, and the sides share nothing but
//! frames, so what a side has gone through is what it is. Sides with the same past are one [`Side`],
//! made once however many states of the model it is part of.

use std::collections::HashMap;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher, Hash, Hasher};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use capnweb::{Any, Awaited, Capability, Connection, Error, Options, Promise, Stats, Stub, Value};

use crate::ledger::{Broken, Ledger};
use crate::objects::Main;

/// Something that happens to a side.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Event {
    Does(Step),
    Receives(Arc<str>),
    /// The connection is gone, and with it the application's interest.
    Loses,
}

/// Something an application does. Numbers are places of what it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Step {
    /// Has an object made by the other side.
    Make,
    /// Lends a new object, for the other side to keep.
    Lend,
    /// Lends a new object, to be called and not kept. Its answer is the call's.
    Ask,
    /// Asks for what the other side keeps.
    Fetch,
    /// Calls what it holds, or will hold.
    Poke(usize),
    /// Lends what it holds, for the other side to keep.
    Pass(usize),
    Clone(usize),
    Await(usize),
    Drop(usize),
    /// Calls what it keeps, and does not care for the answer.
    Use,
    /// Lets go of what it keeps.
    Forget,
}

/// How often a side may do what makes the model larger.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    calls: usize,
    clones: usize,
    waits: usize,
    uses: usize,
}

impl Bounds {
    /// So many calls, and nothing else that is bounded.
    pub(crate) const fn new(calls: usize) -> Self {
        Self {
            calls,
            clones: 0,
            waits: 0,
            uses: 0,
        }
    }

    pub(crate) const fn clones(self, clones: usize) -> Self {
        Self { clones, ..self }
    }

    pub(crate) const fn waits(self, waits: usize) -> Self {
        Self { waits, ..self }
    }

    /// Calls of what the side keeps.
    pub(crate) const fn uses(self, uses: usize) -> Self {
        Self { uses, ..self }
    }

    /// What is left for the side that only answers.
    pub(crate) const fn of_callee(self) -> Self {
        Self::new(0).uses(self.uses)
    }
}

/// A mistake in what a side sends. Each is made once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    None,
    ForgetsRelease,
    RepeatsRelease,
    /// Sends a pull one frame later than it should.
    PullsTooLate,
    ForgetsAnswer,
    RepeatsAnswer,
}

/// A side after some events.
pub(crate) struct Side {
    fault: Fault,
    bounds: Bounds,
    events: Vec<Event>,
    /// Of the events, to tell sides apart.
    digest: u64,
    pub(crate) seen: Seen,
    /// The same side, one event later.
    later: Mutex<HashMap<Event, Arc<Side>>>,
}

/// What can be seen of a side.
#[derive(Debug)]
pub(crate) struct Seen {
    pub(crate) sent: Vec<Arc<str>>,
    pub(crate) received: usize,
    pub(crate) stats: Stats,
    /// What ended the session.
    pub(crate) end: Option<End>,
    /// What the application can do next.
    pub(crate) steps: Vec<Step>,
    /// Whether it holds, keeps or waits for anything.
    pub(crate) holds: bool,
    pub(crate) waits: usize,
    pub(crate) failures: usize,
    /// Its objects that are not dropped, but for the main one.
    pub(crate) objects: usize,
    /// How often its objects were called.
    pub(crate) pokes: usize,
    pub(crate) broken: Vec<Broken>,
    pub(crate) crossed: bool,
    pub(crate) came_home: bool,
    pub(crate) owed: usize,
}

/// Why a session is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Lost,
    /// One side found fault with the other.
    Fault(String),
}

impl Side {
    pub(crate) fn new(bounds: Bounds, fault: Fault) -> Arc<Self> {
        Self::of(bounds, fault, Vec::new(), 0)
    }

    /// The same side, after one more event.
    pub(crate) fn after(&self, event: Event) -> Arc<Self> {
        let later = || self.later.lock().expect("nothing panics here");
        if let Some(side) = later().get(&event) {
            return side.clone();
        }
        let events: Vec<_> = self.events.iter().cloned().chain([event.clone()]).collect();
        let digest = BuildHasherDefault::<DefaultHasher>::default().hash_one((self.digest, &event));
        let side = Self::of(self.bounds, self.fault, events, digest);
        later().entry(event).or_insert(side).clone()
    }

    fn of(bounds: Bounds, fault: Fault, events: Vec<Event>, digest: u64) -> Arc<Self> {
        let mut living = Living::new(bounds, fault);
        events.iter().for_each(|event| living.meet(event));
        Arc::new(Self {
            fault,
            bounds,
            events,
            digest,
            seen: living.seen(),
            later: Mutex::default(),
        })
    }
}

impl PartialEq for Side {
    fn eq(&self, other: &Self) -> bool {
        self.digest == other.digest
    }
}

impl Hash for Side {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.digest.hash(state);
    }
}

impl std::fmt::Debug for Side {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(&self.events).finish()?;
        write!(f, " {:?}", self.seen)
    }
}

/// The session and its application.
struct Living {
    connection: Connection,
    remote: Stub,
    main: Arc<Main>,
    places: Vec<Place>,
    left: Bounds,
    fault: Fault,
    /// A frame that comes too late.
    delayed: Option<String>,
    sent: Vec<Arc<str>>,
    received: usize,
    end: Option<End>,
    /// Tables and waits right after the session was lost.
    left_over: Option<(Stats, usize)>,
    /// Whether the other side may have something to give back.
    has_lent: bool,
    failures: usize,
    ledger: Ledger,
}

/// What an application holds.
enum Place {
    Promise(Promise),
    Waiting(Pin<Box<Awaited<Value>>>),
    Stub(Capability),
    Empty,
}

impl Living {
    fn new(left: Bounds, fault: Fault) -> Self {
        let main = Arc::<Main>::default();
        let offered = Capability::from_target(main.clone());
        let connection = Connection::new(offered, &Options::default());
        Self {
            remote: connection.remote::<Any>(),
            connection,
            main,
            places: Vec::new(),
            left,
            fault,
            delayed: None,
            sent: Vec::new(),
            received: 0,
            end: None,
            left_over: None,
            has_lent: false,
            failures: 0,
            ledger: Ledger::default(),
        }
    }

    fn meet(&mut self, event: &Event) {
        match event {
            Event::Does(step) => self.perform(*step),
            Event::Receives(frame) => {
                self.received += 1;
                self.ledger.hears(frame);
                self.connection.receive(frame);
            }
            Event::Loses => self.lose(),
        }
        self.look();
        for frame in self.connection.take_outgoing() {
            self.send(frame);
        }
        if let (None, Some(close)) = (&self.end, self.connection.close_frame()) {
            self.end = Some(End::Fault(close.reason));
        }
    }

    /// Ends the session, looks at what that leaves, and lets go of everything: what an application does
    /// with a session that is over makes no difference to the other side.
    fn lose(&mut self) {
        self.connection.end(Error::new("lost"));
        self.end.get_or_insert(End::Lost);
        self.look();
        self.left_over = Some((self.connection.stats(), self.waits()));
        self.places.clear();
        self.main.keep(None);
    }

    fn perform(&mut self, step: Step) {
        let promise = match step {
            Step::Make => self.remote.call("make", ()),
            Step::Lend => self.remote.call("keep", (self.main.world.object(),)),
            Step::Ask => self.remote.call("ask", (self.main.world.object(),)),
            Step::Fetch => self.remote.call("fetch", ()),
            Step::Poke(place) => match &self.places[place] {
                Place::Promise(promise) => promise.call("poke", ()),
                Place::Stub(stub) => stub.call("poke", ()),
                Place::Waiting(_) | Place::Empty => unreachable!("it cannot be called"),
            },
            Step::Pass(place) => match &self.places[place] {
                Place::Promise(promise) => self.remote.call("keep", (promise,)),
                Place::Stub(stub) => self.remote.call("keep", (stub.clone(),)),
                Place::Waiting(_) | Place::Empty => unreachable!("it cannot be passed"),
            },
            Step::Clone(place) => {
                self.left.clones -= 1;
                let copy = match &self.places[place] {
                    Place::Promise(promise) => Place::Promise(promise.clone()),
                    Place::Stub(stub) => Place::Stub(stub.clone()),
                    Place::Waiting(_) | Place::Empty => unreachable!("it cannot be cloned"),
                };
                return self.places.push(copy);
            }
            Step::Await(place) => {
                self.left.waits -= 1;
                if let Place::Promise(promise) = self.take(place) {
                    self.places[place] = Place::Waiting(Box::pin(promise.into_future()));
                }
                return;
            }
            Step::Drop(place) => return drop(self.take(place)),
            Step::Use => {
                self.left.uses -= 1;
                if let Some(Value::Stub(stub)) = self.main.kept() {
                    drop(stub.call("poke", ()));
                }
                return;
            }
            Step::Forget => return self.main.keep(None),
        };
        self.left.calls -= 1;
        self.has_lent |= matches!(step, Step::Lend | Step::Pass(_));
        self.places.push(Place::Promise(promise));
    }

    fn take(&mut self, place: usize) -> Place {
        std::mem::replace(&mut self.places[place], Place::Empty)
    }

    /// Looks whether what it waits for has come. Of a result it holds on to a capability only.
    fn look(&mut self) {
        for place in &mut self.places {
            let Place::Waiting(awaited) = place else {
                continue;
            };
            let mut context = Context::from_waker(Waker::noop());
            *place = match awaited.as_mut().poll(&mut context) {
                Poll::Pending => continue,
                Poll::Ready(Ok(Value::Stub(stub))) => Place::Stub(stub),
                Poll::Ready(Ok(_)) => Place::Empty,
                Poll::Ready(Err(_)) => {
                    self.failures += 1;
                    Place::Empty
                }
            };
        }
    }

    /// Sends a frame, or makes the mistake with it.
    fn send(&mut self, frame: String) {
        let answer = frame.starts_with(r#"["resolve"#) || frame.starts_with(r#"["reject"#);
        let concerned = match self.fault {
            Fault::None => false,
            Fault::ForgetsRelease | Fault::RepeatsRelease => frame.starts_with(r#"["release"#),
            Fault::PullsTooLate => frame.starts_with(r#"["pull"#),
            Fault::ForgetsAnswer | Fault::RepeatsAnswer => answer,
        };
        if !concerned {
            self.put(frame);
            if let Some(delayed) = self.delayed.take() {
                self.put(delayed);
            }
            return;
        }
        match std::mem::replace(&mut self.fault, Fault::None) {
            Fault::ForgetsRelease | Fault::ForgetsAnswer => {}
            Fault::PullsTooLate => self.delayed = Some(frame),
            Fault::RepeatsRelease | Fault::RepeatsAnswer => {
                self.put(frame.clone());
                self.put(frame);
            }
            Fault::None => self.put(frame),
        }
    }

    fn put(&mut self, frame: String) {
        self.ledger.says(&frame);
        self.sent.push(frame.into());
    }

    /// What the application can do next.
    fn steps(&self) -> Vec<Step> {
        let mut steps = Vec::new();
        if self.end.is_some() {
            return steps;
        }
        let calls = self.left.calls > 0;
        if calls {
            steps.extend([Step::Make, Step::Lend, Step::Ask]);
        }
        if calls && self.has_lent {
            steps.push(Step::Fetch);
        }
        for (index, place) in self.places.iter().enumerate() {
            if calls && matches!(place, Place::Promise(_) | Place::Stub(_)) {
                steps.extend([Step::Poke(index), Step::Pass(index)]);
            }
            if self.left.clones > 0 && matches!(place, Place::Promise(_) | Place::Stub(_)) {
                steps.push(Step::Clone(index));
            }
            if self.left.waits > 0 && matches!(place, Place::Promise(_)) {
                steps.push(Step::Await(index));
            }
            if !matches!(place, Place::Empty) {
                steps.push(Step::Drop(index));
            }
        }
        if let Some(kept) = self.main.kept() {
            if self.left.uses > 0 && matches!(kept, Value::Stub(_)) {
                steps.push(Step::Use);
            }
            steps.push(Step::Forget);
        }
        steps
    }

    fn waits(&self) -> usize {
        let waiting = |place: &&Place| matches!(place, Place::Waiting(_));
        self.places.iter().filter(waiting).count()
    }

    fn seen(self) -> Seen {
        let full = |place: &Place| !matches!(place, Place::Empty);
        let now = || (self.connection.stats(), self.waits());
        let (stats, waits) = self.left_over.unwrap_or_else(now);
        Seen {
            received: self.received,
            stats,
            steps: self.steps(),
            holds: self.places.iter().any(full) || self.main.kept().is_some(),
            waits,
            failures: self.failures,
            objects: self.main.world.objects(),
            pokes: self.main.world.pokes(),
            broken: self.ledger.broken.iter().copied().collect(),
            crossed: self.ledger.crossed,
            came_home: self.ledger.came_home,
            owed: self.ledger.owed(),
            sent: self.sent,
            end: self.end,
        }
    }
}
