"""The card: what it says, and how the extended one is reached."""

from a2a.types import GetExtendedAgentCardRequest
from probe import Probe, check, check_that


async def card(probe: Probe) -> None:
    offered = [
        (interface.protocol_binding, interface.protocol_version)
        for interface in probe.card.supported_interfaces
    ]
    check_that((probe.binding, '1.0') in offered, f'{probe.binding} 1.0 is not among {offered}')
    check_that(bool(probe.card.name and probe.card.version), 'the card has no name or no version')
    check_that(len(probe.card.skills) > 0, 'the card names no skill')
    check(probe.card.capabilities.streaming, True, 'the capability to stream')
    check(probe.card.capabilities.push_notifications, True, 'the capability to push')


async def extended_card(probe: Probe) -> None:
    # Where the card declares none, the client hands out the public card without a call.
    card = await probe.calling.get_extended_agent_card(GetExtendedAgentCardRequest())
    check(card.name, probe.card.name, 'the name on the extended card')
    check_that(len(card.skills) >= len(probe.card.skills), 'the extended card names fewer skills')
