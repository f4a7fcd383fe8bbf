//! A run: a search with its record and its evaluator.

use std::sync::Arc;

use crate::component::Component;
use crate::error::Error;
use crate::evaluator::{Asked, Evaluator};
use crate::event::{Event, Purpose};
use crate::journal::Journal;
use crate::random::Random;
use crate::sample::Sample;
use crate::search::{Next, Search, Settings};

/// A search that is carried out: what it wants is recorded, done, and told to it.
///
/// Each candidate is recorded before it is evaluated and each result when it is there, so that a run which is killed goes on
/// where it was: an evaluation that began and did not end is begun again, and after the third time its candidate counts as
/// invalid. An evaluation has no effect outside of its sandbox. Dropping the future of [`advance`](Self::advance) is the same
/// as a kill.
#[derive(Debug)]
pub struct Run<J, E> {
    search: Search,
    journal: J,
    evaluator: E,
    seed: u64,
}

/// One thing that a run has done, for people who watch it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Progress {
    /// A candidate was evaluated.
    Evaluated {
        n: usize,
    },
    Stopped {
        why: String,
    },
}

impl<J: Journal, E: Evaluator> Run<J, E> {
    /// Takes a run up from its record, which may be empty.
    pub fn open(
        component: Arc<Component>,
        settings: Settings,
        mut journal: J,
        evaluator: E,
    ) -> Result<Self, Error> {
        let seed = settings.seed;
        let mut search = Search::new(component, settings);
        journal.read()?.iter().for_each(|it| search.apply(it));
        Ok(Self {
            search,
            journal,
            evaluator,
            seed,
        })
    }

    pub fn search(&self) -> &Search {
        &self.search
    }

    pub fn evaluator(&mut self) -> &mut E {
        &mut self.evaluator
    }

    fn record(&mut self, event: &Event) -> Result<(), Error> {
        self.journal.append(event)?;
        self.search.apply(event);
        Ok(())
    }

    /// Does the next thing and says what it was.
    pub async fn advance(&mut self) -> Result<Progress, Error> {
        loop {
            match self.search.next() {
                Next::Propose(event) => self.record(&event)?,
                Next::Evaluate(n) => {
                    let sample = self.evaluate(n).await?;
                    self.record(&Event::Ended { n, sample })?;
                    return Ok(Progress::Evaluated { n });
                }
                Next::Stop(why) => {
                    if self.search.stopped() != Some(&why) {
                        self.record(&Event::Stopped { why: why.clone() })?;
                    }
                    return Ok(Progress::Stopped { why });
                }
            }
        }
    }

    async fn evaluate(&mut self, n: usize) -> Result<Sample, Error> {
        if self.search.is_poisonous(n) {
            return Ok(Sample::invalid(
                "its evaluation was begun three times and never ended",
            ));
        }
        let Some(content) = self.search.content(n) else {
            return Ok(Sample::invalid("its parent is not known"));
        };
        let entry = self.search.entries().get(n);
        let taken = entry.map_or(0, |it| it.samples.len());
        // Other draws than the search's for what is shown beside it.
        let part = entry.map_or(0, |it| u64::from(it.purpose == Purpose::Random));
        let mut random = Random::at(
            self.seed.wrapping_add(part << 60),
            (n as u64) << 16 | taken as u64,
        );
        self.evaluator.ready().await?;
        self.record(&Event::Began { n })?;
        let asked = Asked {
            n,
            content: &content,
            // Python's generators take 32 bits.
            seed: random.next() >> 33,
        };
        self.evaluator.evaluate(asked).await
    }
}
