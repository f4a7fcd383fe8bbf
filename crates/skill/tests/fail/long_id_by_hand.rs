//! An id of 64 letters, in a specification that is written by hand.

use skill::Id;

const _: Id = Id::new("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa");

fn main() {}
