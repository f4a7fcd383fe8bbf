//! Fuzzes a whole server, over each of its wires.

mod served;

fn main() {
    bolero::check!().for_each(served::check);
}
