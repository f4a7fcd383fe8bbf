//! The best of many scored records, in one pass.

use crate::index::Slot;

/// So many scores are compared at once, where the compiler finds registers for it.
const CHUNK: usize = 16;

/// The [`key`]s of the `count` records with the highest scores, in no order; among equals the lower slot is better. Scores
/// are by slot, and only those higher than `above` count. What was in `keys`, the list to work in, is dropped.
///
/// A record and its score are one number in the list, so that comparing is comparing numbers. Of twice as many as are
/// wanted the worse half is dropped, and from then on a score has to be higher than the worst of the rest: an equal one has
/// a higher slot. So most scores cost a part of one comparison, where sorting looks at each of them many times.
pub(super) fn best<'a>(
    scores: &[f32],
    count: usize,
    mut above: f32,
    keys: &'a mut Vec<u64>,
) -> &'a mut [u64] {
    keys.clear();
    for (start, chunk) in (0..).step_by(CHUNK).zip(scores.chunks(CHUNK)) {
        // Without a branch for each score, so that they are compared together.
        if !chunk
            .iter()
            .fold(false, |any, score| any | (*score > above))
        {
            continue;
        }
        for (slot, &score) in (start..).zip(chunk) {
            if score > above {
                keys.push(key(slot, score));
                if keys.len() > 2 * count {
                    above = drop_worse(keys, count);
                }
            }
        }
    }
    if keys.len() > count {
        drop_worse(keys, count);
    }
    keys
}

/// Drops all but the best; the score of the worst of them.
fn drop_worse(keys: &mut Vec<u64>, count: usize) -> f32 {
    let Some(last) = count.checked_sub(1) else {
        keys.clear();
        return f32::INFINITY;
    };
    let (_, worst, _) = keys.select_nth_unstable_by(last, |a, b| b.cmp(a));
    let worst = score(*worst);
    keys.truncate(count);
    worst
}

/// A number that is greater for a higher score, and among equals for a lower slot.
pub(super) fn key(slot: Slot, score: f32) -> u64 {
    u64::from(ordered(score)) << 32 | u64::from(!slot)
}

pub(super) fn slot(key: u64) -> Slot {
    !(key as u32)
}

pub(super) fn score(key: u64) -> f32 {
    unordered((key >> 32) as u32)
}

const SIGN: u32 = 1 << 31;

/// A number that is ordered as [`f32::total_cmp`] orders.
pub(super) fn ordered(score: f32) -> u32 {
    let bits = score.to_bits();
    if bits & SIGN == 0 { bits | SIGN } else { !bits }
}

/// The score of which [`ordered`] made this number.
pub(super) fn unordered(ordered: u32) -> f32 {
    f32::from_bits(if ordered & SIGN == 0 {
        !ordered
    } else {
        ordered & !SIGN
    })
}
