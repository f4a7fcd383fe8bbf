import type {
  Message,
  StreamResponse,
  Task,
  TaskArtifactUpdateEvent,
  TaskStatusUpdateEvent,
} from "./types.js";

/** Hears how a task stands. */
export type OnStatus = (event: TaskStatusUpdateEvent) => void | PromiseLike<void>;
/** Hears what a task makes. */
export type OnArtifact = (event: TaskArtifactUpdateEvent) => void | PromiseLike<void>;

/** A task whose events go to callbacks, one after the other. */
export class Following {
  /** The task as it was at the beginning, unless the agent answered with a message alone. */
  readonly task: Task | undefined;
  /** The agent's answer, when it is no task. */
  readonly message: Message | undefined;
  /** Settles when there is nothing more to hear; fails when the stream does, or a callback. */
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
    // Whoever is interested looks at `done`; nobody has to.
    this.done.catch(() => {});
  }

  /** Waits for the beginning of a stream, and calls back for the rest. */
  static async begin(
    events: AsyncGenerator<StreamResponse, void, void>,
    onStatus: OnStatus,
    onArtifact: OnArtifact,
  ): Promise<Following> {
    const first = await events.next();
    return new Following(first.done ? undefined : first.value, events, onStatus, onArtifact);
  }

  /** Hears no more. The task goes on. */
  close(): void {
    this.#closed = true;
    this.#events.return().catch(() => {});
  }

  /** As `close`, for `using`. */
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
