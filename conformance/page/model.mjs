// A language model for tests that follows a script: an HTTP server on loopback in the format of OpenAI.
import { createServer } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { endWith } from "./harness.mjs";

/**
 * Starts a model. A turn is `{ reasoning?, text?, calls?, piece?, wait? }`: what it thinks, says and calls; text is sent in
 * pieces of so many characters with so many milliseconds between them. A function gets the request and gives a turn.
 */
export async function startModel(turns = []) {
  const script = [...turns];
  const seen = [];
  const key = { wanted: null };
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    if (key.wanted && request.headers.authorization !== `Bearer ${key.wanted}`) {
      response.writeHead(401, { "content-type": "application/json" }).end(JSON.stringify({ error: { message: "this is not the key" } }));
      return;
    }
    const asked = body === "" ? {} : JSON.parse(body);
    if (!request.url.endsWith("/chat/completions")) {
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ data: [{ id: "small" }] }));
      return;
    }
    // What the server asks beside the conversation (entities of its notes) comes without skills, and is not a turn of the script.
    const beside = (asked.tools ?? []).length === 0 && asked.messages?.[0]?.content?.includes("numbered notes");
    if (!beside) seen.push(asked);
    let turn = beside ? { text: "[]" } : script.length > 0 ? script.shift() : { text: "The script is over." };
    if (typeof turn === "function") turn = turn(asked);
    response.writeHead(200, { "content-type": "text/event-stream" });
    const send = (value) => response.write(`data: ${JSON.stringify(value)}\n\n`);
    const delta = (it) => send({ object: "chat.completion.chunk", choices: [{ index: 0, delta: it, finish_reason: null }] });
    delta({ role: "assistant", content: "" });
    for (const [name, text] of [["reasoning_content", turn.reasoning], ["content", turn.text]]) {
      if (!text) continue;
      const step = turn.piece ?? text.length;
      for (let at = 0; at < text.length && !response.destroyed; at += step) {
        delta({ [name]: text.slice(at, at + step) });
        if (turn.wait) await pause(turn.wait);
      }
    }
    for (const [index, call] of (turn.calls ?? []).entries()) {
      delta({ tool_calls: [{ index, id: `call-${seen.length}-${index}`, type: "function", function: { name: call.name, arguments: JSON.stringify(call.arguments ?? {}) } }] });
    }
    send({ choices: [{ index: 0, delta: {}, finish_reason: turn.calls ? "tool_calls" : "stop" }] });
    send({ choices: [], usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 } });
    response.end("data: [DONE]\n\n");
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const model = {
    url: `http://127.0.0.1:${server.address().port}/v1`,
    /** The requests so far. */
    seen,
    key,
    add: (...more) => script.push(...more),
    stop: () => new Promise((resolve) => { server.close(resolve); server.closeAllConnections(); }),
  };
  endWith(model.stop);
  return model;
}
