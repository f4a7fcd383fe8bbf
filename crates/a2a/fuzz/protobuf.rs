//! Fuzzes the reading of protobuf.

mod targets;

fn main() {
    bolero::check!().for_each(targets::protobuf);
}
