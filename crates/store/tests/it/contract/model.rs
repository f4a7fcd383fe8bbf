//! Random batches and queries: the store gives the same answers as a model of a few maps.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use store::{Batch, Error, NewEvent, Order, Query, Row, StreamId, StreamState, Table, Value, View};
use tokio::runtime::Handle;

use crate::support::{HEAPS, Made, NOTES, note, stream};

const NAMES: RangeInclusive<u8> = 0..=3;
const TIMES: RangeInclusive<i64> = 0..=5;

/// One change of a batch in terms of the model: small numbers name streams, keys and values.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// The stream, the number of events, and the writer's error about the last event.
    Append(u8, usize, u64),
    Finish(u8, i64),
    Truncate(u8, u64),
    Forget(u8),
    Put(bool, u8, u8, u8, i64),
    Insert(bool, u8, u8, u8, i64),
    Delete(bool, u8),
}

/// A query of one of the tables.
#[derive(Clone, Debug)]
struct Question {
    heap: bool,
    owner: Option<u8>,
    state: Option<u8>,
    time: Option<i64>,
    at_least: Option<i64>,
    order: Order,
    page: usize,
}

fn step() -> impl Strategy<Value = Step> {
    let row = || (any::<bool>(), 0..12_u8, NAMES, NAMES, TIMES);
    prop_oneof![
        6 => (NAMES, 0..4_usize, prop_oneof![9 => Just(0_u64), 1 => Just(1)])
            .prop_map(|(name, count, off)| Step::Append(name, count, off)),
        1 => (NAMES, TIMES).prop_map(|(name, at)| Step::Finish(name, at)),
        2 => (NAMES, 0..9_u64).prop_map(|(name, through)| Step::Truncate(name, through)),
        1 => NAMES.prop_map(Step::Forget),
        6 => row().prop_map(|(heap, key, owner, state, time)| Step::Put(heap, key, owner, state, time)),
        2 => row().prop_map(|(heap, key, owner, state, time)| Step::Insert(heap, key, owner, state, time)),
        2 => (any::<bool>(), 0..12_u8).prop_map(|(heap, key)| Step::Delete(heap, key)),
    ]
}

fn question() -> impl Strategy<Value = Question> {
    let order = prop_oneof![
        Just(Order::ByKey),
        Just(Order::Ascending("time")),
        Just(Order::Descending("time")),
    ];
    let some = || proptest::option::of(NAMES);
    let times = (
        proptest::option::weighted(0.2, TIMES),
        proptest::option::of(TIMES),
    );
    (any::<bool>(), some(), some(), times, order, 1..5_usize).prop_map(
        |(heap, owner, state, (time, at_least), order, page)| Question {
            heap,
            owner,
            state,
            time,
            at_least,
            order,
            page,
        },
    )
}

pub(crate) async fn behaves_like_a_simple_model(make: fn() -> Made) {
    let batches = proptest::collection::vec(proptest::collection::vec(step(), 1..6), 1..25);
    let questions = proptest::collection::vec(question(), 8);
    let runtime = Handle::current();
    let run = move || {
        let config = Config {
            cases: 64,
            failure_persistence: None,
            ..Config::default()
        };
        let mut runner = TestRunner::new(config);
        runner.run(&(batches, questions), |(batches, questions)| {
            runtime.block_on(compare(make(), batches, questions))
        })
    };
    tokio::task::spawn_blocking(run).await.unwrap().unwrap();
}

async fn compare(
    made: Made,
    batches: Vec<Vec<Step>>,
    questions: Vec<Question>,
) -> Result<(), TestCaseError> {
    let mut model = Model::default();
    for steps in batches {
        let mut changed = model.clone();
        let mut batch = Batch::new();
        let mut expected = Ok(());
        for step in steps {
            // The changes after a refused one still belong to the batch.
            let (with, outcome) = changed.take(batch, step);
            batch = with;
            expected = expected.and(outcome);
        }
        let outcome = made.commit(batch).await.map_err(|error| match error {
            Error::Conflict { .. } => Refusal::Conflict,
            Error::Finished { .. } => Refusal::Finished,
            Error::Exists { .. } => Refusal::Exists,
            other => panic!("{other}"),
        });
        prop_assert_eq!(&outcome, &expected);
        if outcome.is_ok() {
            model = changed;
        }
    }
    let look = move |view: &dyn View| {
        model.compare(view)?;
        questions
            .iter()
            .try_for_each(|question| model.ask(view, question))
    };
    made.store.read(look).await.unwrap();
    Ok(())
}

