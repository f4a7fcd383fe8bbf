// HTTP Message Signatures by an independent implementation, in both roles.
//
//   node peer.mjs keys FOLDER          makes a key for each algorithm; writes keys.json (JSON Web Keys) and private parts
//   node peer.mjs call FOLDER URL      signs requests with each key; prints one JSON object for each
//   node peer.mjs serve JWK            verifies requests signed with this key; prints its port, then what came of each

import { constants, createHash, createPublicKey, createPrivateKey, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { createSigner, createVerifier, httpbis } from 'http-message-signatures';

const ALGORITHMS = ['ed25519', 'ecdsa-p256-sha256', 'rsa-v1_5-sha256', 'rsa-pss-sha512', 'hmac-sha256'];

function makeKey(algorithm) {
  if (algorithm === 'hmac-sha256') {
    const jwk = { kty: 'oct', k: randomBytes(32).toString('base64url'), kid: algorithm };
    return [jwk, jwk];
  }
  const [kind, options] = {
    ed25519: ['ed25519', {}],
    'ecdsa-p256-sha256': ['ec', { namedCurve: 'P-256' }],
    'rsa-v1_5-sha256': ['rsa', { modulusLength: 2048 }],
    'rsa-pss-sha512': ['rsa', { modulusLength: 2048 }],
  }[algorithm];
  const pair = generateKeyPairSync(kind, options);
  const alg = algorithm === 'rsa-pss-sha512' ? { alg: 'PS512' } : {};
  const named = (key) => ({ ...key.export({ format: 'jwk' }), ...alg, kid: algorithm });
  return [named(pair.publicKey), named(pair.privateKey)];
}

function keys(folder) {
  const made = ALGORITHMS.map(makeKey);
  const set = (index) => JSON.stringify({ keys: made.map((pair) => pair[index]) });
  for (const [name, index] of [['keys.json', 0], ['private.json', 1]]) {
    writeFileSync(join(folder, name), set(index), { mode: 0o600 });
  }
}

function digest(body) {
  return `sha-256=:${createHash('sha256').update(body).digest('base64')}:`;
}

// The package signs RSA-PSS with the longest salt that fits; RFC 9421 3.3.1 asks for 64 bytes.
function signer(key, algorithm) {
  if (algorithm !== 'rsa-pss-sha512') return createSigner(key, algorithm, algorithm);
  const pss = { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 64 };
  return { id: algorithm, alg: algorithm, sign: async (data) => sign('sha512', data, pss) };
}

async function call(folder, url) {
  const all = JSON.parse(readFileSync(join(folder, 'private.json'), 'utf8')).keys;
  for (const jwk of all) {
    const { alg: _, ...plain } = jwk;
    const key = jwk.kty === 'oct' ? Buffer.from(jwk.k, 'base64url') : createPrivateKey({ key: plain, format: 'jwk' });
    const message = { messageId: randomBytes(8).toString('hex'), role: 'ROLE_USER', parts: [{ text: 'whoami' }] };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message } });
    const request = {
      method: 'POST',
      url,
      headers: { 'content-type': 'application/json', 'a2a-version': '1.0', 'content-digest': digest(body) },
    };
    const signed = await httpbis.signMessage({
      key: signer(key, jwk.kid),
      fields: ['@method', '@authority', '@path', '@query', 'content-digest', 'a2a-version'],
      params: ['created', 'expires', 'nonce', 'keyid', 'alg'],
      paramValues: { nonce: randomBytes(12).toString('base64') },
    }, request);
    const send = async (body) => {
      const answer = await fetch(url, { method: 'POST', headers: signed.headers, body });
      return { status: answer.status, text: await answer.text() };
    };
    const tampered = await httpbisCopy(signed, url, body.replace('whoami', 'whoare'));
    const [first, again] = [await send(body), await send(body)];
    console.log(JSON.stringify({ key: jwk.kid, first, again, tampered }));
  }
}

// The same signature with another body: its own digest does not fit.
async function httpbisCopy(signed, url, body) {
  const input = signed.headers['Signature-Input'] ?? signed.headers['signature-input'];
  if (!input) throw new Error('the request was not signed');
  const answer = await fetch(url, { method: 'POST', headers: { ...signed.headers, 'content-digest': digest(body) }, body });
  return { status: answer.status };
}

function serve(jwk) {
  const algorithm = { OKP: 'ed25519', EC: 'ecdsa-p256-sha256' }[jwk.kty];
  const verifier = createVerifier(createPublicKey({ key: jwk, format: 'jwk' }), algorithm);
  const server = createServer(async (request, response) => {
    const parts = [];
    for await (const part of request) parts.push(part);
    const body = Buffer.concat(parts);
    const whole = {
      method: request.method,
      url: `http://${request.headers.host}${request.url}`,
      headers: request.headers,
    };
    const verified = await httpbis.verifyMessage({
      keyLookup: async (params) => (params.keyid === jwk.kid ? { id: jwk.kid, algs: [algorithm], verify: verifier } : null),
      requiredParams: ['created', 'expires', 'nonce', 'keyid', 'alg'],
      requiredFields: ['@method', '@target-uri', ...(body.length ? ['content-digest'] : [])],
    }, whole).catch((error) => String(error));
    const whole_digest = !body.length || request.headers['content-digest'] === digest(body);
    console.log(JSON.stringify({ method: request.method, verified, digest: whole_digest }));
    const message = { messageId: 'm-1', role: 'ROLE_AGENT', parts: [{ text: 'heard' }] };
    const id = body.length ? JSON.parse(body).id : null;
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result: { message } }));
  });
  server.listen(0, '127.0.0.1', () => console.log(server.address().port));
}

const [role, first, second] = process.argv.slice(2);
if (role === 'keys') keys(first);
else if (role === 'call') await call(first, second);
else if (role === 'serve') serve(JSON.parse(first));
else throw new Error('keys, call or serve');
