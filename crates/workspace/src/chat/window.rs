//! A window on a session: what happened, from the journal, then what happens, as long as the client listens.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use a2a::service::Call;
use a2a::types::{Event, Part, SubscribeToTaskRequest, TaskState};
use access::Principal;
use agent::{AgentHandle, MomentKind, Owner, Record, State, Telling};
use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream, SelectAll};
use serde_json::json;
use tokio::sync::{mpsc, oneshot};

use super::Chat;
use super::envelope::{Cursor, Envelope, MessageType, Priority};
use super::feed::Fed;
use super::show::{self, Passing, SessionAddress, lines};

/// How many records are read at once.
const PAGE: usize = 256;

/// How long pieces of a thought are gathered before they are shown.
const GATHER: Duration = Duration::from_millis(40);

/// How long a window waits before it looks at an agent again that could not be followed.
const RETRY: Duration = Duration::from_secs(1);

/// The artifacts of a task that a thought is streamed into: the answer, and how a model came to it.
const ANSWER: &str = "output";
const REASONING: &str = "reasoning";

/// How the ids of artifacts begin that a command prints into.
const PRINTED: &str = "terminal";

/// Where a window begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum From {
    /// With all of the session, or with what follows a cursor.
    After(Cursor),
    /// With what happens from now on.
    Now,
}

/// What is known of a session at the moment, for messages that are not part of its record.
#[derive(Clone, Copy, Debug)]
pub(super) struct SessionState {
    pub(super) state: State,
    pub(super) cursor: Cursor,
}

impl Default for SessionState {
    fn default() -> Self {
        Self {
            state: State::Idle,
            cursor: Cursor::default(),
        }
    }
}

pub(super) type Shared = Arc<Mutex<SessionState>>;

/// One client that looks at one session: it tells the session from the journal, and then goes on with what happens.
///
/// It runs as a tokio task of its connection, which owns it: the end of the connection or another window in its place
/// aborts it. It holds no state that must survive, only a reading position and a [`Telling`], both made again from the
/// journal by the next window.
///
/// The order of a round is: join the [feed](super::feed::Feed); read the journal from the own position to its end;
/// tell `ready`; then take records from the queue, without those that were read already. To read first and to join
/// afterwards would lose what is recorded in between. When the queue is closed, because the window was too slow or the
/// feed ended, the next round begins behind the last record that was read.
///
/// Recorded messages have a cursor and are sent once for each cursor behind `from`. Pieces of a thought have none:
/// they are taken from the stream of the task, gathered for a moment, and left out while the client is behind, since
/// the recorded message that follows has the whole text. Messages go to the connection with the number of the window,
/// so that those of a window that was replaced meanwhile are not written.
pub(super) struct Window {
    pub(super) chat: Chat,
    pub(super) caller: Principal,
    pub(super) agent: AgentHandle,
    pub(super) owner: Owner,
    pub(super) place: SessionAddress,
    pub(super) from: From,
    /// Its number among the windows of the connection. Messages bear it, so that those of a window that was replaced are
    /// not written.
    pub(super) number: u64,
    /// Where messages go; the connection writes them.
    pub(super) out: mpsc::Sender<(u64, Arc<Envelope>)>,
    pub(super) standing: Shared,
    /// Told when everything up to now was read.
    pub(super) ready: Option<oneshot::Sender<()>>,
}

/// A thought that is being streamed.
#[derive(Default)]
struct Piece {
    text: String,
    reasoning: String,
    /// How much of both was shown, and when.
    shown: usize,
    at: Option<Instant>,
}

/// The reader of a session: what it was told and what it showed.
struct Reading {
    telling: Telling,
    /// The last event that was read.
    last: u64,
    /// The questions that were asked, as they were shown.
    asked: BTreeMap<String, Arc<Envelope>>,
    sent: BTreeSet<String>,
}

/// The messages of the tasks of a window, each with the id of its task; `None` is the end of a stream.
type Pieces = SelectAll<BoxStream<'static, (String, Option<Said>)>>;
type Said = Result<Vec<Arc<a2a::event::Event>>, a2a::Error>;

impl Window {
    /// Runs until the client is gone.
    pub(super) async fn run(mut self) {
        let session = self.chat.sessions().find(&self.owner, self.agent.id());
        let first = session.await.ok().flatten().map_or(0, |it| it.first);
        let marked = (self.chat.parts().about)(self.agent.id()).marked;
        let mut reading = Reading {
            telling: Telling::new(self.owner.clone(), Arc::new(marked)),
            last: first,
            asked: BTreeMap::new(),
            sent: BTreeSet::new(),
        };
        loop {
            if self.follow(&mut reading).await.is_none() {
                return;
            }
        }
    }

