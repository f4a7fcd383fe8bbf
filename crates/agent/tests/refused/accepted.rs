//! What code outside of the crate can do: look at a state, and ask a handle.

fn main() {}

fn look(state: &agent::AgentState, change: &agent::Change, what: &agent::EventKind) -> bool {
    let _ = (change, what);
    state.context().goals().is_empty()
}

async fn ask(agent: agent::AgentHandle) -> bool {
    agent.status().await.is_ok()
}
