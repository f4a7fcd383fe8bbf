//! The card: what it says, and how the extended one is reached.

use a2a::{GetExtendedAgentCardRequest, error_code};

use crate::probe::{Probe, Result, check, check_fails, check_that};

pub(super) async fn card(probe: &Probe) -> Result<()> {
    let card = &probe.card;
    let offered = card
        .supported_interfaces
        .iter()
        .any(|one| one.protocol_binding == probe.binding && one.protocol_version == "1.0");
    check_that(offered, format!("{} 1.0 is not offered", probe.binding))?;
    check_that(!card.name.is_empty(), "the card has no name")?;
    check_that(!card.skills.is_empty(), "the card names no skill")?;
    check(
        card.capabilities.streaming,
        Some(true),
        "the capability to stream",
    )?;
    check(
        card.capabilities.push_notifications,
        Some(true),
        "the capability to push",
    )
}

pub(super) async fn extended_card(probe: &Probe) -> Result<()> {
    // This client asks without regard to the card.
    let request = GetExtendedAgentCardRequest { tenant: None };
    let call = probe.client.get_extended_agent_card(&request);
    if probe.card.capabilities.extended_agent_card != Some(true) {
        return check_fails(call, error_code::UNSUPPORTED_OPERATION).await;
    }
    let extended = call.await?;
    check(
        &extended.name,
        &probe.card.name,
        "the name on the extended card",
    )?;
    check_that(
        extended.skills.len() >= probe.card.skills.len(),
        "the extended card names fewer skills",
    )
}
