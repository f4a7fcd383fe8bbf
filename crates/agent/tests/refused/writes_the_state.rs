fn main() {}

fn meddle(mut life: agent::AgentState) {
    life.context.paused = true;
}
