import type { Core, Live, Remote } from "./session.js";

/** An event and its cursor: a subscription from this cursor begins with the event after it. */
export interface Item<E> {
  cursor: string;
  event: E;
}

/** What `Reconnecting.resume` needs to follow a log. */
export interface ResumeOptions<S, E> {
  /** Begin after the event with this cursor. Without one, begin with the first event. */
  cursor?: string | null;
  /** Subscribes; called in each session: `(feed, cursor, sink) => feed.subscribe(cursor, sink)`. */
  subscribe: (object: S, cursor: string | null, sink: (items: Item<E>[]) => Promise<void>) => PromiseLike<unknown>;
  /**
   * Handles one event. Events are handled one after the other, and the server waits until they are (flow control). If
   * this throws, the subscription ends.
   */
  onEvent: (event: E, cursor: string) => void | PromiseLike<void>;
}

/**
 * A subscription to a log that continues across sessions. Made by `Reconnecting.resume`.
 *
 * For each session it subscribes from the cursor of the last event that was handled. Events of the old session may still
 * be in the queue then; the new subscription waits until they are handled, because the cursor is right only after that.
 * Events of a session that is not the current one are refused, so no event is handled twice.
 */
export class Resumption {
  /** Resolves when the log ended or `close` was called; rejects if the log cannot be continued. */
  readonly done: Promise<void>;
  #cursor: string | null;
  /** The number of the current subscription; events of earlier ones are refused. */
  #turn = 0;
  /** Resolves when all events received so far are handled. It never rejects. */
  #busy: Promise<void> = Promise.resolve();
  #close: () => void = () => {};
  #closed = false;

  constructor(core: Core, inSession: (live: Live) => any, options: ResumeOptions<any, any>) {
    this.#cursor = options.cursor ?? null;
    const closed = new Promise<void>((resolve) => (this.#close = resolve));
    this.done = this.#run(core, inSession, options, closed);
    // Users may ignore `done`, so a rejection must not count as unhandled.
    this.done.catch(() => {});
  }

  /** The cursor of the last event that was handled. Store it to continue later. */
  get cursor(): string | null {
    return this.#cursor;
  }

  /** Ends the subscription. */
  close(): void {
    this.#closed = true;
    this.#turn += 1;
    this.#close();
  }

  /** The same as `close`, for `using`. */
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
      // Events of the previous session are handled first: only then is the cursor right.
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
      if (turn !== this.#turn) throw new Error("subscription closed");
      await onEvent(event, cursor);
      this.#cursor = cursor;
    }
  }
}
