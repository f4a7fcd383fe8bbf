fn main() {}

fn meddle(mut state: agent::AgentState, change: agent::Change) {
    state.apply(&change);
}