    /// Reads the journal and then follows it. `None`: the client is gone.
    async fn follow(&mut self, reading: &mut Reading) -> Option<()> {
        let feed = match self.chat.0.feeds.of(&self.agent).await {
            Ok(feed) => feed,
            Err(error) => {
                tracing::warn!(agent = self.agent.id(), %error, "chat: following an agent failed");
                tokio::time::sleep(RETRY).await;
                return Some(());
            }
        };
        let (_, mut fed) = feed.join(&self.owner);
        self.catch_up(reading).await?;
        self.begin_listening(reading).await?;
        let mut pieces = Pieces::new();
        let mut thoughts = BTreeMap::new();
        let mut heard: BTreeSet<String> = reading
            .telling
            .open_turns()
            .map(ToString::to_string)
            .collect();
        for turn in &heard {
            self.listen(&mut pieces, turn).await;
        }
        loop {
            tokio::select! {
                biased;
                // Closed: this window was too slow, or the feed has ended.
                next = fed.recv() => match next {
                    None => return Some(()),
                    Some(Fed::Passing(message)) => {
                        let message = self.placed(message);
                        self.out.send((self.number, message)).await.ok()?;
                    }
                    Some(Fed::Record(number, record)) => {
                        if number <= reading.last {
                            continue;
                        }
                        let turns = self.show(reading, number, &record).await?;
                        for turn in turns {
                            thoughts.remove(&turn);
                            let open = reading.telling.open_turns().any(|it| *it == turn);
                            if !open {
                                heard.remove(&turn);
                            } else if heard.insert(turn.clone()) {
                                self.listen(&mut pieces, &turn).await;
                            }
                        }
                    }
                },
                Some((turn, said)) = pieces.next(), if !pieces.is_empty() => {
                    let Some(said) = said else {
                        // A stream ends with a question; what comes after the answer is in another one.
                        let open = reading.telling.open_turns().any(|it| *it == turn);
                        if open && heard.contains(&turn) {
                            self.listen(&mut pieces, &turn).await;
                        }
                        continue;
                    };
                    if said.is_err() {
                        heard.remove(&turn);
                    }
                    for event in said.into_iter().flatten() {
                        let piece = thoughts.entry(turn.clone()).or_default();
                        if let Some(message) = self.piece(&reading.telling, &turn, piece, &event) {
                            // A slow client skips pieces: it gets the whole text later.
                            let _ = self.out.try_send((self.number, Arc::new(message)));
                        }
                    }
                },
                () = self.out.closed() => return None,
            }
        }
    }

    /// A message that is not recorded, with the state and the cursor of this window if it has none: a client may go on from
    /// the cursor of any message.
    fn placed(&self, message: Arc<Envelope>) -> Arc<Envelope> {
        if message.metadata.cursor != Cursor::default() {
            return message;
        }
        let standing = self.standing();
        let mut placed = Envelope::clone(&message);
        placed.metadata.cursor = standing.cursor;
        placed.metadata.agent_state = standing.state;
        Arc::new(placed)
    }

    /// Reads what is in the journal.
    async fn catch_up(&mut self, reading: &mut Reading) -> Option<()> {
        loop {
            let page = match self.agent.records(reading.last, PAGE).await {
                Ok(page) => page,
                Err(error) => {
                    tracing::warn!(agent = self.agent.id(), %error, "chat: reading the journal failed");
                    tokio::time::sleep(RETRY).await;
                    continue;
                }
            };
            if page.is_empty() {
                return Some(());
            }
            for (number, record) in page {
                self.show(reading, number, &record).await?;
            }
        }
    }

    /// After the first reading: what waits is always shown, and the client is told that it has everything.
    async fn begin_listening(&mut self, reading: &mut Reading) -> Option<()> {
        let Some(ready) = self.ready.take() else {
            return Some(());
        };
        let mut waiting = Vec::new();
        for id in reading.telling.waiting_ids() {
            waiting.push(id.to_owned());
            let Some(question) = reading.asked.get(id) else {
                continue;
            };
            if self.from != From::Now && !reading.sent.contains(id) {
                let mut question = Envelope::clone(question);
                question.metadata.cursor = self.standing().cursor;
                self.out
                    .send((self.number, Arc::new(question)))
                    .await
                    .ok()?;
            }
        }
        if self.from != From::Now {
            let data = json!({
                "session_id": self.place.session,
                "messages": reading.sent.len(),
                "waiting": waiting,
            });
            let standing = self.standing();
            let restored =
                Passing::event("session_restored", data, standing.state, standing.cursor);
            let restored = self.place.passing(restored);
            self.out
                .send((self.number, Arc::new(restored)))
                .await
                .ok()?;
        }
        self.from = From::After(self.standing().cursor);
        reading.sent.clear();
        let _ = ready.send(());
        Some(())
    }

