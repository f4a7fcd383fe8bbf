import type {
  Message,
  StreamResponse,
  Task,
  TaskArtifactUpdateEvent,
  TaskStatusUpdateEvent,
} from "./types.js";

/** Called when the status of a task changes. */
export type OnStatus = (event: TaskStatusUpdateEvent) => void | PromiseLike<void>;
/** Called when an artifact is added or grows. */
export type OnArtifact = (event: TaskArtifactUpdateEvent) => void | PromiseLike<void>;

/** Passes the events of a task to callbacks, one after the other. */
export class Following {
  /** The task as it was in the first event; undefined if the agent answered with a message. */
  readonly task: Task | undefined;
  /** The agent's answer, if it is not a task. */
  readonly message: Message | undefined;
  /** Resolves when the stream ended; rejects if the stream or a callback fails. */
  readonly done: Promise<void>;
  readonly #events: AsyncGenerator<StreamResponse, void, void>;
  #closed = false;

  private constructor(
    first: StreamResponse | undefined,
    events: AsyncGenerator<StreamResponse, void, void>,
    onStatus: OnStatus,
    onArtifact: OnArtifact,
  ) {
    this.task = first?.task;
    this.message = first?.message;
    this.#events = events;
    this.done = this.#run(first, onStatus, onArtifact);
    // Users may ignore `done`, so a rejection must not count as unhandled.
    this.done.catch(() => {});
  }

  /** The id of the task, if there is one. */
  get id(): string | undefined {
    return this.task?.id;
  }

  /** Waits for the first event; the callbacks get all events. */
  static async begin(
    events: AsyncGenerator<StreamResponse, void, void>,
    onStatus: OnStatus,
    onArtifact: OnArtifact,
  ): Promise<Following> {
    const first = await events.next();
    return new Following(first.done ? undefined : first.value, events, onStatus, onArtifact);
  }

  /** Stops the callbacks. The task itself continues. */
  close(): void {
    this.#closed = true;
    this.#events.return().catch(() => {});
  }

  /** The same as `close`, for `using`. */
  [Symbol.dispose](): void {
    this.close();
  }

  async #run(first: StreamResponse | undefined, onStatus: OnStatus, onArtifact: OnArtifact): Promise<void> {
    const tell = async (event: StreamResponse | undefined) => {
      if (event?.statusUpdate) await onStatus(event.statusUpdate);
      if (event?.artifactUpdate) await onArtifact(event.artifactUpdate);
    };
    await tell(first);
    for await (const event of this.#events) {
      if (this.#closed) return;
      await tell(event);
    }
  }
}
