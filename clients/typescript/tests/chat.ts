// Talks with an agent over connections that are cut at random: every message once and in order, in both directions. The
// program must exit by itself: if it does not, the client left a timer or a socket open.
//
// Arguments: the address through which connections are cut, the one of the server itself, and how many commands.

import { ChatClient, compareCursors } from "@monas/capnweb-client/chat";
import type { ChatMessage, ChatOptions, Kept } from "@monas/capnweb-client/chat";
import { argument, assertEqual } from "./support.js";

const [cut, server, count] = [argument(0), argument(1), Number(argument(2))];
const impatient = { firstWait: 5, longestWait: 50, heartbeat: 400, limitedWait: 50 };

const sleep = (time: number) => new Promise<void>((resolve) => setTimeout(resolve, time));

/** A client that notes what it is told. */
class Noted {
  readonly messages: ChatMessage[] = [];
  readonly taken: string[] = [];
  readonly client: ChatClient;
  connections = 0;
  answered = 0;
  #look: () => void = () => {};

  constructor(url: string, options: ChatOptions) {
    this.client = new ChatClient(url, { ...impatient, ...options }, this);
  }

  onMessage(message: ChatMessage): void {
    this.messages.push(message);
    if (message.payload["event"] === "task_completed") this.answered += 1;
    this.#look();
  }

  onTaken(id: string): void {
    this.taken.push(id);
    this.#look();
  }

  onRestored(): void {
    this.connections += 1;
    this.#look();
  }

  onRefused(refusal: unknown): void {
    throw new Error(JSON.stringify(refusal));
  }

  onEnded(why: string): void {
    throw new Error(why);
  }

  async until(holds: () => boolean): Promise<void> {
    while (!holds()) await new Promise<void>((resolve) => (this.#look = resolve));
  }
}

const talking = new Noted(cut, { session: "node" });
const said: string[] = [];
for (let number = 0; number < count; number += 1) {
  said.push(talking.client.say(`remember that number ${number} is ${number * 7}`));
  await sleep(Math.random() * 25);
}
await talking.until(() => talking.taken.length === count && talking.answered === count);
assertEqual(talking.taken, said);
assertEqual(
  talking.messages.filter((it) => it.type === "user_command").map((it) => it.id),
  said,
);
const cursors = talking.messages.map((it) => it.metadata.cursor);
assertEqual(cursors.every((it, at) => at === 0 || compareCursors(cursors[at - 1]!, it) < 0), true);
assertEqual(talking.client.outbox.length, 0);
const { connections } = talking;
talking.client.close();

// A client that is not cut has the same session.
const whole = new Noted(server, { session: "node" });
await whole.until(() => whole.connections === 1);
assertEqual(
  talking.messages.map((it) => it.id),
  whole.messages.map((it) => it.id),
);
whole.client.close();

// A message that was written without a connection outlives the program that said it.
const store = new Map<string, string>();
const kept: Kept = { getItem: (name) => store.get(name) ?? null, setItem: (name, value) => void store.set(name, value) };
const offline = new ChatClient("ws://127.0.0.1:1/ws/chat", { ...impatient, session: "later", kept }, {});
const later = offline.say("remember that it is late");
await sleep(20);
offline.close();
const again = new Noted(server, { session: "later", kept });
await again.until(() => again.answered === 1);
assertEqual(again.taken, [later]);
assertEqual(JSON.parse([...store.values()][0]!), []);
again.client.close();

console.log(`${count} commands, ${talking.messages.length} messages, each once, over ${connections} connections`);
