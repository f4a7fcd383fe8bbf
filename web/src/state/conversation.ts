/**
 * A conversation, built from the messages of the chat: what the page shows, in order, each thing once.
 *
 * It is plain data and plain functions, without the document and without the connection. Messages come in batches, in the
 * order of their cursors; what was seen already is dropped by its cursor or id, so a batch may be given again after a
 * reconnect. Each part has a version that grows when its content does, so that only changed parts are drawn again.
 */
import type { Envelope } from "../api/types.ts";

/** A file that was sent with a message. */
export interface Attachment {
  name: string;
  media_type?: string;
  content?: string;
  data?: string;
}

interface Base {
  key: string;
  version: number;
  at: string;
  /** The event of the journal. */
  event: number;
  task: string | undefined;
}

/** What a person said. */
export interface UserPart extends Base {
  kind: "user";
  text: string;
  attachments: Attachment[];
  /** `sent` is in the journal; the others are in the outbox, with the reason if the server refused it. */
  state: "sent" | "kept" | "refused";
  problem?: string;
}

/** A call of a skill, or a thought. */
export interface Step {
  key: string;
  kind: "call" | "thought";
  event: number;
  began: string;
  ended?: string;
  state: "running" | "done" | "failed";
  tool: string;
  input: Record<string, any>;
  output: string;
  data: any;
  /** The text of a thought. */
  text: string;
}

/** Calls and thoughts that follow each other. */
export interface StepsPart extends Base {
  kind: "steps";
  first: boolean;
  steps: Step[];
}

/** What the agent answered. */
export interface AnswerPart extends Base {
  kind: "answer";
  first: boolean;
  text: string;
  /** The text is the output of a skill and is shown as it is, not as Markdown. */
  output: boolean;
  end: "completed" | "failed" | "rejected" | "canceled" | "";
}

/** How a question was answered. */
export interface Decision {
  decision: "approve" | "reject" | "expired" | "answered" | "withdrawn";
  by: string;
  reason?: string;
  answer?: string;
  at?: string | number;
  event?: number;
  wire?: string;
}

/** What waits for a person, or did: a call that needs a yes, or a question in words. */
export interface Asked {
  id: string;
  agent: string | undefined;
  skill: string;
  input: Record<string, any>;
  preview: string;
  notes: string[];
  at: string | number;
  until: string | number | undefined;
  event: number | undefined;
  /** A question in words instead of a call. */
  question: string | undefined;
  conversation: string | undefined;
  task: string | undefined;
  operation: string | undefined;
}

export interface QuestionPart extends Base {
  kind: "question";
  first: boolean;
  asked: Asked;
  decision: Decision | null;
}

/** A sentence of the server: paused, went on, has a fault. */
export interface NotePart extends Base {
  kind: "note";
  tone: "" | "bad";
  text: string;
}

export type Part = UserPart | StepsPart | AnswerPart | QuestionPart | NotePart;

/** What is being thought or written at the moment. */
export interface Live {
  id: string;
  task: string | undefined;
  began: number;
  thought: string;
  text: string;
}

/** Compares two cursors, such as `12.0` and `12.1`. */
export function compareCursors(a: string, b: string): number {
  const [x = "0", i = "0"] = a.split(".");
  const [y = "0", j = "0"] = b.split(".");
  return Number(x) - Number(y) || Number(i) - Number(j);
}

const eventOf = (cursor: string): number => Number(cursor.split(".", 1)[0] ?? 0);
const PASSING = new Set(["pong", "progress", "session_restored", "error"]);
const OUTPUT_SKILLS = new Set(["terminal-run", "file-read", "file-search", "file-list"]);
/** What the server writes when a plan has no words of its own: the calls say the same. */
const SAYS_NOTHING = /^I will call [^]*\.$/;

