//! A list of tags that is empty, in a specification that is written by hand.

use skill::{Id, OneOrMore, Spec};

const _: Spec = Spec::new(
    Id::new("nothing"),
    "Nothing",
    "Does nothing.",
    OneOrMore::new(&[]),
    OneOrMore::new(&["do nothing"]),
);

fn main() {}
