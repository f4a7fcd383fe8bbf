//! The connection that writes: a group of batches is one transaction, sent as one pipeline.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::time::sleep;

use super::address::Address;
use super::errors::Failure;
use super::facts;
use super::fold::{Facts, Fold, Known};
use super::link::Link;
use super::session::{Command, Session, SqlValue};
use super::statements::{self, BEGIN, COMMIT, ROLLBACK, Tables, cell};
use crate::Error;
use crate::batch::{Batch, Change};
use crate::entry::StreamId;
use crate::store::Durability;

/// The most streams in the cache.
const REMEMBERED: usize = 4096;

/// Numbers of events above this are not believed before the stream is read.
const CLAIMED: u64 = 1 << 62;

/// How often a group is tried again that others stand in the way of: a deadlock, a lock that takes too long.
const TRIES: u32 = 20;

/// The waits between two tries to reach the database.
const SOONEST: Duration = Duration::from_millis(20);
const LATEST: Duration = Duration::from_secs(1);

/// How long a group still waits for the database when the store is being closed.
const CLOSING: Duration = Duration::from_secs(5);

type Answers = Vec<Result<(), Error>>;

/// One writer of a node: a connection, the number of its groups, and the streams that it has written.
///
/// A group goes out in one piece, `BEGIN` to `COMMIT`, without a wait in between, so that a node that is paused holds no
/// lock. What the client would have to look up first is said as a condition instead, and a condition that does not hold is
/// an error, behind which `COMMIT` rolls back: streams are as the batches say they are, inserted keys are free. Only when
/// one is refused is the group sent once more the careful way: its streams are locked and read, each batch is checked by
/// the rules that all engines share, and what is allowed is written. Refusals are given out by that way alone, for a cache
/// cannot know what other nodes have written meanwhile.
///
/// The first statement of a group counts the row of this lane up by one. A lane that is fenced has no such row, so nothing
/// is kept of what a writer sends that was declared dead. The count is also the marker: when a connection breaks while a
/// group is out, the row says whether that group was kept, and a group that was kept cannot be kept once more.
#[derive(Debug)]
pub(super) struct Lane {
    address: Arc<Address>,
    node: String,
    number: i32,
    limits: String,
    tables: Arc<Tables>,
    link: Arc<Link>,
    session: Option<Session>,
    /// The number of the last group that is known to be kept.
    sequence: i64,
    /// Whether the fate of the last group was given up.
    is_unsettled: bool,
    streams: HashMap<StreamId, Known>,
}

/// The end of a pipeline with a `COMMIT` in it.
struct Sent {
    answers: Answers,
    states: Vec<(StreamId, Option<Known>)>,
}

/// The fate of a group whose answer was lost.
#[derive(Clone, Copy)]
enum Fate {
    Kept,
    NotKept,
}

impl Lane {
    /// A lane with an open connection. Its row is there and has the number 0.
    pub(super) fn new(
        address: Arc<Address>,
        node: String,
        durability: Durability,
        tables: Arc<Tables>,
        link: Arc<Link>,
        session: Session,
    ) -> Self {
        Self {
            address,
            node,
            number: 0,
            limits: limits(durability),
            tables,
            link,
            session: Some(session),
            sequence: 0,
            is_unsettled: false,
            streams: HashMap::new(),
        }
    }

    /// Commits a group and answers each batch.
    pub(super) async fn apply(&mut self, group: &[Batch]) -> Result<Answers, Error> {
        if self.streams.len() > REMEMBERED {
            self.streams.clear();
        }
        if self.is_unsettled {
            self.settle().await?;
        }
        let mut careful = false;
        let mut tries = 0;
        // The last try with an answer that was lost. If the marker says that the group is kept, it is this one: a later try
        // gets past the guard only when the earlier one has come to nothing.
        let mut doubtful: Option<Sent> = None;
        loop {
            let mut sent = None;
            let tried = match careful {
                false => self.at_once(group, &mut sent).await,
                true => self.carefully(group, &mut sent).await,
            };
            let failure = match tried {
                Ok(answers) => return Ok(self.kept(sent, answers)),
                Err(failure) => failure,
            };
            self.streams.clear();
            let fate = match failure {
                Failure::Failed(error) => return Err(error),
                Failure::Lost(problem) => {
                    tracing::warn!(
                        database = self.address.shown(),
                        problem,
                        "the connection that writes is lost"
                    );
                    doubtful = sent.or(doubtful);
                    self.fate(problem).await?
                }
                Failure::Refused | Failure::Aborted if !careful => {
                    careful = true;
                    continue;
                }
                failure => {
                    tries += 1;
                    if tries == TRIES {
                        return Err(failure.into_error(self.address.shown()));
                    }
                    sleep(SOONEST * tries).await;
                    self.marker().await?
                }
            };
            if let (Fate::Kept, Some(sent)) = (fate, doubtful.as_mut()) {
                self.sequence += 1;
                return Ok(std::mem::take(&mut sent.answers));
            }
        }
    }

