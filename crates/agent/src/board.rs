//! Boards: letters that agents and their callers share. They can be added to and read, and never changed.

use std::fmt;

use store::{Batch, Column, NewEvent, Query, Row, Store, StreamId, Table};

use crate::message::{Body, InvalidLetter, Letter, written};

/// The boards that there are: a row for each.
pub(crate) static BOARDS: Table = Table {
    name: "boards",
    columns: &[Column::integer("created")],
    indexes: &[],
};

/// The most boards of a server, letters of a board, and bytes of a letter.
const MAX_BOARDS: usize = 1_000;
const MAX_LETTERS: u64 = 100_000;
const MAX_LETTER: usize = 16 * 1024;

/// Why a board did not do what was asked.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BoardError {
    #[error("{0:?} is no name of a board: a name is a lower-case DNS label")]
    Name(String),
    #[error("the board is full, or there are too many boards")]
    Full,
    #[error(transparent)]
    Store(#[from] store::Error),
}

/// The boards of a server.
#[derive(Clone)]
pub struct Boards(Store);

impl Boards {
    /// The boards in a store that has [`TABLES`](crate::TABLES).
    pub fn open(store: Store) -> Self {
        Self(store)
    }

    /// The board of this name. It exists once a letter was posted.
    pub fn board(&self, name: &str) -> Result<Board, BoardError> {
        match skill::is_label(name) {
            true => Ok(Board::open(self.0.clone(), name)),
            false => Err(BoardError::Name(name.to_owned())),
        }
    }

    /// The names of all boards, in their order.
    pub async fn names(&self) -> Result<Vec<String>, BoardError> {
        let query = Query::of(&BOARDS).limit(MAX_BOARDS);
        let rows = self.0.read(move |view| view.rows(&query)).await?;
        Ok(rows.into_iter().map(|row| row.key).collect())
    }
}

impl fmt::Debug for Boards {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Boards").finish_non_exhaustive()
    }
}

/// A board: letters on it stay as they are, in the order in which they came. An agent that disagrees writes another.
#[derive(Clone, Debug)]
pub struct Board {
    store: Store,
    name: String,
    stream: StreamId,
}

impl Board {
    /// The board of this name.
    pub fn open(store: Store, name: &str) -> Self {
        Self {
            store,
            name: name.to_owned(),
            stream: StreamId::new(format!("board/{name}")),
        }
    }

    /// A letter for this board, written now, and the caller for whom an agent writes it.
    pub fn letter(
        &self,
        agent: &str,
        caller: Option<String>,
        body: Body,
    ) -> Result<Letter, InvalidLetter> {
        let id = uuid::Uuid::new_v4().to_string();
        let mut letter = written(agent, &id, body);
        letter.provenance.caller = caller;
        let letter = letter.checked()?;
        match serde_json::to_vec(&letter)?.len() > MAX_LETTER {
            true => Err(InvalidLetter::TooLong(MAX_LETTER)),
            false => Ok(letter),
        }
    }

    /// Whether a letter was posted.
    pub async fn exists(&self) -> Result<bool, BoardError> {
        let stream = self.stream.clone();
        let state = self.store.read(move |view| view.stream(&stream)).await?;
        Ok(state.is_some())
    }

    /// Puts a letter at its end; says at which place.
    pub async fn post(&self, letter: &Letter) -> Result<u64, BoardError> {
        let bytes = serde_json::to_vec(letter).unwrap_or_default();
        loop {
            let stream = self.stream.clone();
            let (state, boards) = self
                .store
                .read(move |view| Ok((view.stream(&stream)?, view.count(&Query::of(&BOARDS))?)))
                .await?;
            let last = state.map_or(0, |state| state.last);
            if last >= MAX_LETTERS || last == 0 && boards >= MAX_BOARDS as u64 {
                return Err(BoardError::Full);
            }
            let event = NewEvent::new(bytes.clone());
            let row = Row {
                key: self.name.clone(),
                columns: vec![letter.provenance.at.into()],
                body: Vec::new().into(),
            };
            let batch = Batch::new().append(&self.stream, last, vec![event]);
            let batch = match last {
                0 => batch.put(&BOARDS, row),
                _ => batch,
            };
            match self.store.commit(batch).await {
                Ok(()) => return Ok(last + 1),
                // Another writer was quicker.
                Err(store::Error::Conflict { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// The letters after a place, at most so many.
    pub async fn read(&self, after: u64, limit: usize) -> Result<Vec<(u64, Letter)>, BoardError> {
        let stream = self.stream.clone();
        let entries = self
            .store
            .read(move |view| view.events(&stream, after, limit))
            .await?;
        let letters = entries.iter().filter_map(|entry| {
            let letter = serde_json::from_slice(entry.payload()).ok()?;
            Some((entry.sequence(), letter))
        });
        Ok(letters.collect())
    }
}
