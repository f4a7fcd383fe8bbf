// An OpenID Connect provider for the tests, on loopback. It prints its address, and reads commands, one in a line:
//
//   rotate           sign with a new key from now on; the old one stays published
//   withdraw         publish the newest key alone
//   approve CODE     the user ada agrees to the request of a device
//   fetches          print how often the key set was asked for
//   issue JSON       print a token with these claims, signed with the newest key; `header` and `key` say what differs
//
// Each is answered with one line.

import { createServer } from "node:http";
import { createInterface } from "node:readline";
import { createHmac, createPrivateKey, createPublicKey, generateKeyPairSync, sign } from "node:crypto";
import Provider from "oidc-provider";

// What the library remarks is no answer.
console.info = console.error;

const AUDIENCE = "monas";
const SCOPES = "a2a operator";

let keys = [newKey()];
let fetches = 0;
let issuer;
let provider;
let serve;

function newKey() {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const kid = `key-${Math.random().toString(36).slice(2)}`;
  return { ...privateKey.export({ format: "jwk" }), kid, use: "sig", alg: "ES256" };
}

// Grants, codes and tokens outlive a change of keys, which makes a new provider.
const stored = new Map();

class Adapter {
  constructor(model) {
    this.model = model;
  }
  key(id) {
    return `${this.model}:${id}`;
  }
  async upsert(id, payload) {
    stored.set(this.key(id), payload);
  }
  async find(id) {
    return stored.get(this.key(id));
  }
  async findBy(test) {
    for (const [key, payload] of stored) {
      if (key.startsWith(`${this.model}:`) && test(payload)) return payload;
    }
    return undefined;
  }
  async findByUid(uid) {
    return this.findBy((it) => it.uid === uid);
  }
  async findByUserCode(code) {
    return this.findBy((it) => it.userCode === code);
  }
  async consume(id) {
    stored.get(this.key(id)).consumed = Math.floor(Date.now() / 1000);
  }
  async destroy(id) {
    stored.delete(this.key(id));
  }
  async revokeByGrantId(grant) {
    for (const [key, payload] of stored) {
      if (payload.grantId === grant) stored.delete(key);
    }
  }
}

function provide() {
  provider = new Provider(issuer, {
    adapter: Adapter,
    jwks: { keys },
    scopes: ["openid", "offline_access", ...SCOPES.split(" ")],
    clients: [
      {
        client_id: "robot",
        client_secret: "robot-secret",
        grant_types: ["client_credentials"],
        redirect_uris: [],
        response_types: [],
      },
      {
        client_id: "cli",
        token_endpoint_auth_method: "none",
        application_type: "native",
        grant_types: ["urn:ietf:params:oauth:grant-type:device_code", "refresh_token"],
        redirect_uris: [],
        response_types: [],
      },
    ],
    clientDefaults: { id_token_signed_response_alg: "ES256" },
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      deviceFlow: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: async () => `${issuer}/any`,
        useGrantedResource: async () => true,
        getResourceServerInfo: async () => ({
          scope: SCOPES,
          audience: AUDIENCE,
          accessTokenFormat: "jwt",
          // Within the margin in which clients renew a token, so that every command does.
          accessTokenTTL: 20,
          jwt: { sign: { alg: "ES256", kid: keys[0].kid } },
        }),
      },
    },
    issueRefreshToken: async (_, client) => client.grantTypeAllowed("refresh_token"),
    findAccount: async (_, id) => ({ accountId: id, claims: async () => ({ sub: id }) }),
  });
  serve = provider.callback();
}

async function approve(code) {
  const device = await provider.DeviceCode.findByUserCode(code.replace(/[^A-Z]/g, ""));
  if (!device) return `no request with the code ${code}`;
  const resource = device.params.resource ?? `${issuer}/any`;
  const grant = new provider.Grant({ accountId: "ada", clientId: device.clientId });
  grant.addOIDCScope("openid offline_access");
  for (const each of [].concat(resource)) grant.addResourceScope(each, SCOPES);
  Object.assign(device, {
    grantId: await grant.save(),
    accountId: "ada",
    authTime: Math.floor(Date.now() / 1000),
    scope: device.params.scope,
    claims: {},
    resource,
  });
  await device.save(600);
  return "approved";
}

// A token that no sound issuer gives, for attacks.
function issue({ header = {}, key, ...claims }) {
  const encode = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const whole = { alg: "ES256", kid: keys[0].kid, typ: "at+jwt", ...header };
  const message = `${encode(whole)}.${encode(claims)}`;
  if (key === "none") return `${message}.`;
  if (key === "public") {
    const known = createPublicKey({ key: keys[0], format: "jwk" }).export({ format: "pem", type: "spki" });
    return `${message}.${createHmac("sha256", known).update(message).digest("base64url")}`;
  }
  const own = createPrivateKey({ key: keys[0], format: "jwk" });
  const signature = sign("sha256", Buffer.from(message), { key: own, dsaEncoding: "ieee-p1363" });
  return `${message}.${signature.toString("base64url")}`;
}

async function perform(command, given) {
  switch (command) {
    case "rotate":
      keys = [newKey(), ...keys];
      provide();
      return keys[0].kid;
    case "withdraw":
      keys = keys.slice(0, 1);
      provide();
      return keys[0].kid;
    case "approve":
      return approve(given);
    case "fetches":
      return String(fetches);
    case "issue":
      return issue(JSON.parse(given));
    default:
      return `unknown command ${command}`;
  }
}

const server = createServer((request, response) => {
  if (request.url === "/jwks") fetches += 1;
  serve(request, response);
});

server.listen(0, "127.0.0.1", () => {
  issuer = `http://127.0.0.1:${server.address().port}`;
  provide();
  console.log(issuer);
});

const lines = createInterface({ input: process.stdin });
lines.on("line", async (line) => {
  const at = line.indexOf(" ");
  const [command, given] = at < 0 ? [line, ""] : [line.slice(0, at), line.slice(at + 1)];
  console.log(await perform(command, given));
});
lines.on("close", () => process.exit(0));
