// Written by `cargo xtask types` from the table of routes. Do not edit.

/** Data. */
export type Json = string | number | boolean | null | Json[] | { [name: string]: Json };

/** An object with fields that are not listed. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type Fields = { [name: string]: any };

/** A refusal, as a call rejects with it: an `Error` with what the REST API says. */
export interface Refusal extends Error {
  code?: string;
  status?: number;
  field?: string;
  hint?: string;
}

/** What a session begins with, at `workspace/capnweb`. */
export interface Door {
  hello(): Promise<Hello>;
  /** `{}` only where the server lets callers in without credentials. */
  authenticate(credentials: { token?: string; link?: string }): Promise<Workspace>;
}

export interface Hello {
  /** The hash of the page's files. */
  build: string;
  version: string;
  /** Whether callers need no credentials. */
  open: boolean;
  /** The path that the server is behind, such as `/monas`; empty for the root. */
  base: string;
}

export interface SignedIn {
  caller: string;
  role: "viewer" | "user" | "operator" | "admin" | null;
  permissions: string[];
  /** The token to keep, after a sign-in link. */
  token?: string;
  expires?: string;
  /** Whether nothing may be changed, with a link that was made to look. */
  read_only?: boolean;
  /** The only session that may be seen, with a link that was made for one. */
  session?: string;
}

/** Something that goes on until it is disposed, or until the session ends. */
export interface Subscription {
  /** Waits until it is over, and says why. */
  ended(): Promise<{ reason: string }>;
  [Symbol.dispose](): void;
}

export interface ChatWindow extends Subscription {
  /** A message as `/ws/chat` takes it. Faults come as a `system_event` with `event: "error"`. */
  send(envelope: Fields): Promise<void>;
}

/** Something that waits for a person: a call, or a question. */
export interface Waiting {
  id: string;
  agent: string;
  kind: "approval" | "question";
  by: string;
  task: string;
  conversation: string;
  /** Milliseconds since 1970. */
  at: number;
  until?: number;
  skill?: string;
  input?: Json;
  notes?: string[];
  /** The change or the command, as a person is shown it. */
  preview?: string;
  /** The event of the journal by which it was asked. */
  event?: number;
  question?: string;
}

export interface QuestionsChange {
  waiting: Waiting[];
  answered?: AnsweredQuestion;
}

export interface AnsweredQuestion {
  id: string;
  agent: string;
  decision: "approve" | "reject" | "expired" | "answered" | "withdrawn";
  by: string;
  reason?: string;
  answer?: string;
  event: number;
  /** The name of the wire that it was answered over, where it is known. */
  wire?: string;
}

export interface FileChange {
  path: string;
  operation: "created" | "modified" | "deleted";
  size?: number;
}

/** A call on some wire, without its content. */
export interface WireFrame {
  number: number;
  at: string;
  wire: string;
  version: string;
  operation: string;
  caller: string;
  outcome: string;
  milliseconds: number;
  request: string;
  bytes: number;
}

export interface TerminalPiece {
  /** Where the next piece begins. */
  cursor: number;
  /** Base64. */
  bytes: string;
  /** How many bytes before it are kept no longer. */
  missed?: number;
  /** The name that may type, when it is another one than before. */
  holder?: string | null;
  /** What was typed since the piece before, and by whom: `at` is the cursor of that moment. At first the last ones. */
  typed?: { by: string; text: string; at: number }[];
  /** How the shell ended. */
  ended?: string;
}

export interface Terminal extends Subscription {
  /** Its id, for `attachTerminal`. */
  id(): Promise<string>;
  write(text: string): Promise<void>;
  resize(columns: number, rows: number): Promise<void>;
  /** From now on the caller may type, and no other. */
  take(): Promise<{ before: string | null }>;
  /** From now on anyone who is attached may type. */
  release(): Promise<void>;
  close(): Promise<void>;
}

/** What goes on. A callback is called with batches, in order; each call is waited for. */
export interface Streams {
  signedIn(): Promise<SignedIn>;
  followChat(
    what: { session_id?: string; agent?: string; cursor?: string },
    on: (envelopes: Envelope[]) => void,
  ): Promise<ChatWindow>;
  followJournal(what: { agent?: string; after?: number }, on: (records: JournalRecord[]) => void): Promise<Subscription>;
  followQuestions(what: {}, on: (change: QuestionsChange) => void): Promise<Subscription>;
  /** Notices of the watchdog: `type` is `watchdog_alert`, `watchdog_digest` or `missed`. */
  followAlerts(what: {}, on: (notices: { type: string; payload: Fields }[]) => void): Promise<Subscription>;
  followFiles(what: { agent?: string }, on: (changes: FileChange[]) => void): Promise<Subscription>;
  followWire(what: { wire?: string; caller?: string }, on: (frames: WireFrame[]) => void): Promise<Subscription>;
  /** Events of A2A 1.0: an object with `task`, `message`, `statusUpdate` or `artifactUpdate`. */
  followTask(what: { id: string; agent?: string }, on: (events: Fields[]) => void): Promise<Subscription>;
  terminals(what?: { agent?: string }): Promise<TerminalState[]>;
  openTerminal(
    what: { agent?: string; columns?: number; rows?: number },
    on: (pieces: TerminalPiece[]) => void,
  ): Promise<Terminal>;
  attachTerminal(
    what: { id: string; agent?: string; after?: number },
    on: (pieces: TerminalPiece[]) => void,
  ): Promise<Terminal>;
}