    fn standing(&self) -> SessionState {
        *self.standing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a record in and sends what it tells. Gives the requests that it is about.
    async fn show(
        &mut self,
        reading: &mut Reading,
        number: u64,
        record: &Record,
    ) -> Option<BTreeSet<String>> {
        reading.last = number;
        let moments = reading.telling.take(record);
        let mut turns = BTreeSet::new();
        for moment in &moments {
            let changes = matches!(
                moment.what,
                MomentKind::Requested { .. }
                    | MomentKind::Thought { .. }
                    | MomentKind::Ended { .. }
            );
            turns.extend(moment.turn.clone().map(String::from).filter(|_| changes));
        }
        let waiting = reading.telling.waiting_ids();
        reading.asked.retain(|id, _| waiting.contains(&**id));
        for message in self.place.messages(number, &moments) {
            let cursor = message.metadata.cursor;
            let message = Arc::new(message);
            if message.kind == MessageType::ApprovalRequest && waiting.contains(&*message.id) {
                reading.asked.insert(message.id.clone(), message.clone());
            }
            let wanted = match self.from {
                From::Now => false,
                From::After(after) => cursor > after,
            };
            if wanted {
                if self.ready.is_some() {
                    reading.sent.insert(message.id.clone());
                }
                self.out.send((self.number, message)).await.ok()?;
            }
            let mut standing = self.standing.lock().unwrap_or_else(PoisonError::into_inner);
            standing.cursor = standing.cursor.max(cursor);
        }
        let mut standing = self.standing.lock().unwrap_or_else(PoisonError::into_inner);
        standing.state = reading.telling.state();
        Some(turns)
    }

    /// Listens to the pieces of what a task says. A task that has ended has none.
    async fn listen(&self, pieces: &mut Pieces, turn: &str) {
        let service = &self.chat.0.parts.service;
        let request = SubscribeToTaskRequest {
            tenant: match self.chat.0.parts.rights.is_default(self.agent.id()) {
                true => String::new(),
                false => self.agent.id().to_owned(),
            },
            id: turn.to_owned(),
        };
        let events = service.subscribe_to_task(Call::by(self.caller.clone()), request);
        if let Ok(events) = events.await {
            let turn = turn.to_owned();
            let said = events.map(Some).chain(stream::iter([None]));
            pieces.push(Box::pin(said.map(move |it| (turn.clone(), it))));
        }
    }

    /// The message that shows how far a thought is, if there is enough to show.
    fn piece(
        &self,
        telling: &Telling,
        turn: &str,
        piece: &mut Piece,
        event: &a2a::event::Event,
    ) -> Option<Envelope> {
        let standing = self.standing();
        let passing = |kind, id, payload| Passing {
            id,
            kind,
            payload,
            state: telling.state(),
            priority: Priority::Low,
            task: Some(turn.to_owned()),
            cursor: standing.cursor,
        };
        match &event.response().payload {
            Event::ArtifactUpdate(update) => {
                let artifact = update.artifact.as_ref()?;
                if artifact.artifact_id.starts_with(PRINTED) {
                    // A client that is behind misses some of it; the result has all.
                    let data =
                        json!({ "task_id": turn, "message": Part::join_text(&artifact.parts) });
                    let payload = json!({ "event": "progress", "data": data });
                    let shown = passing(MessageType::SystemEvent, None, payload);
                    return Some(self.place.passing(shown));
                }
                let whole = match &*artifact.artifact_id {
                    ANSWER => &mut piece.text,
                    REASONING => &mut piece.reasoning,
                    _ => return None,
                };
                if !update.append {
                    whole.clear();
                }
                whole.push_str(&Part::join_text(&artifact.parts));
                let effect = telling.thinking(turn)?;
                let size = piece.text.len() + piece.reasoning.len();
                let soon = piece.at.is_some_and(|at| at.elapsed() < GATHER);
                if soon || size < piece.shown + piece.shown / 16 || size == piece.shown {
                    return None;
                }
                piece.shown = size;
                piece.at = Some(Instant::now());
                let (part, content) = match piece.text.is_empty() {
                    true => (show::REASONING, &piece.reasoning),
                    false => (show::TEXT, &piece.text),
                };
                let mut payload = json!({
                    "action_type": "reasoning",
                    "content": content,
                    "part": part,
                    "reasoning_steps": lines(&piece.reasoning),
                    "partial": true,
                });
                if part == show::TEXT && !piece.reasoning.is_empty() {
                    payload["reasoning"] = piece.reasoning.as_str().into();
                }
                let id = Some(self.place.thought_id(effect));
                Some(
                    self.place
                        .passing(passing(MessageType::AgentAction, id, payload)),
                )
            }
            Event::StatusUpdate(update) => {
                let status = update.status.as_ref()?;
                let said = status.message.as_ref()?.text();
                let working = status.state == TaskState::Working
                    && telling.state() == State::Executing
                    && !said.is_empty();
                let payload =
                    json!({ "event": "progress", "data": { "task_id": turn, "message": said } });
                working.then(|| {
                    self.place
                        .passing(passing(MessageType::SystemEvent, None, payload))
                })
            }
            _ => None,
        }
    }
}
