// Follows a log over connections that are cut at random, and makes calls meanwhile. The program must exit by itself: if it
// does not, the client left a timer or a socket open.

import { ConnectionLostError, connect } from "@monas/capnweb-client";
import type { RpcStub, RpcTarget } from "capnweb";
import { argument, assertEqual } from "./support.js";

interface Root extends RpcTarget {
  double(n: number): Promise<number>;
  room(): Promise<RpcStub<Room>>;
  subscribe(
    cursor: string | null | undefined,
    sink: (items: { cursor: string; event: number }[]) => void,
  ): Promise<RpcStub<Subscription>>;
}
interface Room extends RpcTarget {
  look(): Promise<string>;
}
interface Subscription extends RpcTarget {
  ended(): Promise<void>;
}

const url = argument(0);
const count = Number(argument(1));

const root = connect<Root>(url, { firstWait: 2, longestWait: 20, retries: 1000 });
const room = root.derive((root) => root.room());

let following = true;
const calls = (async () => {
  let lost = 0;
  while (following) {
    assertEqual(await root.retry((root) => root.double(4)), 8);
    try {
      assertEqual(await room.call((room) => room.look()), "a room");
    } catch (error) {
      if (!(error instanceof ConnectionLostError)) throw error;
      assertEqual(error.code, "connection_lost");
      lost += 1;
    }
  }
  return lost;
})();

const seen: number[] = [];
let finish: () => void;
const all = new Promise<void>((resolve) => (finish = resolve));
const events = root.resume<number>({
  subscribe: (root, cursor, sink) => root.subscribe(cursor, sink),
  async onEvent(event, cursor) {
    assertEqual(cursor, `${event}`);
    // Some calls take longer than their session lasts.
    if (event % 50 === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    seen.push(event);
    if (event === count) finish();
  },
});
await Promise.race([all, events.done]);
following = false;
const lost = await calls;
assertEqual(seen, Array.from({ length: count }, (_, index) => index + 1));
if (root.sessions < 10) throw new Error(`only ${root.sessions} sessions`);
if (lost > root.sessions) throw new Error(`${lost} calls were lost in ${root.sessions} sessions`);

events.close();
await events.done;
room.close();
root.close();
console.log(`${count} events, each once`);
