//! The trait for things that change by versions.

use crate::verdict::Objective;

/// Something that changes by versions: a law, a procedure, a block of code, a vector of numbers.
///
/// The gate knows nothing of what a change means. Its subject makes the checks that need that knowledge, before a
/// proposal reaches the gate: type, bounds, frozen parts, no new authority, different from what is in force.
pub trait Subject {
    /// A proposed change, as its author wrote it.
    type Change;
    /// The subject after the change.
    type Candidate;
    /// Why a change is not possible, in words for its author.
    type Refused;

    /// The candidate that the change makes of the version in force.
    fn check(&self, change: &Self::Change) -> Result<Self::Candidate, Self::Refused>;

    /// Whether a person has to agree, whatever the trial says.
    fn is_major(&self, change: &Self::Change) -> bool;

    /// What versions are compared by, in the order of the values of a [`crate::Pair`].
    fn objectives(&self) -> &[Objective];
}
