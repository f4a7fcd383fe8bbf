/**
 * What was typed and is not in the journal of the agent yet.
 *
 * A message is kept here from the moment it is sent until the server shows it, under the id that the page gave it. After a
 * reconnect all that is left is sent again in the same order; the server does a message with a known id once. It is kept in
 * the storage of the browser, so that a reload or a crash of the tab loses nothing.
 */
import type { Attachment } from "../state/conversation.ts";

/** A message on its way. */
export interface Outgoing {
  id: string;
  session: string;
  agent: string | undefined;
  text: string;
  attachments: Attachment[];
  at: string;
  /** Why the server refused it; it stays until it is sent again or thrown away. */
  problem?: string;
}

const KEY = "monas.outbox";

/** Where the outbox is kept; the storage of the browser, or a map in tests. */
export interface Kept {
  getItem(name: string): string | null;
  setItem(name: string, value: string): void;
}

export class Outbox {
  #kept: Kept;
  #list: Outgoing[];

  constructor(kept: Kept) {
    this.#kept = kept;
    try {
      this.#list = JSON.parse(kept.getItem(KEY) ?? "[]") as Outgoing[];
    } catch {
      this.#list = [];
    }
  }

  /** What is on its way in a session, in the order it was typed. */
  of(session: string): Outgoing[] {
    return this.#list.filter((it) => it.session === session);
  }

  /** The sessions that have something on its way. */
  sessions(): Pick<Outgoing, "session" | "agent">[] {
    return [...new Map(this.#list.filter((it) => !it.problem).map((it) => [it.session, it])).values()];
  }

  add(message: Outgoing): void {
    this.#list.push(message);
    this.#keep();
  }

  /** The server has it. Gives whether it was on its way. */
  done(id: string): boolean {
    const before = this.#list.length;
    this.#list = this.#list.filter((it) => it.id !== id);
    if (this.#list.length !== before) this.#keep();
    return this.#list.length !== before;
  }

  refuse(id: string, problem: string): boolean {
    const found = this.#list.find((it) => it.id === id);
    if (!found) return false;
    found.problem = problem;
    this.#keep();
    return true;
  }

  #keep(): void {
    try {
      this.#kept.setItem(KEY, JSON.stringify(this.#list));
    } catch {
      /* the storage is full or off: it is kept as long as the page is open */
    }
  }
}
