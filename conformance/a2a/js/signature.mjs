// Signs and verifies cards with the official SDK, for a test that compares.
//
// Takes one JSON object on standard input, {do: "sign", card, key, alg, kid} or {do: "verify", card, key}, where keys
// are PEM, and prints the signed card, or true; or {error} when the SDK refuses.

import { createPrivateKey, createPublicKey } from 'node:crypto';
import { text } from 'node:stream/consumers';

import { generateAgentCardSignature, verifyAgentCardSignature } from '@a2a-js/sdk';

// Cards are handed over as JSON: the canonical form of a card that the SDK has read before lacks its security
// schemes.
const actions = {
  async sign({ card, key, alg, kid }) {
    const sign = generateAgentCardSignature(createPrivateKey(key), { alg, kid, typ: 'JOSE' });
    return await sign(card);
  },
  async verify({ card, key }) {
    await verifyAgentCardSignature(async () => createPublicKey(key))(card);
    return true;
  },
};

// The SDK reports a signature that does not hold there.
console.debug = () => {};
const request = JSON.parse(await text(process.stdin));
let answer;
try {
  answer = await actions[request.do](request);
} catch (error) {
  answer = { error: String(error) };
}
console.log(JSON.stringify(answer));
