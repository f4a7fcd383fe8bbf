// A webhook on loopback that remembers what was posted to it, in order.
import { once } from "node:events";
import { createServer } from "node:http";
import { json } from "node:stream/consumers";

/** Answers every request with 200 and keeps its headers and body. */
export class Webhook {
  #posted = [];
  #server = createServer(async (request, response) => {
    this.#posted.push({ headers: request.headers, body: await json(request) });
    response.end();
    this.#server.emit("posted");
  });

  static async listen() {
    const webhook = new Webhook();
    webhook.#server.listen(0, "127.0.0.1");
    await once(webhook.#server, "listening");
    webhook.url = `http://127.0.0.1:${webhook.#server.address().port}/hook`;
    return webhook;
  }

  /** Everything that arrived, once a notification has told of this state. */
  async until(state) {
    while (!this.#posted.some(posted => stateOf(posted) === state)) await once(this.#server, "posted");
    return [...this.#posted];
  }

  close() {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

/** The state a notification tells of, or "artifact". */
export function stateOf({ body }) {
  const status = (body.statusUpdate ?? body.task)?.status;
  return status ? status.state.replace("TASK_STATE_", "").toLowerCase() : "artifact";
}
