//! Fuzzes the reading of JSON.

mod targets;

fn main() {
    bolero::check!().for_each(targets::json);
}
