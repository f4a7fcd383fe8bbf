import type { Core, Live, Remote } from "./session.js";

/** An event, and the cursor from which the events after it can be asked for. */
export interface Item<E> {
  cursor: string;
  event: E;
}

/** How to follow a log. */
export interface ResumeOptions<S, E> {
  /** Where to begin: after the event of this cursor. Without one, at the beginning. */
  cursor?: string | null;
  /** Subscribes, in each session anew: `(feed, cursor, sink) => feed.subscribe(cursor, sink)`. */
  subscribe: (object: S, cursor: string | null, sink: (items: Item<E>[]) => Promise<void>) => PromiseLike<unknown>;
  /**
   * Deals with one event. They come one after the other, and the server sends no more than what is dealt with;
   * what this throws ends the subscription.
   */
  onEvent: (event: E, cursor: string) => void | PromiseLike<void>;
}

/** A log that is being followed. Made by `Reconnecting.resume`. */
export class Resumption {
  /** Settles when the log has ended or `close` was called; fails when the log cannot go on. */
  readonly done: Promise<void>;
  #cursor: string | null;
  /** Which session's events count. */
  #turn = 0;
  /** What is being dealt with. It never fails. */
  #busy: Promise<void> = Promise.resolve();
  #close: () => void = () => {};
  #closed = false;

  constructor(core: Core, inSession: (live: Live) => any, options: ResumeOptions<any, any>) {
    this.#cursor = options.cursor ?? null;
    const closed = new Promise<void>((resolve) => (this.#close = resolve));
    this.done = this.#run(core, inSession, options, closed);
    // Whoever is interested looks at `done`; nobody has to.
    this.done.catch(() => {});
  }

  /** That of the last event that was dealt with. Keep it to go on later. */
  get cursor(): string | null {
    return this.#cursor;
  }

  /** Ends the subscription. */
  close(): void {
    this.#closed = true;
    this.#turn += 1;
    this.#close();
  }

  /** As `close`, for `using`. */
  [Symbol.dispose](): void {
    this.close();
  }

  async #run(
    core: Core,
    inSession: (live: Live) => any,
    { subscribe, onEvent }: ResumeOptions<any, any>,
    closed: Promise<void>,
  ): Promise<void> {
    while (!this.#closed) {
      const live = await Promise.race([core.live(Infinity), closed]);
      // What an older session brought is dealt with first: only then is the cursor where to go on.
      await this.#busy;
      if (this.#closed || !live) return;
      if (live.ended !== undefined) continue;
      const turn = (this.#turn += 1);
      const sink = async (items: Item<any>[]) => {
        const work = this.#busy.then(() => this.#take(turn, items, onEvent));
        this.#busy = work.catch(() => {});
        await work;
      };
      const subscription = subscribe(inSession(live), this.#cursor, sink) as any;
      try {
        await Promise.race([subscription.ended(), closed]);
        return;
      } catch (error) {
        if (!(await live.lost(error))) throw error;
      } finally {
        this.#turn += 1;
        (subscription as Remote)[Symbol.dispose]();
      }
    }
  }

  async #take(turn: number, items: Item<any>[], onEvent: ResumeOptions<any, any>["onEvent"]): Promise<void> {
    for (const { cursor, event } of items) {
      if (turn !== this.#turn) throw new Error("the subscriber is gone");
      await onEvent(event, cursor);
      this.#cursor = cursor;
    }
  }
}