export class Conversation {
  readonly parts: Part[] = [];
  /** Changes with every change. */
  version = 0;
  cursor: string | undefined;
  live: Live | null = null;
  state: "idle" | "thinking" | "executing" | "awaiting_approval" | "error" = "idle";
  /** The request that is worked on. */
  task: string | undefined;
  /** The last sentence about its progress. */
  progress = "";
  /** The files that were changed, by their path, with what was done last. */
  readonly files = new Map<string, { operation: string; event: number }>();
  /** Whether all that happened before was read. */
  restored = false;
  #questions = new Map<string, QuestionPart>();
  #users = new Set<string>();
  /** Calls that wait for a yes, by the id of the question. */
  #held = new Map<string, Step>();
  #lastOutput: { tool: string; output: string } | null = null;

  constructor(readonly agent: string | undefined) {}

  has(message: string): boolean {
    return this.#users.has(message);
  }

  question(id: string): QuestionPart | undefined {
    return this.#questions.get(id);
  }

  /** The part in which a message is, to bring it into sight. */
  keyOf(message: string, event?: number): string | undefined {
    const part = this.parts.find((it) => it.key === message || it.key.endsWith(message)) ?? (event === undefined ? undefined : this.parts.find((it) => it.event >= event));
    return part?.key;
  }

  /** Takes messages; gives the errors among them, which are answers to what the page sent. */
  apply(messages: readonly Envelope[]): { errors: Record<string, any>[] } {
    const errors: Record<string, any>[] = [];
    for (const message of messages) {
      const event = message.type === "system_event" ? String(message.payload["event"] ?? "") : "";
      if (event === "error") errors.push(message.payload["data"] ?? {});
      else this.#take(message, event);
    }
    if (messages.length > 0) this.version++;
    return { errors };
  }

  #take(message: Envelope, event: string): void {
    const { cursor, task_id: task, agent_state: state } = message.metadata;
    if (PASSING.has(event)) {
      if (event === "progress") this.progress = String(message.payload["data"]?.["message"] ?? "");
      if (event === "session_restored") {
        this.restored = true;
        this.state = state;
      }
      return;
    }
    if (message.payload["partial"] === true) {
      this.state = state;
      this.#grow(message, task ?? undefined);
      return;
    }
    const known = this.cursor !== undefined && compareCursors(cursor, this.cursor) <= 0;
    if (known && !(message.type === "approval_request" && !this.#questions.has(message.id))) return;
    if (!known) this.cursor = cursor;
    this.state = state;
    if (task) this.task = task;
    const base = { version: 0, at: message.timestamp, event: eventOf(cursor), task: task ?? undefined };
    switch (message.type) {
      case "user_command":
        this.#users.add(message.id);
        this.progress = "";
        this.#add({ ...base, kind: "user", key: message.id, text: String(message.payload["command"] ?? ""), attachments: message.payload["attachments"] ?? [], state: "sent" });
        return;
      case "agent_action":
        return this.#action(message, base);
      case "approval_request":
        return this.#ask(message, base);
      case "tool_result":
        return this.#result(message, base);
      case "system_event":
        return this.#event(event, message.payload["data"] ?? {}, base);
      case "watchdog_alert":
        this.#add({ ...base, kind: "note", key: message.id, tone: "bad", text: [message.payload["title"], message.payload["description"]].filter(Boolean).join(": ") });
        return;
      default:
        return;
    }
  }

  /** A piece of a thought: the text so far, or how the model comes to it. */
  #grow(message: Envelope, task: string | undefined): void {
    const content = String(message.payload["content"] ?? "");
    const reasoning = ((message.payload["reasoning_steps"] ?? []) as string[]).join("\n");
    const lines = content.split("\n").map((it) => it.trim()).filter((it) => it !== "").slice(0, 64).join("\n");
    const thinking = reasoning !== "" && lines === reasoning;
    const began = this.live?.id === message.id ? this.live.began : Date.parse(message.timestamp) || Date.now();
    this.live = { id: message.id, task, began, thought: thinking ? content : reasoning, text: thinking ? "" : content };
  }

