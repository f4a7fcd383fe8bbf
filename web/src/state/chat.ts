/** The open conversation: it follows the session over every connection, sends what is typed, and answers questions. */
import { effect, signal } from "@preact/signals";
import type { Handle } from "../api/client.ts";
import { Outbox, type Outgoing } from "../api/outbox.ts";
import type { Envelope } from "../api/types.ts";
import { change, connection, readAgentStatus } from "./app.ts";
import { type Attachment, Conversation, type Part, type UserPart } from "./conversation.ts";
import { readSessions } from "./sessions.ts";

export const outbox = new Outbox(localStorage);

/** A follower of one session of one agent. */
export class Chat {
  readonly conversation: Conversation;
  /** Grows whenever something changed; at most once a frame. */
  readonly version = signal(0);
  /** Why the session cannot be followed. */
  readonly fault = signal<string | null>(null);
  #window: Handle<"followChat"> | null = null;
  #stop: (() => void) | null = null;
  #frame = 0;
  #queue: Envelope[] = [];
  /** What was sent over the present connection, so that it is not sent twice over it. */
  #sent = new Set<string>();
  #again: ReturnType<typeof setTimeout> | undefined;
  #begun: boolean;

  constructor(readonly id: string, readonly agent: string | undefined, begun: boolean) {
    this.conversation = new Conversation(agent);
    this.#begun = begun;
    if (!begun) this.conversation.restored = true;
  }

  /** All parts: those of the journal, then what is on its way. */
  parts(): Part[] {
    const pending = outbox.of(this.id).filter((it) => !this.conversation.has(it.id));
    if (pending.length === 0) return this.conversation.parts;
    return [...this.conversation.parts, ...pending.map((it): UserPart => ({
      kind: "user", key: it.id, version: it.problem ? 1 : this.#sent.has(it.id) ? 2 : 3, at: it.at, event: 0, task: undefined, text: it.text, attachments: it.attachments,
      state: it.problem ? "refused" : "kept", ...(it.problem ? { problem: it.problem } : {}),
    }))];
  }

  /** Whether a message is on its way over an open connection. */
  isSending(id: string): boolean {
    return this.#sent.has(id) && connection.link.value.kind === "live";
  }

  open(): void {
    if (this.#stop) return;
    this.#stop = connection.follow(
      "followChat",
      () => ({ agent: this.agent, ...(this.#begun ? { session_id: this.id } : {}), ...(this.conversation.cursor ? { cursor: this.conversation.cursor } : {}) }),
      (batch) => this.#receive(batch),
      {
        opened: (window) => {
          this.#window = window;
          this.#sent.clear();
          this.fault.value = null;
          if (window) this.#flush();
        },
        failed: (why) => {
          // A session of which the server knows nothing yet begins with its first message.
          if (why.code === "not_found" && this.conversation.parts.length === 0) {
            this.#begun = false;
            this.conversation.restored = true;
            this.#restart();
          } else this.fault.value = why.message;
          this.#draw();
        },
      },
    );
  }

  close(): void {
    this.#stop?.();
    this.#stop = null;
    this.#window = null;
    clearTimeout(this.#again);
  }

  #restart(): void {
    this.close();
    this.open();
  }

  send(text: string, attachments: Attachment[] = []): string {
    const message: Outgoing = { id: crypto.randomUUID(), session: this.id, agent: this.agent, text, attachments, at: new Date().toISOString() };
    outbox.add(message);
    this.#flush();
    this.#draw();
    return message.id;
  }

  /** Sends a message again that the server refused, under a new id. */
  resend(id: string): void {
    const old = outbox.of(this.id).find((it) => it.id === id);
    if (!old) return;
    outbox.done(id);
    this.send(old.text, old.attachments);
  }

  discard(id: string): void {
    outbox.done(id);
    this.#draw();
  }

  /** Stops the request that is worked on. */
  async stop(): Promise<void> {
    const task = this.conversation.task;
    if (task) await change("postTasksByIdCancel", { id: task, agent: this.agent });
  }

  #flush(): void {
    const window = this.#window;
    if (!window || (this.#begun && !this.conversation.restored)) return;
    for (const it of outbox.of(this.id)) {
      if (it.problem || this.#sent.has(it.id) || this.conversation.has(it.id)) continue;
      this.#sent.add(it.id);
      const payload: Record<string, unknown> = { command: it.text };
      if (it.attachments.length > 0) payload["attachments"] = it.attachments;
      // A call that fails says that the connection is gone; then all is sent again over the next one.
      Promise.resolve(window.send({ id: it.id, type: "user_command", payload, metadata: { session_id: this.id } })).catch(() => {});
      this.#begun = true;
    }
  }

  #receive(batch: readonly Envelope[]): void {
    // The page may hold a window that is not yet bound to a session; what belongs to another one is not shown here.
    this.#queue.push(...batch.filter((it) => !it.metadata?.session_id || it.metadata.session_id === this.id));
    this.#draw();
  }

  #draw(): void {
    if (this.#frame !== 0) return;
    const apply = () => {
      this.#frame = 0;
      this.#apply();
    };
    // A hidden page has no frames.
    this.#frame = document.hidden ? (setTimeout(apply, 50) as unknown as number) : requestAnimationFrame(apply);
  }

  #apply(): void {
    const batch = this.#queue.splice(0);
    const restored = this.conversation.restored;
    const state = this.conversation.state;
    const { errors } = this.conversation.apply(batch);
    for (const it of batch) {
      if (it.type !== "user_command") continue;
      outbox.done(it.id);
      readSessions();
    }
    for (const error of errors) this.#error(error);
    if (this.conversation.restored && !restored) this.#flush();
    if (state !== this.conversation.state) void readAgentStatus();
    // A long conversation is drawn once, when all of it was read.
    if (this.conversation.restored || this.fault.peek() !== null) this.version.value++;
  }

  #error(error: Record<string, any>): void {
    const id = String(error["in_reply_to"] ?? "");
    if (error["code"] === "rate_limited" && this.#sent.delete(id)) {
      clearTimeout(this.#again);
      this.#again = setTimeout(() => this.#flush(), 1_500);
    } else if (error["code"] === "not_found" && this.conversation.parts.length === 0 && outbox.of(this.id).length === 0) {
      this.conversation.restored = true;
      this.fault.value = "There is no conversation at this address. It was deleted, or it belongs to another person.";
    } else if (!outbox.refuse(id, String(error["message"] ?? "The server refused it.")) && error["code"] === "not_found") {
      // Restoring a session that has not begun yet.
      this.conversation.restored = true;
      this.#flush();
    }
  }
}

/** The chats that were open, so that going back is at once. */
const open = new Map<string, Chat>();

/** The chat of a session. `begun` is false for a conversation that this page begins. */
export function chatOf(id: string, agent: string | undefined, begun = true): Chat {
  const name = `${agent ?? ""}/${id}`;
  let chat = open.get(name);
  if (!chat) {
    chat = new Chat(id, agent, begun);
    open.set(name, chat);
    chat.open();
    // The oldest are given up; they are read again when they are opened.
    for (const [old, it] of open) {
      if (open.size <= 4) break;
      if (it === chat || outbox.of(it.id).length > 0) continue;
      it.close();
      open.delete(old);
    }
  }
  return chat;
}

// What was typed before a reload is sent when there is a connection, also if its conversation is not open.
effect(() => {
  if (connection.generation.value !== 1) return;
  for (const it of outbox.sessions()) chatOf(it.session, it.agent);
});
