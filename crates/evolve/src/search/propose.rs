//! The next candidate of a search.

use std::sync::Arc;

use super::Search;
use crate::candidate::{Content, Edit, check};
use crate::event::{Event, Purpose};
use crate::operator::literal::Literal;
use crate::operator::{Operator, Parent, choice, cross, edit, edit_of, literal, vector};
use crate::random::{Random, real};
use crate::syntax::Parsed;

/// How often an operator is asked before another has its turn: most of what it proposes may be known.
const ASKED: usize = 40;

/// How many candidates are kept parsed.
const KEPT: usize = 48;

/// Neighbourhoods of options up to this size are searched first and to their end.
const SMALL: usize = 128;

/// After how many evaluations without a better candidate the search looks back more often.
const STILL: usize = 40;

/// How many of the best candidates give parts to others.
const DONORS: usize = 12;

/// A candidate as operators read it.
#[derive(Debug)]
pub(super) struct Prepared {
    content: Content,
    literals: Vec<Literal>,
    slots: Vec<choice::Slot>,
    /// In the order in which they are tried.
    neighbours: Vec<Edit>,
}

/// A candidate that no other equals.
struct Found {
    parent: usize,
    operator: Operator,
    edit: Edit,
    hash: String,
    cursor: usize,
    touched: Vec<usize>,
}

/// The step of the generator for a draw of a candidate.
pub(super) fn draw(n: usize, attempt: usize) -> u64 {
    (n as u64) ^ ((attempt as u64) << 40)
}

impl Search {
    fn prepare(&mut self, n: usize) -> Option<Arc<Prepared>> {
        if let Some(prepared) = self.prepared.get(&n) {
            return Some(Arc::clone(prepared));
        }
        let content = self.content(n)?;
        let files: Vec<Parsed> = self.component.parse(&content);
        let parent = Parent {
            component: &self.component,
            content: &content,
            files: &files,
        };
        let mut neighbours = edit::neighbours(parent);
        Random::at(self.settings.seed ^ 0x5EED, n as u64).shuffle(&mut neighbours);
        let prepared = Arc::new(Prepared {
            literals: literal::literals(parent),
            slots: choice::slots(parent),
            neighbours,
            content,
        });
        if self.prepared.len() >= KEPT {
            self.prepared.clear();
        }
        self.prepared.insert(n, Arc::clone(&prepared));
        Some(prepared)
    }

    /// The hash of an edit's candidate, if it can be run and was not there before.
    fn fresh(&self, prepared: &Prepared, edit: &Edit) -> Option<String> {
        let content = prepared.content.edited(edit)?;
        let hash = check(&self.component, &content, self.faults).ok()?;
        (!self.by_hash.contains_key(&hash)).then_some(hash)
    }

    fn found(
        &self,
        prepared: &Prepared,
        parent: usize,
        operator: Operator,
        edit: Edit,
    ) -> Option<Found> {
        Some(Found {
            hash: self.fresh(prepared, &edit)?,
            parent,
            operator,
            edit,
            cursor: 0,
            touched: Vec::new(),
        })
    }

    fn event(&self, found: Found, purpose: Purpose) -> Event {
        Event::Proposed {
            n: self.entries.len(),
            parent: found.parent,
            purpose,
            operator: found.operator,
            edit: found.edit,
            hash: found.hash,
            cursor: found.cursor,
            touched: found.touched,
            by: None,
        }
    }

    pub(super) fn propose(&mut self) -> Option<Event> {
        let n = self.entries.len();
        let mut random = Random::at(self.settings.seed, n as u64);
        let found = self.search(n, &mut random)?;
        Some(self.event(found, Purpose::Search))
    }

    fn search(&mut self, n: usize, random: &mut Random) -> Option<Found> {
        let current = self.current;
        let prepared = self.prepare(current)?;
        let options = choice::neighbours(&prepared.slots, &[]).len();
        if options <= SMALL
            && let Some(found) = self.choose(current, &prepared)
        {
            return Some(found);
        }
        if let Some(found) = self.stride(n, current, &prepared) {
            return Some(found);
        }
        for operator in self.bandit.order(&self.operators(), random) {
            let parent = self.parent(operator, random);
            let prepared = self.prepare(parent)?;
            let found = match operator {
                Operator::Edit => self.edit(parent, &prepared),
                Operator::Literal => self.literal(parent, &prepared, random),
                Operator::Cross => self.cross(parent, &prepared, random),
                Operator::Choice => self.choose(parent, &prepared),
                _ => self.vector(n),
            };
            if found.is_some() {
                return found;
            }
        }
        self.left_over(current, random)
    }

