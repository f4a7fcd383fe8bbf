//! Fuzzes the reading of what stands in URLs.

mod targets;

fn main() {
    bolero::check!().for_each(targets::text);
}
