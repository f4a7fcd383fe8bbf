/** The events that are read: pages from the newest back, and those to come. */
import { type Signal, signal } from "@preact/signals";
import type { JournalRecord } from "../../api/types.ts";
import { Refusal, refusal } from "../../api/refusal.ts";
import { connection, read } from "../../state/app.ts";

/** How many events are read at once. */
const PAGE = 300;
/** An event that is further back than this is gone to directly, without all that is between. */
const FAR = 3_000;

export type Progress = { kind: "loading" } | { kind: "there" } | { kind: "failed"; why: Refusal };

/** The journal of one agent, as far as it was read. The oldest event is first. */
export class Journal {
  readonly progress: Signal<Progress> = signal<Progress>({ kind: "loading" });
  /** Counts the changes of `events`, which is changed in place: copying 50,000 for each batch would be too slow. */
  readonly version = signal(0);
  /** Events that came while the reader was further down; they are put in when it comes back. */
  readonly held = signal(0);
  events: JournalRecord[] = [];
  /** Whether the first event of the journal is among them. */
  complete = false;
  /** Whether newer events than these were left out, because an old one was gone to. */
  detached = false;
  /** The last event that the server has. */
  last = 0;

  #agent: string | undefined;
  #kinds: string[];
  /** Where older events go on, as the server said; a page of few kinds may be empty and have more behind it. */
  #next: number | undefined;
  #wanted: ReadonlySet<string>;
  #coming: JournalRecord[] = [];
  #holding = false;
  #reading: Promise<void> | null = null;
  #stop: (() => void) | null = null;
  #frame = 0;
  #ended = false;

  constructor(agent: string | undefined, kinds: string[]) {
    this.#agent = agent;
    this.#kinds = kinds;
    this.#wanted = new Set(kinds);
  }

  /** Reads the newest events, and follows those to come. */
  async start(): Promise<void> {
    this.progress.value = { kind: "loading" };
    try {
      this.#next = undefined;
      const page = await this.#page();
      if (this.#ended) return;
      this.detached = false;
      this.events = page.events;
      this.last = Math.max(page.last, this.events.at(-1)?.event ?? 0);
      this.#told();
      this.progress.value = { kind: "there" };
      this.#follow();
    } catch (error) {
      if (!this.#ended) this.progress.value = { kind: "failed", why: refusal(error) };
    }
  }

  end(): void {
    this.#ended = true;
    this.#stop?.();
    cancelAnimationFrame(this.#frame);
  }

  /** Reads older events; several calls at a time are one. */
  older(): Promise<void> {
    if (this.complete || this.progress.peek().kind !== "there") return Promise.resolve();
    this.#reading ??= (async () => {
      try {
        const page = await this.#page();
        if (this.#ended) return;
        const first = this.events[0]?.event ?? Infinity;
        this.events = [...page.events.filter((it) => it.event < first), ...this.events];
        this.#told();
      } catch {
        /* the reader scrolls again */
      } finally {
        this.#reading = null;
      }
    })();
    return this.#reading;
  }

  /** Reads so far back that an event is there, if there is one. */
  async reach(event: number): Promise<void> {
    while (!this.#ended && !this.complete && this.progress.peek().kind === "there") {
      const first = this.events[0]?.event ?? 0;
      if (first <= event) return;
      if (first - event > FAR) return this.#jump(event);
      const before = this.events.length;
      await this.older();
      if (this.events.length === before) return;
    }
  }

  /** Goes back to the end of the journal. */
  async newest(): Promise<void> {
    this.#stop?.();
    this.#stop = null;
    await this.start();
  }

  /** While it holds, new events are counted and not put in. */
  hold(on: boolean): void {
    if (this.#holding === on) return;
    this.#holding = on;
    if (!on) this.#put();
  }

  has(event: number): boolean {
    return this.indexOf(event) >= 0;
  }

  /** The place of an event, by bisection. */
  indexOf(event: number): number {
    const at = this.before(event);
    return this.events[at]?.event === event ? at : -1;
  }

  /** The place of the last event up to this number. */
  before(event: number): number {
    let [low, high] = [0, this.events.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.events[middle]!.event <= event) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }

  async #jump(event: number): Promise<void> {
    this.#next = event + Math.floor(PAGE / 2);
    const page = await this.#page();
    if (this.#ended) return;
    this.events = page.events;
    this.detached = true;
    this.#coming = [];
    this.#told();
  }

  /** The next page back, the oldest event first. Empty pages that have more behind them are passed over. */
  async #page(): Promise<{ events: JournalRecord[]; last: number }> {
    for (;;) {
      const page = await read("getJournal", {
        agent: this.#agent, limit: PAGE, ...(this.#next !== undefined ? { before: this.#next } : {}), ...(this.#kinds.length > 0 ? { kinds: this.#kinds.join(",") } : {}),
      });
      const next = page.next ?? undefined;
      // A page that does not go back would be read for ever.
      this.complete = next === undefined || (this.#next !== undefined && next >= this.#next);
      this.#next = next;
      if (page.events.length > 0 || this.complete || this.#ended) return { events: page.events.toReversed(), last: page.last ?? 0 };
    }
  }

  #follow(): void {
    this.#stop?.();
    this.#stop = connection.follow("followJournal", () => ({ agent: this.#agent, after: this.last }), (records) => {
      for (const it of records) {
        if (it.event <= this.last) continue;
        this.last = it.event;
        if (this.#wanted.size === 0 || this.#wanted.has(it.kind)) this.#coming.push(it);
      }
      if (this.#frame === 0) this.#frame = requestAnimationFrame(() => { this.#frame = 0; this.#put(); });
    }, { failed: () => {} });
  }

  #put(): void {
    if (this.#ended) return;
    if (this.#holding || this.detached) {
      this.held.value = this.#coming.length;
      return;
    }
    if (this.#coming.length > 0) {
      this.events.push(...this.#coming);
      this.#coming = [];
      this.version.value += 1;
    }
    this.held.value = 0;
  }

  #told(): void {
    this.version.value += 1;
  }
}