    fn operators(&self) -> Vec<Operator> {
        let mut operators = Vec::new();
        if !self.component.files.is_empty() {
            let of_text = [
                Operator::Edit,
                Operator::Literal,
                Operator::Cross,
                Operator::Choice,
            ];
            operators.extend(of_text);
        }
        if self.vectors.is_some() {
            operators.push(Operator::Vector);
        }
        operators
    }

    /// Neighbourhoods that were left for better candidates, then several edits at once.
    fn left_over(&mut self, current: usize, random: &mut Random) -> Option<Found> {
        let mut ancestor = Some(current);
        while let Some(at) = ancestor {
            let prepared = self.prepare(at)?;
            if let Some(found) = self.edit(at, &prepared) {
                return Some(found);
            }
            ancestor = self.entries.get(at)?.parent;
        }
        let prepared = self.prepare(current)?;
        (0..ASKED * 5).find_map(|_| {
            let count = 2 + random.below(2);
            let picked = (0..count).filter_map(|_| random.pick(&prepared.neighbours));
            let edit = edit_of(picked.flat_map(|it| it.replacements.clone()).collect())?;
            self.found(&prepared, current, Operator::Edit, edit)
        })
    }

    /// The parent of a proposal: the best mostly, else one of its ancestors, of which the neighbourhood may hold what a greedy
    /// step passed by. The longer nothing better was found, the more often.
    fn parent(&self, operator: Operator, random: &mut Random) -> usize {
        let share = match operator {
            Operator::Edit if self.since > STILL => 0.5,
            Operator::Edit => 0.15,
            _ => 0.06,
        };
        if !random.chance(share) {
            return self.current;
        }
        let mut ancestors = vec![self.current];
        let mut at = self.current;
        while let Some(parent) = self.entries.get(at).and_then(|it| it.parent) {
            ancestors.push(parent);
            at = parent;
        }
        random.pick(&ancestors).copied().unwrap_or(self.current)
    }

    /// The next option: slots one after the other, the order of the options in each drawn by the seed.
    fn choose(&self, parent: usize, prepared: &Prepared) -> Option<Found> {
        let mut all = choice::neighbours(&prepared.slots, &[]);
        Random::at(self.settings.seed, 0x000C_401C).shuffle(&mut all);
        all.sort_by_key(|it| (self.settled.contains(&it.0), it.0));
        let begin = self.choices.get(&parent).copied().unwrap_or_default();
        let rest = all.into_iter().enumerate().skip(begin);
        rest.filter_map(|(index, (slot, edit))| {
            let found = self.found(prepared, parent, Operator::Choice, edit)?;
            Some(Found {
                cursor: index + 1,
                touched: vec![slot],
                ..found
            })
        })
        .next()
    }

    /// After a step of numbers that was an improvement the same step, longer.
    fn stride(&mut self, n: usize, current: usize, prepared: &Prepared) -> Option<Found> {
        let entry = self.entries.get(current)?;
        let by_numbers = matches!(entry.operator, Operator::Literal | Operator::Stride);
        if !by_numbers || n != current + 1 || self.best != current {
            return None;
        }
        let before = entry.parent?;
        let before = self.prepare(before)?;
        let (edit, touched) = literal::stride(&before.literals, &prepared.literals)?;
        let found = self.found(prepared, current, Operator::Stride, edit)?;
        Some(Found { touched, ..found })
    }

    /// The next of the neighbourhood.
    fn edit(&self, parent: usize, prepared: &Prepared) -> Option<Found> {
        let begin = self.cursors.get(&parent).copied().unwrap_or_default();
        let rest = prepared.neighbours.iter().enumerate().skip(begin);
        rest.filter_map(|(index, edit)| {
            let found = self.found(prepared, parent, Operator::Edit, edit.clone())?;
            Some(Found {
                cursor: index + 1,
                ..found
            })
        })
        .next()
    }

