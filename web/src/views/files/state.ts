/** What is open in Files: the tabs of each agent and the text of each file, kept while the page is open, also in other places. */
import { signal, type Signal } from "@preact/signals";
import type { Refusal } from "../../api/refusal.ts";
import { refusal } from "../../api/refusal.ts";
import type { KeptChange } from "../../api/types.ts";
import { change, read } from "../../state/app.ts";

/** What `seen` says of a file that is not there. */
export const ABSENT = "absent";

/** A change as the server keeps it; the difference is there unless it is too long. */
export type AgentChange = KeptChange & { diff?: string; too_long?: boolean; undone?: string; event?: number };

/** Another version of a file than the one that was opened. */
export interface Newer {
  /** Null: the file was deleted. */
  text: string | null;
  hash: string;
}

/** A file that is open: what the server had, what was typed, and what the server has by now. */
export class OpenFile {
  readonly path: string;
  readonly agent: string | undefined;
  readonly state = signal<"loading" | "there" | "failed">("loading");
  readonly why = signal<Refusal | null>(null);
  readonly dirty = signal(false);
  readonly saving = signal(false);
  /** The file changed at the server while there was something unsaved here. */
  readonly newer = signal<Newer | null>(null);
  /** Why the last saving did not work. */
  readonly fault = signal<Refusal | null>(null);
  /** Grows when the text was replaced by the server's, so that the editor takes it. */
  readonly turn = signal(0);
  /** The text as the server had it, and its hash. */
  base = "";
  hash = ABSENT;
  /** The editor's own state, with the undo history, while another tab is in front. */
  kept: unknown = null;
  /** The text that is being edited; given by the editor. */
  current: (() => string) | null = null;
  #reading = 0;

  constructor(path: string, agent: string | undefined) {
    this.path = path;
    this.agent = agent;
  }

  /** Begins a file that does not exist yet. */
  begin(): void {
    this.base = "";
    this.hash = ABSENT;
    this.state.value = "there";
    this.dirty.value = true;
  }

  get text(): string {
    return this.current ? this.current() : this.base;
  }

  /** Reads the file. What is unsaved stays, and the newer version is told beside it. */
  async load(): Promise<void> {
    const mine = ++this.#reading;
    try {
      const got = await read("getFilesContent", { agent: this.agent, path: this.path });
      if (mine === this.#reading) this.#arrived(got.content, got.hash);
    } catch (error) {
      if (mine !== this.#reading) return;
      const why = refusal(error);
      const gone = why.status === 404 || why.code === "not_found";
      if (gone && this.state.peek() === "there") {
        if (this.hash !== ABSENT) this.newer.value = { text: null, hash: ABSENT };
        return;
      }
      this.why.value = why;
      this.state.value = "failed";
    }
  }

  #arrived(text: string, hash: string): void {
    if (this.state.peek() === "there" && hash === this.hash) {
      this.newer.value = null;
      return;
    }
    if (this.state.peek() === "there" && this.dirty.peek()) {
      if (this.text === text) this.#take(text, hash, false);
      else this.newer.value = { text, hash };
      return;
    }
    this.#take(text, hash, true);
  }

  #take(text: string, hash: string, intoEditor: boolean): void {
    this.base = text;
    this.hash = hash;
    this.dirty.value = false;
    this.newer.value = null;
    this.fault.value = null;
    if (intoEditor) this.turn.value += 1;
    this.state.value = "there";
  }

  /** Drops what was typed, and takes the server's text. */
  takeTheirs(): void {
    const newer = this.newer.peek();
    if (newer?.text == null) this.#take(this.base, this.hash, true);
    else this.#take(newer.text, newer.hash, true);
  }

  /** From now on, saving replaces the version that came meanwhile. */
  keepMine(): void {
    const newer = this.newer.peek();
    if (!newer) return;
    if (newer.text !== null) this.base = newer.text;
    this.hash = newer.hash;
    this.newer.value = null;
    this.fault.value = null;
    this.dirty.value = true;
  }

  /** Saves. True if the server wrote it; if the file has changed meanwhile, nothing is written and `newer` has what it is now. */
  async save(): Promise<boolean> {
    if (this.saving.peek()) return false;
    this.saving.value = true;
    this.fault.value = null;
    const text = this.text;
    try {
      const saved = (await change("putFilesContent", { agent: this.agent, path: this.path, content: text, seen: this.hash })) as { status: string; hash?: string };
      if (saved.status !== "written") return false;
      this.base = text;
      if (saved.hash) this.hash = saved.hash;
      this.dirty.value = this.text !== text;
      if (!saved.hash) await this.load();
      return true;
    } catch (error) {
      const why = refusal(error);
      if (why.code === "changed" || why.code === "exists") await this.load();
      if (this.newer.peek() === null) this.fault.value = why;
      return false;
    } finally {
      this.saving.value = false;
    }
  }
}

/** What is open of one agent's files. */
export interface Open {
  files: Signal<readonly OpenFile[]>;
  /** Changes of the agent that are open as tabs. */
  changes: Signal<readonly string[]>;
  folders: Signal<ReadonlySet<string>>;
}
const open = new Map<string, Open>();

export function openOf(agent: string | undefined): Open {
  const key = agent ?? "";
  let found = open.get(key);
  if (!found) {
    found = { files: signal([]), changes: signal([]), folders: signal(new Set<string>()) };
    open.set(key, found);
  }
  return found;
}

/** The open file of this path; opens it if it is not. */
export function fileOf(agent: string | undefined, path: string, isNew = false): OpenFile {
  const { files } = openOf(agent);
  const found = files.peek().find((it) => it.path === path);
  if (found) return found;
  const file = new OpenFile(path, agent);
  if (isNew) file.begin();
  else void file.load();
  files.value = [...files.peek(), file];
  return file;
}

addEventListener("beforeunload", (e) => {
  for (const { files } of open.values()) if (files.peek().some((it) => it.dirty.peek())) e.preventDefault();
});
