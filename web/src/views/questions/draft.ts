/** What a person has chosen on a question and not sent yet. It outlives the card, which comes and goes as the log scrolls. */
import { signal, type Signal } from "@preact/signals";
import { refusal } from "../../api/refusal.ts";
import { applyDiff, diffOf, editHunks, type FileDiff, newLines, parseDiff, takeHunks, writeDiff } from "../../diff.ts";
import { change, read } from "../../state/app.ts";
import type { Asked } from "../../state/conversation.ts";
import { valueHasHidden } from "../../text.ts";

/** For what a yes counts. */
export type Scope = "once" | "conversation" | "prefix";

export class Draft {
  readonly diff: FileDiff | null;
  /** Something in it cannot be seen, so a yes is not the main button and counts once. */
  readonly odd: boolean;
  readonly taken: Signal<ReadonlySet<number>>;
  /** The text as the person edits it; null: not edited. */
  readonly edited = signal<string | null>(null);
  /** The text of the person in place of single parts. */
  readonly edits = signal<ReadonlyMap<number, string>>(new Map());
  readonly scope = signal<Scope>("once");
  readonly prefix: Signal<string>;
  readonly field: string | undefined;
  readonly reason = signal("");
  readonly answer = signal("");
  readonly stage = signal<"asked" | "rejecting" | "sending" | "sent">("asked");
  readonly problem = signal<string | null>(null);
  /** What the file says now, for the edit of a change that is given as a diff. */
  #base = "";

  constructor(readonly asked: Asked) {
    this.diff = asked.preview ? parseDiff(asked.preview) : null;
    this.odd = valueHasHidden(asked.input) || valueHasHidden(asked.question);
    this.taken = signal(new Set(this.diff?.hunks.map((_, at) => at) ?? []));
    const [field, prefix] = suggestedPrefix(asked);
    this.field = field;
    this.prefix = signal(prefix);
  }

  get parts(): number {
    return this.diff?.hunks.length ?? 0;
  }

  /** Whether what would be done is another thing than was asked for, because the person wrote in it. */
  get isEdited(): boolean {
    return this.edited.value !== null || this.edits.value.size > 0;
  }

  /** Whether single parts can be edited: what would be written is known to the letter. */
  get canEditParts(): boolean {
    return this.diff !== null && !this.odd && (this.asked.skill === "file-edit" || this.content(new Set()) !== null);
  }

  /** Begins the edit of a part, changes it, or takes it back with null. */
  editPart(at: number, text: string | null = newLines(this.diff!.hunks[at]!)): void {
    const edits = new Map(this.edits.peek());
    if (text === null) edits.delete(at);
    else edits.set(at, text);
    this.edits.value = edits;
  }

  /** Whether some parts are left out. */
  get isPartial(): boolean {
    return this.edited.value === null && this.taken.value.size < this.parts;
  }

  /** Whether parts can be left out: there are several, and what would be written with fewer is known. */
  get canTakeParts(): boolean {
    if (!this.diff || this.parts < 2) return false;
    return this.asked.skill === "file-edit" || this.content(new Set([0])) !== null;
  }

  toggle(at: number): void {
    const taken = new Set(this.taken.peek());
    if (!taken.delete(at)) taken.add(at);
    this.taken.value = taken;
  }

  /** What would be written if only these parts are taken. */
  content(taken: ReadonlySet<number>): string | null {
    const whole = this.asked.input["content"];
    if (!this.diff || typeof whole !== "string" || this.asked.input["append"] === true) return null;
    return takeHunks(whole, this.diff.hunks, taken, this.edits.value);
  }

  /** The change as it was approved, where the person edited what is written. */
  get editedDiff(): FileDiff | null {
    if (!this.diff) return null;
    if (this.asked.skill === "file-edit") return this.edited.value === null ? { ...this.diff, hunks: editHunks(this.diff.hunks, this.taken.value, this.edits.value) } : this.diff;
    const written = this.edited.value ?? this.content(this.taken.value);
    return written === null ? this.diff : { ...this.diff, hunks: diffOf(this.content(new Set()) ?? "", written) };
  }

