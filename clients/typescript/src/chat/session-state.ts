// The knowledge of a client about its session, and the consequences of each message and each cut. It has no socket and no clock.

import type { ChatListener, ChatMessage, Outgoing } from "./types.js";

/** Where the outbox is kept over reloads, such as `localStorage`. */
export interface Kept {
  getItem(name: string): string | null;
  setItem(name: string, value: string): void;
}

/** The codes of refusals after which the same message may be taken. */
const TRANSIENT = new Set(["rate_limited", "budget_exceeded", "failed"]);

/** The events that are not part of the record of a session. */
const PASSING = new Set(["pong", "progress", "session_restored", "error"]);

/** How often a message was sent, and the ping behind it. They are of no use after a reload. */
interface OnItsWay extends Outgoing {
  sent: number;
  ping?: string | undefined;
}

/** Compares two cursors, such as `12.0` and `12.1`. */
export function compareCursors(a: string, b: string): number {
  const [event = "0", index = "0"] = a.split(".");
  const [otherEvent = "0", otherIndex = "0"] = b.split(".");
  return Number(event) - Number(otherEvent) || Number(index) - Number(otherIndex);
}

/**
 * Whether the record tells that an answer was given: to the same question, and not another decision, which another answer
 * made.
 */
function isSettledBy(answer: Outgoing, message: ChatMessage, event: string): boolean {
  if (event !== "approval_decided" && event !== "question_answered") return false;
  const data = message.payload["data"] ?? {};
  if (answer.request === undefined || answer.request !== data["request_id"]) return false;
  const given = (answer.message["payload"] as Record<string, unknown> | undefined)?.["decision"];
  // What is approved with changes is approved.
  const settles = given === "modify" ? "approve" : given;
  return event === "question_answered" || settles === undefined || settles === data["decision"];
}

/**
 * The session of a client: how far it was told, and what is to be sent.
 *
 * One message of ours is on its way at a time, so that the server gets them in order also when it refuses one for a moment.
 * Behind it goes a ping: a server takes the messages of one connection one after the other, so the answer to the ping says
 * that the message was taken, unless it was refused before. After a cut nothing is sent before the session is restored: a
 * message that the server had taken is among what is told then, and is not sent again.
 */
export class SessionState {
  #last: string | undefined;
  #outbox: OnItsWay[] = [];
  #phase: "cut" | "restoring" | "live" = "cut";
  #restore = "";
  #paused = false;
  readonly #name: string;

