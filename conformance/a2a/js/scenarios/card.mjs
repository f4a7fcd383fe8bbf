// The card: what it says, and how the extended one is reached.
import assert from "node:assert/strict";

export async function card({ binding, card }) {
  const offered = card.supportedInterfaces.map(one => `${one.protocolBinding} ${one.protocolVersion}`);
  assert.ok(offered.includes(`${binding} 1.0`), `${binding} 1.0 is not among ${offered}`);
  assert.ok(card.name && card.version, "the card has no name or no version");
  assert.ok(card.skills.length > 0, "the card names no skill");
  assert.equal(card.capabilities.streaming, true, "the capability to stream");
  assert.equal(card.capabilities.pushNotifications, true, "the capability to push");
}

export async function extendedCard(probe) {
  // Where the card declares none, the client hands out the public card without a call.
  const extended = await probe.client.getAgentCard();
  assert.equal(extended.name, probe.card.name, "the name on the extended card");
  assert.ok(extended.skills.length >= probe.card.skills.length, "the extended card names fewer skills");
}