    /// Finds out at which number the lane is, after a group whose fate was given up.
    async fn settle(&mut self) -> Result<(), Error> {
        if let Fate::Kept = self.marker().await? {
            self.sequence += 1;
        }
        self.is_unsettled = false;
        Ok(())
    }

    fn kept(&mut self, sent: Option<Sent>, answers: Answers) -> Answers {
        if let Some(sent) = sent {
            self.sequence += 1;
            for (stream, state) in sent.states {
                match state {
                    Some(state) => self.streams.insert(stream, state),
                    None => self.streams.remove(&stream),
                };
            }
        }
        answers
    }

    /// The way of one trip. It is refused if anything is not as the batches say.
    async fn at_once(
        &mut self,
        group: &[Batch],
        sent: &mut Option<Sent>,
    ) -> Result<Answers, Failure> {
        let tables = Arc::clone(&self.tables);
        let facts = self.claims(group).ok_or(Failure::Refused)?;
        let mut fold = Fold::new(&tables, facts);
        for batch in group {
            fold.take(batch).map_err(|_refused| Failure::Refused)?;
        }
        let answers = vec![Ok(()); group.len()];
        if fold.is_empty() {
            return Ok(answers);
        }
        if fold.hides_an_insert() {
            return Err(Failure::Refused);
        }
        let guard = self.guard();
        let mut commands = vec![Command::plain(BEGIN), guard];
        commands.extend(fold.commands()?);
        commands.push(Command::plain(COMMIT));
        let session = self.session().await?;
        let states = fold
            .states()
            .map(|(stream, state)| (stream.clone(), state))
            .collect();
        *sent = Some(Sent {
            answers: answers.clone(),
            states,
        });
        session.pipeline(&commands).await?;
        Ok(answers)
    }

    /// The states that the batches say their streams have; none if one of them says nothing.
    fn claims(&self, group: &[Batch]) -> Option<Facts> {
        let mut facts = Facts::default();
        for change in group.iter().flat_map(Batch::changes) {
            match change {
                Change::Append { stream, .. } | Change::Finish { stream, .. }
                    if facts.streams.contains_key(stream) => {}
                Change::Append { events, .. } if events.is_empty() => return None,
                Change::Append { stream, after, .. } => {
                    let claimed = match (self.streams.get(stream), *after) {
                        (Some(known), _) => Some(*known),
                        (None, 0) => None,
                        (None, ..=CLAIMED) => Some(Known {
                            first: None,
                            last: *after,
                            finished: None,
                        }),
                        (None, _) => return None,
                    };
                    facts.streams.insert(stream.clone(), claimed);
                }
                Change::Finish { stream, .. } => {
                    let known = self.streams.get(stream)?;
                    facts.streams.insert(stream.clone(), Some(*known));
                }
                Change::Truncate { .. } | Change::Forget { .. } | Change::Replace { .. } => {
                    return None;
                }
                Change::Put { .. } | Change::Insert { .. } | Change::Delete { .. } => {}
            }
        }
        Some(facts)
    }

    /// The way that looks first: streams are locked and read, and each batch is answered by itself.
    async fn carefully(
        &mut self,
        group: &[Batch],
        sent: &mut Option<Sent>,
    ) -> Result<Answers, Failure> {
        let tables = Arc::clone(&self.tables);
        let guard = self.guard();
        let session = self.session().await?;
        let facts = facts::read(session, &tables, guard, group).await?;
        let mut fold = Fold::new(&tables, facts);
        let answers: Answers = group.iter().map(|batch| fold.take(batch)).collect();
        if fold.is_empty() {
            session.run(&Command::plain(ROLLBACK)).await?;
            return Ok(answers);
        }
        let mut commands = fold.commands()?;
        commands.push(Command::plain(COMMIT));
        let states = fold
            .states()
            .map(|(stream, state)| (stream.clone(), state))
            .collect();
        *sent = Some(Sent {
            answers: answers.clone(),
            states,
        });
        let written = session.pipeline(&commands).await;
        if written
            .as_ref()
            .is_err_and(|failure| !matches!(failure, Failure::Lost(_)))
        {
            // `COMMIT` has rolled back, unless a statement could not be prepared.
            session.run(&Command::plain(ROLLBACK)).await?;
        }
        written?;
        Ok(answers)
    }

