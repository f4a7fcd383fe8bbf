//! The answer to a question: ranked hits, with entities, relations and provenance.

use std::sync::Arc;

use super::question::Question;
use super::rank::Ranker;
use super::{Hit, Link, Mode, Recall, RecallAnswer, Relation, Weights, tokens};
use crate::graph::Seen;
use crate::record::{Record, RecordId};
use crate::rules::{self, Rules};
use crate::space::Space;
use crate::viewer::Viewer;
use crate::writer::now;

/// Bounds of an answer.
const MAX_ENTITIES: usize = 32;
const MAX_RELATIONS: usize = 64;
const MAX_PROVENANCE: usize = 16;

/// How many relations of an entity that the question names are shown.
const EDGES: usize = 8;

/// A question with all that ranking needs to know of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct RecallInput<'a> {
    pub(super) recall: &'a Recall,
    pub(super) vector: Option<&'a [f32]>,
    pub(super) weights: &'a Weights,
    pub(super) viewer: &'a Viewer,
}

/// Answers a question from a space.
pub(super) fn answer(
    ranker: &mut Ranker,
    space: &Space,
    asked: RecallInput<'_>,
    rules: &Rules,
    retriever: String,
) -> RecallAnswer {
    let RecallInput {
        recall,
        vector,
        weights,
        viewer,
    } = asked;
    let by_record = |slot| space.at(slot).is_some_and(|record| viewer.sees(record));
    let seen = Seen::by(viewer, &by_record);
    let mut question = Question::of(&recall.question, space.graph());
    // The name of an entity tells that a record mentions it.
    question
        .entities
        .retain(|name| space.graph().is_seen(name, seen));
    let allowed =
        |slot| seen.sees(slot) && space.at(slot).is_some_and(|record| recall.admits(record));
    let ranked = ranker.rank(
        space.corpus(),
        &question,
        vector,
        weights,
        recall.limit,
        &allowed,
    );
    let best = ranked.first().map_or(1.0, |it| it.score);
    let now = now();
    let mut left = recall.tokens.unwrap_or(usize::MAX);
    let mut hits = Vec::with_capacity(ranked.len());
    let mut slots = Vec::with_capacity(ranked.len());
    for ranked in ranked {
        let Some(record) = space.at(ranked.slot) else {
            continue;
        };
        let size = tokens(&record.content.text);
        // A long hit is skipped, so that shorter ones behind it still fit.
        if size > left {
            continue;
        }
        left -= size;
        slots.push(ranked.slot);
        hits.push(Hit {
            record: Arc::clone(record),
            score: ranked.score,
            relevance: ranked.score / best,
            similarity: vector.and_then(|vector| space.vectors().near(ranked.slot, vector)),
            signs: ranked.signs(),
            confidence: record
                .kept()
                .map(|kept| rules::confidence(record, kept, rules, now)),
            provenance: provenance(space, viewer, record),
        });
    }
    let graph = space.graph();
    let mut names = question.entities.clone();
    for name in slots.iter().flat_map(|&slot| graph.of(slot)) {
        if !names.iter().any(|it| it == name) && names.len() < MAX_ENTITIES {
            names.push(name.to_owned());
        }
    }
    let mut relations: Vec<Relation> = Vec::new();
    let local = recall.mode != Mode::Global;
    let around = question.entities.iter().filter(|_| local);
    let edges = around.flat_map(|name| graph.edges(name, EDGES));
    for edge in slots
        .iter()
        .flat_map(|&slot| graph.relations_of(slot))
        .chain(edges)
    {
        let Some(relation) = crate::view::relation(space, edge, seen) else {
            continue;
        };
        if !relations.contains(&relation) && relations.len() < MAX_RELATIONS {
            relations.push(relation);
        }
    }
    RecallAnswer {
        hits,
        entities: names
            .iter()
            .filter_map(|name| graph.node(name, seen))
            .collect(),
        relations,
        retriever,
    }
}

/// The records that a record was concluded from, and those that they were concluded from, each once.
fn provenance(space: &Space, viewer: &Viewer, record: &Record) -> Vec<Link> {
    let mut chain: Vec<Link> = Vec::new();
    let mut next: Vec<RecordId> = record
        .kept()
        .map_or_else(Vec::new, |kept| kept.from.clone());
    while let Some(id) = next.pop() {
        if chain.len() >= MAX_PROVENANCE || chain.iter().any(|link| link.id == id) {
            continue;
        }
        let known = space.get(&id);
        if known.is_some_and(|record| !viewer.sees(record)) {
            continue;
        }
        chain.push(Link {
            source: known.and_then(|record| record.source().map(str::to_owned)),
            occurred: known.map(|record| record.occurred()),
            id,
        });
        next.extend(
            known
                .and_then(|record| record.kept())
                .map_or_else(Vec::new, |kept| kept.from.clone()),
        );
    }
    chain
}
