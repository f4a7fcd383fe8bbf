fn main() {}

fn meddle(mut life: agent::Life, change: agent::Change) {
    life.apply(&change);
}
