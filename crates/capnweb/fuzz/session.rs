//! Fuzzes a session.

mod targets;

fn main() {
    bolero::check!().for_each(targets::session);
}
