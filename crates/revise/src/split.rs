//! Which episodes a proposal is judged by that its author has not seen.

use crate::gate::state::ProposalId;
use crate::statistics::Random;

/// The episodes of a trial, and those that are held out of it, by their indices.
///
/// The seed belongs to the gate and is not shown to authors of proposals. Each proposal draws anew, so that an author who
/// asks often does not learn which episodes are held out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Split {
    pub trial: Vec<usize>,
    pub held_out: Vec<usize>,
}

impl Split {
    /// Holds one of three episodes out, at least one if there are two.
    pub fn draw(seed: u64, proposal: ProposalId, episodes: usize) -> Self {
        let mut random = Random::new(seed ^ proposal.0.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let mut order: Vec<usize> = (0..episodes).collect();
        for last in (1..order.len()).rev() {
            order.swap(last, random.below(last + 1));
        }
        let kept = match episodes {
            0 | 1 => 0,
            some => (some / 3).max(1),
        };
        let mut held_out = order.split_off(episodes - kept);
        order.sort_unstable();
        held_out.sort_unstable();
        Self {
            trial: order,
            held_out,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_episode_is_in_one_part_and_each_proposal_has_other_parts() {
        let one = Split::draw(7, ProposalId(1), 60);
        let mut all = [&one.trial[..], &one.held_out[..]].concat();
        all.sort_unstable();
        assert_eq!(all, (0..60).collect::<Vec<_>>());
        assert_eq!(one.held_out.len(), 20);
        assert_eq!(
            one,
            Split::draw(7, ProposalId(1), 60),
            "the same seed, the same parts"
        );
        assert_ne!(one, Split::draw(7, ProposalId(2), 60));
        assert_ne!(one, Split::draw(8, ProposalId(1), 60));
    }

    #[test]
    fn a_single_episode_is_not_held_out() {
        assert_eq!(Split::draw(1, ProposalId(1), 1).trial, [0]);
        assert_eq!(Split::draw(1, ProposalId(1), 2).held_out.len(), 1);
        assert!(Split::draw(1, ProposalId(1), 0).trial.is_empty());
    }
}
