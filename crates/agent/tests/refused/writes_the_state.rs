fn main() {}

fn meddle(mut state: agent::AgentState) {
    state.context.paused = true;
}
