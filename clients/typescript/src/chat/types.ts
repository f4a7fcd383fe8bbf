/** A message of the server; `docs/chat.md` describes the payloads. */
export interface ChatMessage {
  /** A UUID, version 4. What is replayed has the same id again. */
  id: string;
  type: string;
  timestamp: string;
  source: "agent" | "user" | "system" | "watchdog";
  payload: Record<string, any>;
  metadata: {
    session_id: string;
    agent_state: "idle" | "thinking" | "executing" | "awaiting_approval" | "error";
    priority: "low" | "normal" | "high" | "critical";
    task_id?: string;
    cursor: string;
  };
}

/** A message of the user on its way to the server. */
export interface Outgoing {
  id: string;
  message: Record<string, unknown>;
  /** The question that it answers. */
  request?: string;
}

/** Why the server did not take a message. */
export interface ChatRefusal {
  id: string;
  /** A word that programs decide by, such as `invalid`, `denied` or `not_found`. */
  code: string;
  message: string;
}

/** What the user of a client is told. */
export interface ChatListener {
  /** The next message of the session: each once and in order, over all connections. */
  onMessage?(message: ChatMessage): void;
  /** Something that is not part of the session's record: a piece of a thought, progress, an alert. */
  onPassing?(message: ChatMessage): void;
  /** The server has this message of ours. */
  onTaken?(id: string): void;
  /** The server refused this message of ours; it is not sent again. */
  onRefused?(refusal: ChatRefusal): void;
  /** Everything that happened so far was told; these questions wait for an answer. It comes after every connection. */
  onRestored?(waiting: string[]): void;
  /** The connection is gone, or could not be made; the next attempt is after so many milliseconds. */
  onLost?(wait: number): void;
  /** The server refuses this client. There is no further attempt. */
  onEnded?(why: string): void;
}