    fn literal(&self, parent: usize, prepared: &Prepared, random: &mut Random) -> Option<Found> {
        (0..ASKED).find_map(|_| {
            let (edit, touched) = literal::step(&prepared.literals, &self.sizes, random)?;
            let found = self.found(prepared, parent, Operator::Literal, edit)?;
            Some(Found { touched, ..found })
        })
    }

    /// Parts of one of the other good candidates.
    fn cross(&mut self, parent: usize, prepared: &Prepared, random: &mut Random) -> Option<Found> {
        let fitness = |n: &usize| self.entries.get(*n).map(|it| it.fitness().number());
        let mut others: Vec<usize> = (0..self.entries.len()).filter(|it| *it != parent).collect();
        others.retain(|it| fitness(it).is_some_and(|it| it > f64::MIN));
        others.sort_by(|a, b| {
            fitness(b)
                .unwrap_or(f64::MIN)
                .total_cmp(&fitness(a).unwrap_or(f64::MIN))
        });
        others.truncate(DONORS);
        for _ in 0..8 {
            let other = *random.pick(&others)?;
            let other = self.prepare(other)?;
            let numbers = cross::numbers(&prepared.literals, &other.literals, random);
            let crossed = numbers.or_else(|| {
                let edit = cross::lines(&prepared.content.blocks, &other.content.blocks, random)?;
                Some((edit, Vec::new()))
            });
            let Some((edit, touched)) = crossed else {
                continue;
            };
            if let Some(found) = self.found(prepared, parent, Operator::Cross, edit) {
                return Some(Found { touched, ..found });
            }
        }
        None
    }

    /// The next point of the declared parameters. It is told to its search with the same draw.
    fn vector(&mut self, n: usize) -> Option<Found> {
        let parent = self.current;
        let prepared = self.prepare(parent)?;
        let vectors = self.vectors.as_ref()?;
        (0..ASKED).find_map(|attempt| {
            let mut random = Random::at(self.settings.seed, draw(n, attempt));
            let mut point = vectors.ask(&mut random);
            // Where values are few, most are soon known: then a place nearby, drawn wider and wider.
            if attempt > 0 {
                let width = 0.02 * real(attempt);
                point
                    .iter_mut()
                    .for_each(|it| *it += width * random.normal());
            }
            let edit = vector::edit(&self.component, &prepared.content, &point);
            let found = self.found(&prepared, parent, Operator::Vector, edit)?;
            Some(Found {
                cursor: attempt,
                ..found
            })
        })
    }

    /// A candidate that no result of the search had a part in: one to four draws from the version in force.
    pub(super) fn propose_at_random(&mut self) -> Option<Event> {
        let n = self.entries.len();
        let prepared = self.prepare(0)?;
        let mut random = Random::at(self.settings.seed ^ 0xA11, n as u64);
        let found = (0..ASKED * 5).find_map(|_| {
            let (operator, edit) = self.drawn(&prepared, &mut random)?;
            self.found(&prepared, 0, operator, edit)
        })?;
        Some(self.event(found, Purpose::Random))
    }

    fn drawn(&self, prepared: &Prepared, random: &mut Random) -> Option<(Operator, Edit)> {
        if self.vectors.is_some() {
            let parameters = self.component.parameters.iter();
            let point = parameters.map(|_| random.unit()).collect();
            return Some((
                Operator::Vector,
                vector::edit(&self.component, &prepared.content, &point),
            ));
        }
        let count = 1 + random.below(4);
        let slots = choice::neighbours(&prepared.slots, &[]);
        let (operator, drawn): (Operator, Vec<Edit>) = match random.below(3) {
            0 if !slots.is_empty() => {
                let picked = (0..count).filter_map(|_| random.pick(&slots));
                (Operator::Choice, picked.map(|it| it.1.clone()).collect())
            }
            1 => {
                let picked = (0..count).filter_map(|_| random.pick(&prepared.neighbours));
                (Operator::Edit, picked.cloned().collect())
            }
            _ => (
                Operator::Literal,
                literal::step(&prepared.literals, &[], random)
                    .map(|it| it.0)
                    .into_iter()
                    .collect(),
            ),
        };
        let edit = edit_of(drawn.into_iter().flat_map(|it| it.replacements).collect())?;
        Some((operator, edit))
    }
}