  #action(message: Envelope, base: Omit<Base, "key">): void {
    const { action_type: kind, content, tool_calls: calls } = message.payload;
    const began = this.live?.began;
    if (this.live && (this.live.id === message.id || this.live.task === base.task)) this.live = null;
    if (kind === "reasoning") {
      const steps = ((message.payload["reasoning_steps"] ?? []) as string[]).filter((it) => !it.startsWith("Call "));
      const text = String(content ?? "").trim();
      const lines = text.split("\n").map((it) => it.trim()).filter((it) => it !== "").slice(0, steps.length || undefined).join("\n");
      // The content is what the model said, or how it came to it where it said nothing.
      const thought = steps.length > 0 && lines === steps.join("\n") ? text : steps.join("\n");
      const since = began === undefined ? message.timestamp : new Date(began).toISOString();
      if (thought !== "") this.#step(base, { key: `t${message.id}`, kind: "thought", event: base.event, began: since, ended: message.timestamp, state: "done", tool: "", input: {}, output: "", data: null, text: thought });
      if (thought !== text && text !== "" && !SAYS_NOTHING.test(text)) this.#add({ ...base, kind: "answer", key: `w${message.id}`, first: this.#first(base.task), text, output: false, end: "" });
    } else if (kind === "tool_call") {
      for (const [at, call] of ((calls ?? []) as Record<string, any>[]).entries()) {
        this.#step(base, { key: `${message.id}.${at}`, kind: "call", event: base.event, began: message.timestamp, state: "running", tool: String(call["tool"]), input: call["parameters"] ?? {}, output: "", data: null, text: "" });
      }
    } else {
      const text = String(content ?? "");
      const last = this.#lastOutput;
      const output = last !== null && OUTPUT_SKILLS.has(last.tool) && last.output.trim() === text.trim();
      this.#add({ ...base, kind: "answer", key: `a${message.id}`, first: this.#first(base.task), text, output, end: "" });
      this.#lastOutput = null;
    }
  }

  #ask(message: Envelope, base: Omit<Base, "key">): void {
    const { action, details = {}, description } = message.payload;
    const { preview, expires, notes, operation, question, ...input } = details as Record<string, any>;
    const asked: Asked = {
      id: message.id, agent: this.agent, skill: String(action), input: action === "question" ? {} : input, preview: String(preview ?? ""), notes: notes ?? [], at: message.timestamp, until: expires,
      event: base.event, question: action === "question" ? String(question ?? description ?? "") : undefined, conversation: message.metadata.session_id, task: base.task, operation,
    };
    // The call is not shown as running while it waits: it stands after the question once it was allowed.
    const step = this.#unfinished(asked.skill, base.task, asked.input);
    if (step) {
      this.#remove(step);
      this.#held.set(message.id, step);
    }
    const part: QuestionPart = { ...base, kind: "question", key: message.id, first: this.#first(base.task), asked, decision: null };
    this.#questions.set(message.id, part);
    this.#add(part);
  }

  #result(message: Envelope, base: Omit<Base, "key">): void {
    const { tool, output, success, data } = message.payload;
    let step = this.#unfinished(String(tool), base.task);
    if (!step) {
      step = { key: `r${message.id}`, kind: "call", event: base.event, began: message.timestamp, state: "running", tool: String(tool), input: {}, output: "", data: null, text: String(message.payload["command"] ?? "") };
      this.#step(base, step);
    }
    step.state = success === false ? "failed" : "done";
    step.output = String(output ?? "");
    step.data = data;
    step.ended = message.timestamp;
    step.event = base.event;
    this.progress = "";
    this.#lastOutput = { tool: step.tool, output: step.output };
    this.#touch(step);
  }

  #event(event: string, data: Record<string, any>, base: Omit<Base, "key">): void {
    if (event === "approval_decided" || event === "question_answered") {
      const part = this.#questions.get(String(data["request_id"]));
      if (!part) return;
      const decision = event === "question_answered" ? (data["answer"] === null || data["answer"] === undefined ? "withdrawn" : "answered") : data["decision"];
      part.decision = { decision, by: String(data["by"] ?? ""), reason: data["reason"], answer: data["answer"] ?? undefined, at: base.at, event: base.event };
      part.version++;
      const held = this.#held.get(part.key);
      this.#held.delete(part.key);
      if (held && decision === "approve") this.#step(base, { ...held, key: `${held.key}y`, began: base.at });
    } else if (event === "file_modified") {
      const path = String(data["path"] ?? "").replace(/^\/project\//, "");
      this.files.delete(path);
      this.files.set(path, { operation: String(data["operation"] ?? "modified"), event: base.event });
    } else if (event.startsWith("task_")) {
      const end = event.slice("task_".length) as AnswerPart["end"];
      this.live = null;
      this.progress = "";
      if (this.task === base.task) this.task = undefined;
      const answer = this.parts.findLast((it) => it.task === base.task && it.kind === "answer") as AnswerPart | undefined;
      if (answer) {
        answer.end = end;
        answer.version++;
      }
      // What was under way when the request ended will not get a result any more.
      for (const part of this.parts.slice(-40)) {
        if (part.kind !== "steps" || part.task !== base.task) continue;
        for (const step of part.steps) if (step.state === "running") [step.state, step.ended] = [end === "completed" ? "done" : "failed", base.at];
        part.version++;
      }
    } else if (event === "agent_paused") this.#add({ ...base, kind: "note", key: `n${this.cursor}`, tone: "", text: "Paused. Nothing new is begun until it goes on." });
    else if (event === "agent_resumed") this.#add({ ...base, kind: "note", key: `n${this.cursor}`, tone: "", text: "It goes on." });
    else if (event === "agent_error") this.#add({ ...base, kind: "note", key: `n${this.cursor}`, tone: "bad", text: String(data["message"] ?? "The agent has a fault.") });
    else if (event === "agent_recovered") this.#add({ ...base, kind: "note", key: `n${this.cursor}`, tone: "", text: "The fault is over." });
  }

  #add(part: Part): void {
    this.parts.push(part);
  }

  /** Whether a part is the first of the agent for its request, so that the name stands above it. */
  #first(task: string | undefined): boolean {
    const last = this.parts.at(-1);
    return !last || last.kind === "user" || last.kind === "note" || last.task !== task;
  }

  #step(base: Omit<Base, "key">, step: Step): void {
    const last = this.parts.at(-1);
    if (last?.kind === "steps" && last.task === base.task && last.steps.length < 60) {
      last.steps.push(step);
      last.version++;
    } else {
      this.#add({ ...base, kind: "steps", key: `s${step.key}`, first: this.#first(base.task), steps: [step] });
    }
  }

  #unfinished(tool: string, task: string | undefined, input?: Record<string, any>): Step | undefined {
    for (let at = this.parts.length - 1; at >= 0 && at > this.parts.length - 80; at--) {
      const part = this.parts[at]!;
      if (part.kind !== "steps" || part.task !== task) continue;
      const open = part.steps.filter((it) => it.state === "running" && it.kind === "call" && it.tool === tool);
      const same = input && open.find((it) => Object.keys(it.input).every((name) => JSON.stringify(it.input[name]) === JSON.stringify(input[name])));
      if (same ?? open[0]) return same ?? open[0];
    }
    return undefined;
  }

  #partOf(step: Step): StepsPart | undefined {
    return this.parts.findLast((it) => it.kind === "steps" && it.steps.includes(step)) as StepsPart | undefined;
  }

  #remove(step: Step): void {
    const part = this.#partOf(step);
    if (!part) return;
    part.steps = part.steps.filter((it) => it !== step);
    part.version++;
    if (part.steps.length === 0) this.parts.splice(this.parts.indexOf(part), 1);
  }

  #touch(step: Step): void {
    const part = this.#partOf(step);
    if (part) part.version++;
  }
}