    fn guard(&self) -> Command<'static> {
        let values: Vec<SqlValue<'_>> = vec![
            Box::new(self.node.clone()),
            Box::new(self.number),
            Box::new(self.sequence + 1),
        ];
        Command::new(statements::GUARD, values)
    }

    async fn session(&mut self) -> Result<&mut Session, Failure> {
        let open = self.session.take().filter(|session| !session.is_closed());
        let session = match open {
            Some(session) => session,
            None => Session::open(&self.address, &self.limits).await?,
        };
        Ok(self.session.insert(session))
    }

    /// Waits until the database can be reached again, and asks it whether the last group was kept.
    async fn fate(&mut self, mut problem: String) -> Result<Fate, Error> {
        self.link.writer_is_away(Some(&problem));
        let mut wait = SOONEST;
        let mut closing = None;
        loop {
            self.session = None;
            match self.ask_marker().await {
                Ok(fate) => {
                    self.link.writer_is_away(None);
                    tracing::info!(
                        database = self.address.shown(),
                        "the connection that writes is back"
                    );
                    return Ok(fate);
                }
                Err(Failure::Failed(Error::Fenced)) => return Err(Error::Fenced),
                Err(failure) => problem = failure.into_error(self.address.shown()).to_string(),
            }
            if self.link.is_closing()
                && closing.get_or_insert_with(Instant::now).elapsed() > CLOSING
            {
                self.is_unsettled = true;
                let address = self.address.shown().to_owned();
                return Err(Error::Away { address, problem });
            }
            sleep(wait).await;
            wait = (wait * 2).min(LATEST);
        }
    }

    /// The fate of the last group, when the connection is there.
    async fn marker(&mut self) -> Result<Fate, Error> {
        match self.ask_marker().await {
            Ok(fate) => Ok(fate),
            Err(Failure::Lost(problem)) => self.fate(problem).await,
            Err(failure) => Err(failure.into_error(self.address.shown())),
        }
    }

    async fn ask_marker(&mut self) -> Result<Fate, Failure> {
        let (node, lane, sequence) = (self.node.clone(), self.number, self.sequence);
        let session = self.session().await?;
        let asked = Command::new(statements::MARKER, vec![Box::new(node), Box::new(lane)]);
        let rows = session.run(&asked).await?;
        let fenced = || {
            self.link.fence();
            Failure::Failed(Error::Fenced)
        };
        let row = rows.first().ok_or_else(fenced)?;
        let found: i64 = cell(row, 0)?;
        match (found - sequence, cell::<bool>(row, 1)?) {
            (1, _) => Ok(Fate::Kept),
            (0, false) => Ok(Fate::NotKept),
            _ => Err(fenced()),
        }
    }

    /// Removes the lane, so that nothing remains of a node that has ended.
    pub(super) async fn leave(&mut self) {
        let left = async {
            let node = self.node.clone();
            let session = self.session.as_mut()?;
            let lanes: Vec<SqlValue<'_>> = vec![Box::new(node.clone())];
            let gone: Vec<SqlValue<'_>> = vec![Box::new(node)];
            let commands = [
                Command::plain(BEGIN),
                Command::new("DELETE FROM lane WHERE node = $1", lanes),
                Command::new("DELETE FROM node WHERE id = $1", gone),
                Command::plain(COMMIT),
            ];
            Some(session.pipeline(&commands).await)
        };
        if let Ok(Some(Err(failure))) = tokio::time::timeout(Duration::from_secs(2), left).await {
            tracing::debug!(
                ?failure,
                "this node stays in the table of nodes until its lease is over"
            );
        }
    }
}

/// Plans are made once for each connection, often while the tables are nearly empty: a scan of a whole table would be right
/// then, and ruinous later. Every statement of a group has an index.
const PLANS: &str = "SELECT set_config(known.name, wanted.value, false) FROM pg_catalog.pg_settings AS known
     JOIN (VALUES ('plan_cache_mode', 'force_generic_plan'), ('jit', 'off'), ('enable_seqscan', 'off'),
         ('enable_hashjoin', 'off'), ('enable_mergejoin', 'off')) AS wanted(name, value) ON known.name = wanted.name";

/// What holds for a connection that writes. A client that is paused in the middle of a transaction keeps its locks for
/// two seconds at most.
pub(super) fn limits(durability: Durability) -> String {
    let synchronous = match durability {
        // A stricter setting of the database, which waits for standbys, is left as it is.
        Durability::Full => {
            "SELECT set_config('synchronous_commit', CASE WHEN current_setting('synchronous_commit') IN ('off', 'local')
             THEN 'on' ELSE current_setting('synchronous_commit') END, false)"
        }
        Durability::Normal => "SET synchronous_commit = 'off'",
    };
    format!(
        "SET statement_timeout = '5s'; SET lock_timeout = '2s'; SET idle_in_transaction_session_timeout = '2s'; {synchronous}; {PLANS}"
    )
}
