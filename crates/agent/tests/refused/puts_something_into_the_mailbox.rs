fn main() {}

async fn meddle(agent: agent::Resident, what: agent::Perceived) {
    let _ = agent.perceive(what).await;
}