  /** The text that is edited: the content, the command, or the input as data. */
  async beginEdit(): Promise<void> {
    const { input, skill } = this.asked;
    this.problem.value = null;
    if (typeof input["content"] === "string") this.edited.value = this.content(this.taken.peek()) ?? input["content"];
    else if (typeof input["command"] === "string") this.edited.value = input["command"];
    else if (skill === "file-edit" && this.diff) {
      try {
        const file = await read("getFilesContent", { agent: this.asked.agent, path: String(input["path"]) });
        const after = applyDiff(file.content, editHunks(this.diff.hunks, this.taken.peek(), this.edits.peek()));
        this.#base = file.content;
        this.edited.value = after ?? String(input["diff"]);
        if (after === null) this.problem.value = "The file has changed since the question was asked, so the diff itself is edited.";
      } catch (error) {
        this.problem.value = refusal(error).message;
      }
    } else this.edited.value = JSON.stringify(input, null, 2);
  }

  /** The input that is used instead, for an edit or for fewer parts. */
  modified(): Record<string, unknown> {
    const { input, skill } = this.asked;
    const edited = this.edited.peek();
    if (edited === null) {
      if (skill === "file-edit" && this.diff && this.edits.peek().size > 0) {
        const { hunks: _, ...rest } = input;
        return { ...rest, diff: writeDiff(String(input["path"]).replace(/^\/project\//, ""), editHunks(this.diff.hunks, this.taken.peek(), this.edits.peek())) };
      }
      if (skill === "file-edit") return { ...input, hunks: [...this.taken.peek()].sort((a, b) => a - b).map((at) => at + 1) };
      return { ...input, content: this.content(this.taken.peek()) ?? input["content"] };
    }
    if (typeof input["content"] === "string") return { ...input, content: edited };
    if (typeof input["command"] === "string") return { ...input, command: edited };
    if (skill === "file-edit") {
      const diff = this.#base === "" ? edited : writeDiff(String(input["path"]).replace(/^\/project\//, ""), diffOf(this.#base, edited));
      const { hunks: _, ...rest } = input;
      return { ...rest, diff };
    }
    return JSON.parse(edited) as Record<string, unknown>;
  }

  async approve(): Promise<void> {
    const { id, agent } = this.asked;
    let given: Record<string, unknown> = { decision: "approve" };
    try {
      if (this.isEdited || this.isPartial) given = { decision: "modify", modified: this.modified() };
      else if (this.scope.peek() === "conversation") given = { decision: "session" };
      else if (this.scope.peek() === "prefix") given = { decision: "approve", prefix: this.prefix.peek(), field: this.field };
    } catch {
      this.problem.value = "This is not JSON. Correct it, or take the edits back.";
      return;
    }
    await this.#send({ id, agent, ...given });
  }

  async reject(): Promise<void> {
    const reason = this.reason.peek().trim();
    await this.#send({ id: this.asked.id, agent: this.asked.agent, decision: "reject", ...(reason ? { reason } : {}) });
  }

  async say(): Promise<void> {
    await this.#send({ id: this.asked.id, agent: this.asked.agent, answer: this.answer.peek() });
  }

  async #send(fields: Record<string, unknown>): Promise<void> {
    if (this.stage.peek() === "sending") return;
    this.stage.value = "sending";
    this.problem.value = null;
    try {
      await change("postApprovalsById", fields as Parameters<typeof change<"postApprovalsById">>[1]);
      this.stage.value = "sent";
    } catch (error) {
      const why = refusal(error);
      this.stage.value = "asked";
      if (why.code === "lost") this.problem.value = "The connection was cut before there was an answer. Whether your answer counts is shown when it is back.";
      else if (why.code === "not_found") this.problem.value = "It was answered already, or its time is over.";
      else this.problem.value = why.message;
    }
  }
}

/** The prefix that is offered: the folder of a path, the program and its first word of a command. */
function suggestedPrefix(asked: Asked): [string | undefined, string] {
  const { input } = asked;
  for (const name of ["path", "from"]) {
    if (typeof input[name] !== "string") continue;
    const folder = input[name].slice(0, input[name].lastIndexOf("/") + 1);
    return [name, folder || input[name]];
  }
  if (typeof input["command"] === "string") return ["command", input["command"].trim().split(/\s+/).slice(0, 2).join(" ")];
  const found = Object.entries(input).find(([, value]) => typeof value === "string");
  return found ? [found[0], String(found[1]).slice(0, 60)] : [undefined, ""];
}

const drafts = new Map<string, Draft>();

/** The draft of a question; the same one wherever the question is shown. */
export function draftOf(asked: Asked): Draft {
  let draft = drafts.get(asked.id);
  // The list of what waits may come without the preview that the conversation has.
  if (!draft || (draft.asked.preview === "" && asked.preview !== "" && draft.stage.peek() === "asked")) {
    draft = new Draft(asked);
    drafts.set(asked.id, draft);
  }
  return draft;
}
