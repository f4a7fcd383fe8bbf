//! What code outside of the crate can do: look at a state, and ask a handle.

fn main() {}

fn look(life: &agent::AgentState, change: &agent::Change, what: &agent::EventKind) -> bool {
    let _ = (change, what);
    life.context().goals().is_empty()
}

async fn ask(agent: agent::AgentHandle) -> bool {
    agent.status().await.is_ok()
}
