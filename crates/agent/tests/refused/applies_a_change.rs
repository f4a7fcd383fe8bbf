fn main() {}

fn meddle(mut life: agent::AgentState, change: agent::Change) {
    life.apply(&change);
}
