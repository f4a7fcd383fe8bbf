// Versions, extensions and parameters that are wrong.
import assert from "node:assert/strict";
import { SendMessageRequest } from "@a2a-js/sdk";
import { checkFails, collect, onlyOver, request } from "../probe.mjs";

export async function versionNotSupported(probe) {
  for (const version of ["9.9", "0.2"]) {
    const client = await clientOfVersion(probe, version);
    await checkFails(probe.send(request({ text: "echo" }), client), "VersionNotSupportedError");
  }
}

export async function versionNotSupportedInAStream(probe) {
  const client = await clientOfVersion(probe, "9.9");
  await checkFails(collect(probe.stream(request({ text: "echo" }), client)), "VersionNotSupportedError");
}

export async function patchVersionIsIgnored(probe) {
  const client = await clientOfVersion(probe, "1.0.7");
  assert.ok((await probe.send(request({ text: "echo" }), client)).message, "the answer is no message");
}

export async function unknownExtensionIsIgnored(probe) {
  const serviceParameters = { "A2A-Extensions": "https://example.com/unknown/v1" };
  const answer = await probe.client.sendMessage(request({ text: "echo" }), { serviceParameters });
  assert.ok(answer.messageId, "the answer is no message");
}

export async function messageWithoutParts(probe) {
  await checkFails(probe.send(request({ parts: [] })), "RequestMalformedError");
}

export async function messageWithoutId(probe) {
  await checkFails(probe.send(request({ text: "echo", messageId: "" })), "RequestMalformedError");
}

export async function partWithoutContent(probe) {
  await checkFails(probe.send(request({ parts: [{}] })), "RequestMalformedError");
}

export async function noMessage(probe) {
  await checkFails(probe.send(SendMessageRequest.fromJSON({})), "RequestMalformedError");
}

export async function badParametersInAStream(probe) {
  await checkFails(collect(probe.stream(request({ parts: [] }))), "RequestMalformedError");
}

// Over HTTP+JSON a task without an id is another path.
export const getWithoutId = onlyOver(["JSONRPC", "GRPC"], async probe => {
  await checkFails(probe.get(""), "RequestMalformedError");
});

/** A client that announces another version than its own. */
const clientOfVersion = (probe, version) =>
  probe.clientFor(probe.card, {
    before: async ({ options }) => {
      options.serviceParameters["A2A-Version"] = version;
    },
    after: async () => {},
  });
