/** Tasks as A2A 1.0 has them: what of them is shown, and how events change them. */
import type { Fields } from "../../api/types.ts";
import { firstLine, withoutEscapes } from "../../text.ts";
import type { Tone } from "../../ui/parts.tsx";

export interface Part {
  text?: string;
  data?: unknown;
  /** Base64. */
  raw?: string;
  url?: string;
  mediaType?: string;
  filename?: string;
  metadata?: Fields;
}
export interface Message {
  messageId?: string;
  role?: string;
  parts?: Part[];
  metadata?: Fields;
}
export interface Artifact {
  artifactId: string;
  name?: string;
  description?: string;
  parts: Part[];
  metadata?: Fields;
}
export interface Task {
  id: string;
  contextId: string;
  status: { state: string; timestamp?: string; message?: Message };
  artifacts?: Artifact[];
  history?: Message[];
  metadata?: Fields;
}

/** The states, as they are named here. */
export const STATES: Record<string, { words: string; tone?: Tone; over: boolean }> = {
  TASK_STATE_SUBMITTED: { words: "waits its turn", over: false },
  TASK_STATE_WORKING: { words: "works", tone: "think", over: false },
  TASK_STATE_INPUT_REQUIRED: { words: "waits for you", tone: "need", over: false },
  TASK_STATE_AUTH_REQUIRED: { words: "needs a sign-in", tone: "need", over: false },
  TASK_STATE_COMPLETED: { words: "done", tone: "good", over: true },
  TASK_STATE_FAILED: { words: "failed", tone: "bad", over: true },
  TASK_STATE_CANCELED: { words: "cancelled", over: true },
  TASK_STATE_REJECTED: { words: "refused", tone: "bad", over: true },
};
export const stateOf = (task: Task): { words: string; tone?: Tone; over: boolean } => STATES[task.status?.state] ?? { words: task.status?.state ?? "unknown", over: false };

export const textOf = (message: Message | undefined): string => (message?.parts ?? []).map((it) => it.text ?? (it.data === undefined ? "" : JSON.stringify(it.data))).filter(Boolean).join("\n");

/** What was asked for, in one line; empty where the history that is there does not have it. */
export function askedFor(task: Task): string {
  const asked = task.history?.find((it) => it.role === "ROLE_USER" && it.parts?.some((part) => part.text !== undefined));
  return firstLine(withoutEscapes((asked?.parts ?? []).map((it) => it.text ?? "").filter(Boolean).join("\n")));
}

/** A task in one line. */
export function titleOf(task: Task): string {
  const words = askedFor(task);
  if (words !== "") return words;
  const named = task.artifacts?.find((it) => it.name)?.name;
  return named ?? (firstLine(withoutEscapes(textOf(task.status?.message))) || `Task ${task.id}`);
}

/** The task after an event of its stream; the same object if the event is not about it. */
export function after(task: Task, event: Fields): Task {
  const whole = event["task"] as Task | undefined;
  if (whole) return whole.id === task.id ? { ...task, ...whole } : task;
  const status = event["statusUpdate"] as { taskId: string; status: Task["status"] } | undefined;
  if (status) {
    if (status.taskId !== task.id) return task;
    const before = task.status?.message;
    const history = before && !task.history?.some((it) => it.messageId === before.messageId) ? [...(task.history ?? []), before] : task.history;
    return { ...task, status: status.status, ...(history ? { history } : {}) };
  }
  const update = event["artifactUpdate"] as { taskId: string; artifact: Artifact; append?: boolean } | undefined;
  if (update && update.taskId === task.id) {
    const known = task.artifacts ?? [];
    const at = known.findIndex((it) => it.artifactId === update.artifact.artifactId);
    if (at < 0) return { ...task, artifacts: [...known, update.artifact] };
    const old = known[at]!;
    const now = update.append ? { ...old, parts: [...old.parts, ...update.artifact.parts] } : update.artifact;
    return { ...task, artifacts: known.with(at, now) };
  }
  const message = event["message"] as Message | undefined;
  if (message) return { ...task, history: [...(task.history ?? []), message] };
  return task;
}

/** Parts of streamed text that follow each other are one. */
export function joined(parts: readonly Part[]): Part[] {
  const out: Part[] = [];
  for (const part of parts) {
    const last = out.at(-1);
    if (last?.text !== undefined && part.text !== undefined && (last.filename ?? "") === (part.filename ?? "") && (last.mediaType ?? "") === (part.mediaType ?? "")) {
      out[out.length - 1] = { ...last, text: last.text + part.text };
    } else out.push(part);
  }
  return out;
}

/** A name for a file that is saved: no folders, nothing hidden, not empty. */
export function safeName(name: string, fallback: string): string {
  const plain = name.normalize("NFC").replace(/[^\p{L}\p{N}._ -]/gu, "_").replace(/^[.\s_]+/, "").trim().slice(0, 100);
  return plain === "" ? fallback : plain;
}
