// The page of the live feed. `feed.d.ts` is written from the Rust target, by `cargo xtask types`.

import { ConnectionLostError, connect } from "@monas/capnweb-client";
import type { AuthorErrorCode, Feed, Message } from "./feed.js";

const element = <E extends HTMLElement>(id: string) => document.getElementById(id) as E;
const messages = element<HTMLOListElement>("messages");
const text = element<HTMLInputElement>("text");
const problem = element("problem");

// It lasts as long as the page does, through every restart of the server.
const feed = connect<Feed>(`ws://${location.host}/rpc`);
feed.onChange((connected) => element("state").classList.toggle("connected", connected));

// Each message once, in order.
const following = feed.resume<Message>({
  subscribe: (feed, cursor, sink) => feed.subscribe(cursor, sink),
  onEvent(message, cursor) {
    const line = document.createElement("li");
    line.dataset["cursor"] = cursor;
    line.textContent = `${message.author}: ${message.text}`;
    messages.append(line);
  },
});
following.done.catch((error: Error) => (problem.textContent = `The feed has ended: ${error.message}`));

// Signed in again in every session, when the first message of it is sent.
const author = feed.derive((feed) => feed.signIn("page"));

element("write").addEventListener("submit", async (event) => {
  event.preventDefault();
  problem.textContent = "";
  try {
    await author.call((author) => author.post(text.value));
    text.value = "";
  } catch (error) {
    problem.textContent = explain(error as Error & { code?: AuthorErrorCode });
  }
});

// A stream: what is found is shown while the server goes on looking.
element("search").addEventListener("submit", async (event) => {
  event.preventDefault();
  const found = element("found");
  found.replaceChildren();
  const word = element<HTMLInputElement>("word").value;
  for await (const message of await feed.call((feed) => feed.search(word))) {
    const line = document.createElement("li");
    line.textContent = `${message.author}: ${message.text}`;
    found.append(line);
  }
});

// A callback: the server calls it after each message.
element("count").addEventListener("click", async () => {
  const progress = element("progress");
  const letters = await feed.retry((feed) =>
    feed.countLetters((done, all) => {
      progress.textContent = `${done} of ${all}`;
    }),
  );
  progress.textContent = `${letters} letters`;
});

function explain(error: Error & { code?: AuthorErrorCode }): string {
  if (error instanceof ConnectionLostError) return "Was it sent? If it does not appear above, send it again.";
  if (error.code === "too_long") return "That is too long.";
  return error.message;
}