/// The expected contents of the store.
#[derive(Clone, Debug, Default)]
struct Model {
    streams: BTreeMap<u8, Events>,
    tables: [BTreeMap<String, Row>; 2],
}

#[derive(Clone, Debug, Default)]
struct Events {
    /// The number of events dropped by truncation.
    dropped: u64,
    kept: Vec<String>,
    finished: Option<i64>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Refusal {
    Conflict,
    Finished,
    Exists,
}

impl Model {
    /// Applies a change to the model, and adds it to the batch for the store.
    fn take(&mut self, batch: Batch, step: Step) -> (Batch, Result<(), Refusal>) {
        match step {
            Step::Append(name, count, off) => {
                let events = self.streams.get(&name).cloned().unwrap_or_default();
                let last = events.last();
                let texts = (1..=count as u64).map(|more| format!("{name}: {}", last + more));
                let texts: Vec<String> = texts.collect();
                let new = texts.iter().cloned().map(NewEvent::new).collect();
                let batch = batch.append(&named(name), last + off, new);
                if off > 0 {
                    return (batch, Err(Refusal::Conflict));
                }
                if events.finished.is_some() {
                    return (batch, Err(Refusal::Finished));
                }
                if count > 0 {
                    self.streams.entry(name).or_default().kept.extend(texts);
                }
                (batch, Ok(()))
            }
            Step::Finish(name, at) => {
                self.streams
                    .entry(name)
                    .and_modify(|events| events.finished = Some(at));
                (batch.finish(&named(name), at), Ok(()))
            }
            Step::Truncate(name, through) => {
                if let Some(events) = self.streams.get_mut(&name) {
                    let gone = through.min(events.last()).saturating_sub(events.dropped);
                    events.kept.drain(..gone as usize);
                    events.dropped += gone;
                }
                (batch.truncate(&named(name), through), Ok(()))
            }
            Step::Forget(name) => {
                self.streams.remove(&name);
                (batch.forget(&named(name)), Ok(()))
            }
            Step::Put(heap, key, owner, state, time) => {
                let row = row(key, owner, state, time);
                self.tables[usize::from(heap)].insert(row.key.clone(), row.clone());
                (batch.put(table(heap), row), Ok(()))
            }
            Step::Insert(heap, key, owner, state, time) => {
                let row = row(key, owner, state, time);
                let old = self.tables[usize::from(heap)].insert(row.key.clone(), row.clone());
                let outcome = old.map_or(Ok(()), |_| Err(Refusal::Exists));
                (batch.insert(table(heap), row), outcome)
            }
            Step::Delete(heap, key) => {
                let key = format!("k{key}");
                self.tables[usize::from(heap)].remove(&key);
                (batch.delete(table(heap), &key), Ok(()))
            }
        }
    }