  constructor(
    readonly session: string,
    cursor: string | undefined,
    /** Sends a message to the server. */
    readonly send: (message: object) => void,
    /** Has `goOn` called after a while, since the server wants it so. */
    readonly pause: () => void,
    readonly listener: ChatListener,
    readonly kept: Kept | undefined,
  ) {
    this.#last = cursor;
    this.#name = `monas.chat.outbox.${session}`;
    try {
      const list = JSON.parse(kept?.getItem(this.#name) ?? "[]") as Outgoing[];
      this.#outbox = list.map((it) => ({ ...it, sent: 1 }));
    } catch {
      /* it was damaged: nothing can be sent of it */
    }
  }

  /** The cursor of the last message that was told. Store it to go on later. */
  get cursor(): string | undefined {
    return this.#last;
  }

  /** What the server does not have yet. */
  get outbox(): readonly Outgoing[] {
    return this.#outbox;
  }

  /** A connection is open. */
  connected(): void {
    this.#paused = false;
    this.#askToRestore();
  }

  /** The connection is gone. */
  lost(): void {
    this.#phase = "cut";
    for (const it of this.#outbox) it.ping = undefined;
  }

  say(outgoing: Outgoing): void {
    this.#outbox.push({ ...outgoing, sent: 0 });
    this.#keep();
    this.#next();
  }

  /** The pause is over. */
  goOn(): void {
    if (!this.#paused) return;
    this.#paused = false;
    if (this.#phase === "restoring") this.#askToRestore();
    else this.#next();
  }

  /** Takes a message of the server. Gives why the session cannot go on, if it cannot. */
  take(message: ChatMessage): string | undefined {
    const event = message.type === "system_event" ? String(message.payload["event"] ?? "") : "";
    const passing = PASSING.has(event) || message.type === "watchdog_alert" || "partial" in message.payload;
    const why = passing ? this.#pass(message, event) : this.#record(message, event);
    this.#next();
    return why;
  }

  #record(message: ChatMessage, event: string): undefined {
    const { session_id: session, cursor } = message.metadata;
    if (session !== this.session) return;
    if (this.#last !== undefined && compareCursors(cursor, this.#last) <= 0) return;
    this.#last = cursor;
    const said = message.type === "user_command" ? message.id : undefined;
    const taken = this.#outbox.find((it) => it.id === said || (it.sent > 0 && isSettledBy(it, message, event)));
    this.listener.onMessage?.(message);
    if (taken) this.#done(taken);
  }

  #pass(message: ChatMessage, event: string): string | undefined {
    const data = message.payload["data"] ?? {};
    if (event === "session_restored") {
      if (message.metadata.session_id !== this.session || this.#phase !== "restoring") return;
      this.#phase = "live";
      this.listener.onRestored?.(data["waiting"] ?? []);
    } else if (event === "pong") {
      this.#answered(data["in_reply_to"]);
    } else if (event === "error") {
      return this.#refused(data["in_reply_to"], String(data["code"]), String(data["message"]));
    } else if (message.metadata.session_id === this.session) {
      this.listener.onPassing?.(message);
    }
    return undefined;
  }

  /** The ping behind the first message was answered: the server has the message. */
  #answered(ping: string | null): void {
    const head = this.#outbox[0];
    if (head?.ping !== undefined && head.ping === ping) this.#done(head);
  }

  #refused(id: string | null, code: string, message: string): string | undefined {
    const transient = TRANSIENT.has(code);
    if (this.#phase === "restoring" && id === this.#restore) {
      if (!transient) return message;
      this.#wait();
      return undefined;
    }
    const head = this.#outbox[0];
    if (head === undefined || id === null) return undefined;
    // A ping that is refused is answered all the same.
    if (transient && head.ping === id) this.#answered(id);
    if (head.id !== id) return undefined;
    head.ping = undefined;
    if (transient) {
      this.#wait();
    } else if (head.sent > 1 && head.request !== undefined && (code === "not_found" || code === "conflict")) {
      // An answer that was sent twice finds no question the second time.
      this.#done(head);
    } else {
      this.#remove(head);
      this.listener.onRefused?.({ id, code, message });
    }
    return undefined;
  }

  #wait(): void {
    this.#paused = true;
    this.pause();
  }

  #done(outgoing: OnItsWay): void {
    this.#remove(outgoing);
    this.listener.onTaken?.(outgoing.id);
  }

  #remove(outgoing: OnItsWay): void {
    this.#outbox = this.#outbox.filter((it) => it !== outgoing);
    this.#keep();
  }

  #askToRestore(): void {
    this.#phase = "restoring";
    this.#restore = crypto.randomUUID();
    const payload = { session_id: this.session, cursor: this.#last ?? null };
    this.send({ id: this.#restore, type: "restore_session", payload });
  }

  /** Sends the first message that waits, if none is on its way. */
  #next(): void {
    const head = this.#outbox[0];
    if (this.#phase !== "live" || this.#paused || head === undefined || head.ping !== undefined) return;
    head.ping = crypto.randomUUID();
    head.sent += 1;
    this.send(head.message);
    this.send({ id: head.ping, type: "ping" });
  }

  #keep(): void {
    const list = this.#outbox.map(({ id, message, request }) => ({ id, message, request }));
    try {
      this.kept?.setItem(this.#name, JSON.stringify(list));
    } catch {
      /* the storage is full or off: it is kept as long as the page is open */
    }
  }
}
