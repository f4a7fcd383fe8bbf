//! Fuzzes the grammar.

mod targets;

fn main() {
    bolero::check!().for_each(targets::expression);
}
