fn main() {}

fn meddle(mut life: agent::Life) {
    life.context.paused = true;
}