    /// Compares all streams, and every row by its key.
    fn compare(&self, view: &dyn View) -> Result<(), Error> {
        for name in NAMES {
            let events = self.streams.get(&name);
            assert_eq!(view.stream(&named(name))?, events.map(Events::state));
            let Some(events) = events else {
                continue;
            };
            let found = view.events(&named(name), events.dropped, usize::MAX)?;
            let found: Vec<_> = found
                .iter()
                .map(|entry| crate::support::text(entry))
                .collect();
            let kept = (events.dropped + 1..).zip(events.kept.clone());
            assert_eq!(found, kept.collect::<Vec<_>>());
        }
        for (place, rows) in self.tables.iter().enumerate() {
            for key in (0..12).map(|key| format!("k{key}")) {
                assert_eq!(view.row(table(place == 1), &key)?.as_ref(), rows.get(&key));
            }
        }
        let ends = |events: &Events| Some((events.finished?, events.kept.is_empty()));
        let mut ends: Vec<_> = self.streams.values().filter_map(ends).collect();
        ends.sort_unstable();
        assert_eq!(view.finished_count()?, ends.len() as u64);
        for before in TIMES {
            let found = view.finished(before, 3)?;
            let found: Vec<_> = found
                .iter()
                .filter_map(|(_, state)| state.finished)
                .collect();
            let times = ends.iter().map(|(at, _)| *at).filter(|at| *at < before);
            assert_eq!(found, times.take(3).collect::<Vec<_>>());
            let full = ends.iter().filter(|(at, empty)| *at < before && !empty);
            assert_eq!(view.compactable(before, 9)?.len(), full.count());
        }
        Ok(())
    }

    /// Compares the answer to a query, page after page.
    fn ask(&self, view: &dyn View, question: &Question) -> Result<(), Error> {
        let rows = self.tables[usize::from(question.heap)].values();
        let rows = rows.filter(|row| question.fits(row));
        let mut expected: Vec<_> = rows.cloned().collect();
        match question.order {
            Order::ByKey => expected.sort_by_key(|row| row.key.clone()),
            Order::Ascending(_) => expected.sort_by_key(|row| (time(row), row.key.clone())),
            Order::Descending(_) => {
                expected.sort_by_key(|row| (time(row), row.key.clone()));
                expected.reverse();
            }
        }
        let query = question.query();
        assert_eq!(view.count(&query)?, expected.len() as u64);
        assert_eq!(view.rows(&query)?, expected, "{question:?}");
        let mut page = query.clone().limit(question.page);
        let mut found = Vec::new();
        loop {
            let rows = view.rows(&page)?;
            assert!(rows.len() <= question.page);
            let Some(last) = rows.last() else {
                break;
            };
            page = match question.order {
                Order::ByKey => page.after_key(&last.key),
                _ => page.after(time(last), &last.key),
            };
            found.extend(rows);
        }
        assert_eq!(found, expected, "{question:?}");
        Ok(())
    }
}

impl Events {
    fn last(&self) -> u64 {
        self.dropped + self.kept.len() as u64
    }

    fn state(&self) -> StreamState {
        StreamState {
            first: self.dropped + 1,
            last: self.last(),
            finished: self.finished,
        }
    }
}

impl Question {
    fn query(&self) -> Query {
        let mut query = Query::of(table(self.heap)).order(self.order);
        if let Some(owner) = self.owner {
            query = query.equal("owner", format!("o{owner}"));
        }
        if let Some(state) = self.state {
            query = query.equal("state", format!("s{state}"));
        }
        if let Some(time) = self.time {
            query = query.equal("time", time);
        }
        if let Some(time) = self.at_least {
            query = query.at_least("time", time);
        }
        query
    }

    fn fits(&self, row: &Row) -> bool {
        let owner = self
            .owner
            .is_none_or(|owner| row.columns[0] == format!("o{owner}").into());
        let state = self
            .state
            .is_none_or(|state| row.columns[1] == format!("s{state}").into());
        let at = self.time.is_none_or(|at| time(row) == at);
        owner && state && at && self.at_least.is_none_or(|least| time(row) >= least)
    }
}

fn named(name: u8) -> StreamId {
    stream(&format!("stream {name}"))
}

fn table(heap: bool) -> &'static Table {
    if heap { &HEAPS } else { &NOTES }
}

fn row(key: u8, owner: u8, state: u8, time: i64) -> Row {
    note(
        &format!("k{key}"),
        &format!("o{owner}"),
        &format!("s{state}"),
        time,
    )
}

fn time(row: &Row) -> i64 {
    match row.columns[2] {
        Value::Integer(time) => time,
        Value::Text(_) => panic!("times are numbers"),
    }
}
