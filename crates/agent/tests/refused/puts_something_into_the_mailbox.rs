fn main() {}

async fn meddle(agent: agent::AgentHandle, what: agent::EventKind) {
    let _ = agent.perceive(what).await;
}
