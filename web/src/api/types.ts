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

export interface Agent {
  id: string;
  name: string;
  description: string;
  path?: string;
  paused: boolean;
  state?: "idle" | "thinking" | "executing" | "awaiting_approval" | "error";
  model?: string | null;
}

export interface ChatSession {
  session_id: string;
  agent: string;
  title: string;
  archived: boolean;
  created: string;
  updated: string;
  found?: FoundWords;
}

export interface FoundWords {
  title?: string;
  message?: string;
  cursor?: string;
  text?: string;
}

export interface Envelope {
  id: string;
  type: "agent_action" | "user_command" | "system_event" | "watchdog_alert" | "approval_request" | "approval_response" | "tool_result" | "ping" | "restore_session";
  timestamp: string;
  source: "user" | "agent" | "system" | "watchdog";
  payload: Fields;
  metadata: EnvelopeMetadata;
}

export interface EnvelopeMetadata {
  session_id: string;
  agent_state: "idle" | "thinking" | "executing" | "awaiting_approval" | "error";
  priority: "low" | "normal" | "high" | "critical";
  task_id?: string;
  cursor: string;
}

export interface Approval {
  id: string;
  skill: string;
  by: string;
  task: string;
  conversation: string;
  input: Json;
  notes: string[];
  at: number;
  until: number;
  preview?: string;
  event?: number;
}

export interface Question {
  id: string;
  by: string;
  task: string;
  conversation: string;
  question: string;
  at: number;
}

export interface Grant {
  id: string;
  skill: string;
  by: string;
  agreed: string;
  conversation?: string | null;
  field?: string | null;
  prefix?: string | null;
  until: number;
  uses?: number;
  event?: number;
}

export interface Because {
  says: string;
  event: number;
}

export interface LawVersion {
  version: number;
  hash: string;
  by: string;
  why: string;
  event: number;
  at?: string;
}

export interface Proposal {
  proposal?: number;
  standing: string;
  says: string;
  by: string;
  target: string;
  change: Json;
  justification: string;
  evidence?: number[];
  major: boolean;
  lines?: string[];
  trial?: LawTest;
  held_out?: LawTest;
  version?: number;
  events: number[];
}

export interface LawTest {
  verdict: Json;
  figures: LawFigures;
}

export interface LawFigures {
  episodes: number;
  better: number;
  worse: number;
  same: number;
  unknown: number;
  reasons?: Fields;
  before: number;
  after: number;
}

export interface Endings {
  answered: number;
  refused: number;
  failed: number;
  cancelled: number;
}

export interface SkillUse {
  skill: string;
  calls: number;
  failed: number;
  event: number;
}

export interface ProcedureUse {
  name: string;
  when: string;
  steps: string[];
  runs: number;
  answered: number;
  failed_step?: number;
  milliseconds?: number;
  event: number;
}

export interface Peer {
  agent: string;
  asked: number;
  answered: number;
  reliability: number;
  milliseconds?: number;
  trust: number;
  claims: number;
  contradicted: number;
  event: number;
}

export interface Capability {
  id: string;
  kind: string;
  by: string;
  parent?: string;
  methods?: string[];
  read_only: boolean;
  task?: string;
  session?: string;
  permissions: string[];
  note?: string;
  created: string;
  expires?: string;
  last_used?: string;
}

export interface User {
  name: string;
  role: "viewer" | "user" | "operator" | "admin";
  keys: number;
  created: string;
}

export interface SignInLink {
  url: string;
  user: string;
  expires: string;
}

export interface ApiKey {
  id: string;
  user: string;
  name?: string;
  scopes: string[];
  parent?: string;
  created: string;
  expires?: string;
  last_used?: string;
  secret?: string;
}

export interface SecretName {
  name: string;
  created: string;
  changed: string;
}

export interface FileNode {
  name?: string;
  path: string;
  type: "directory" | "file" | "link" | "special";
  size?: number;
  children?: FileNode[];
}

export interface FileHit {
  path: string;
  line: number;
  content: string;
  relevance: number;
}

export interface KeptChange {
  id: string;
  at: string;
  by: string;
  skill: string;
  path: string;
  operation: "created" | "modified" | "deleted" | "moved";
  from?: string;
  diff?: string;
  too_long?: boolean;
}

export interface Tool {
  id: string;
  name: string;
  description: string;
  tags: string[];
  examples: string[];
  input: Json;
  output?: Json;
  requires_approval: boolean;
  read_only: boolean;
  permission?: string;
  allowed: boolean;
}

export interface MemoryRecord {
  id: string;
  type: string;
  content: string;
  layer: string;
  recorded_at: string;
  metadata: Fields;
  uses: number;
  session_id?: string;
  speaker?: string;
  task_id?: string;
  occurred_at?: string;
  source?: string;
  reason?: Json;
  certain?: boolean;
  support?: Json;
  contradicted_by?: Fields;
  owner?: string;
  public?: boolean;
  relevance?: number;
  score?: number;
  explanation?: Fields[];
  provenance?: Json;
  confidence?: number;
  similarity?: number;
}

export interface JournalRecord {
  event: number;
  at: string;
  kind: string;
  turn?: string;
  text: string;
  data: Fields;
}

export interface FoundMessage {
  session_id: string;
  agent: string;
  event: number;
  message_id: string;
  text: string;
  at: string;
}

export interface BoardLetter {
  place: number;
  id?: string;
  from?: string;
  kind?: string;
  text?: string;
}

export interface ModelState {
  agent: string;
  model?: string | null;
}

export interface TerminalState {
  id: string;
  agent: string;
  holder?: string | null;
  opened: string;
  by: string;
  sandbox: string;
  ended: boolean;
}

/** What a caller may do: a method for each route, and the streams. */
export interface Workspace extends Streams {
  /** `GET /metrics`: Metrics, as Prometheus reads them. */
  getMetrics(fields?: {}): Promise<string>;
  /** `GET /api/audit`: The audit trail: the calls on every wire. */
  getAudit(fields?: { user?: string | number | boolean | string[]; since?: string | number | boolean | string[]; limit?: string | number | boolean | string[]; follow?: string | number | boolean | string[] }): Promise<string>;
  /** `GET /api/audit/verify`: Whether the chain of the audit trail is whole. */
  getAuditVerify(fields?: {}): Promise<Fields>;
  /** `GET /operator/webhooks/dead`: The webhooks that were given up. */
  getOperatorWebhooksDead(fields?: { after?: string | number | boolean | string[] }): Promise<{ webhooks: Fields[]; next: string }>;
  /** `POST /operator/webhooks/replay`: Starts webhooks again that were given up. */
  postOperatorWebhooksReplay(fields?: {}): Promise<Fields>;
  /** `GET /api/agents`: The agents that the caller may use. */
  getAgents(fields?: {}): Promise<{ agents: Agent[] }>;
  /** `GET /api/agent/status`: What the agent does at the moment. */
  getAgentStatus(fields?: { agent?: string }): Promise<{ id: string; state: "idle" | "thinking" | "executing" | "awaiting_approval" | "error"; current_task?: string | null; queue_length: number; paused: boolean; fault?: string | null; working: number; approvals: Fields[]; questions: Fields[]; grants: Fields[]; queue: Json[]; plans: Fields[]; law: Json[]; timers: Fields; offered?: string[]; accept?: string; event: number }>;
  /** `POST /api/agent/pause`: Has the agent stop where it is. */
  postAgentPause(fields?: { agent?: string }): Promise<{ success: boolean; previous_state: string; state: string; paused: boolean }>;
  /** `POST /api/agent/resume`: Has the agent go on. */
  postAgentResume(fields?: { agent?: string }): Promise<{ success: boolean; current_state: string }>;
  /** `POST /api/agent/command`: Sends a command to the agent. */
  postAgentCommand(fields: { command: string; context?: "project" | "file" | "system"; session_id?: string; urgency?: "immediate" | "high" | "normal" | "low"; priority?: "low" | "normal" | "high" | "critical"; attachments?: Fields[]; id?: string; agent?: string }): Promise<{ task_id: string; status: "queued" | "processing"; session_id: string }>;
  /** `POST /api/agent/initialize`: Begins a session, with what is chosen for it. */
  postAgentInitialize(fields?: { session_id?: string; config?: Fields; agent?: string }): Promise<{ session_id: string; agent_state: "idle" | "thinking" | "executing" | "awaiting_approval" | "error"; capabilities: string[]; agent: string; model?: string | null; note?: string }>;
  /** `GET /api/agent/tools`: What the agent can do: its skills, with what each takes and needs. */
  getAgentTools(fields?: { agent?: string }): Promise<{ agent: string; tools: Tool[] }>;
  /** `GET /api/sessions`: The sessions of the caller, the last used first. */
  getSessions(fields?: { query?: string | number | boolean | string[]; archived?: string | number | boolean | string[] }): Promise<{ sessions: ChatSession[] }>;
  /** `GET /api/sessions/{id}`: A session, and what waits in it. */
  getSessionsById(fields: { id: string | number; agent?: string }): Promise<{ session_id: string; agent: string; title: string; archived: boolean; created: string; updated: string; agent_state?: "idle" | "thinking" | "executing" | "awaiting_approval" | "error"; waiting?: string[] }>;
  /** `PATCH /api/sessions/{id}`: Renames or archives a session. */
  patchSessionsById(fields: { id: string | number; title?: string; archived?: boolean; agent?: string }): Promise<{ session_id: string; agent: string; title: string; archived: boolean; created: string; updated: string; agent_state?: "idle" | "thinking" | "executing" | "awaiting_approval" | "error"; waiting?: string[] }>;
  /** `DELETE /api/sessions/{id}`: Deletes a session; the journal keeps what happened. */
  deleteSessionsById(fields: { id: string | number; agent?: string }): Promise<{ success: boolean; session_id: string }>;
  /** `GET /api/sessions/{id}/messages`: The messages of a session. */
  getSessionsByIdMessages(fields: { id: string | number; agent?: string; after?: string | number | boolean | string[]; limit?: string | number | boolean | string[] }): Promise<{ session_id: string; messages: Envelope[]; agent_state: string; waiting: string[]; more: boolean }>;
  /** `GET /api/sessions/{id}/export`: A whole session, as JSON or Markdown. */
  getSessionsByIdExport(fields: { id: string | number; agent?: string; format?: string | number | boolean | string[] }): Promise<string>;
  /** `GET /api/files/tree`: The folders and files of the project. */
  getFilesTree(fields?: { agent?: string; path?: string | number | boolean | string[]; depth?: string | number | boolean | string[] }): Promise<{ path: string; type: "directory"; children: FileNode[]; incomplete?: boolean }>;
  /** `GET /api/files/content`: A file of the project. */
  getFilesContent(fields: { agent?: string; path: string | number | boolean | string[] }): Promise<{ path: string; content: string; language: string; size: number; modified?: string | null; hash: string }>;
  /** `PUT /api/files/content`: Writes a file, at once or after an approval. */
  putFilesContent(fields: { path: string; content: string; requires_approval?: boolean; seen?: string; agent?: string }): Promise<{ success: boolean; status: "written" | "pending_approval"; path?: string; created?: boolean; changed?: boolean; size?: number; hash?: string; approval_id?: string; task_id?: string }>;
  /** `GET /api/files/search`: Searches the files of the project. */
  getFilesSearch(fields: { agent?: string; query: string | number | boolean | string[]; type?: string | number | boolean | string[]; path?: string | number | boolean | string[]; limit?: string | number | boolean | string[] }): Promise<{ results: FileHit[]; incomplete: boolean }>;
  /** `GET /api/files/changes`: What agents changed in the project and can be taken back, the last first. */
  getFilesChanges(fields?: { agent?: string; limit?: string | number | boolean | string[] }): Promise<{ changes: KeptChange[] }>;
  /** `POST /api/files/undo`: Takes back a change of a file; without change, the last one. */
  postFilesUndo(fields?: { change?: string; agent?: string }): Promise<{ success: boolean; change: string; path: string; id: string }>;
  /** `POST /api/files/diff`: Applies a unified diff to a file, whole or in parts: at once, or by the agent after an approval; with preview, only says what it would do. */
  postFilesDiff(fields: { path: string; diff: string; hunks?: number[]; seen?: string; preview?: boolean; requires_approval?: boolean; agent?: string }): Promise<{ success: boolean; path: string; lines_added: number; lines_removed: number; content?: string; hash?: string; hunks: Fields[]; status?: "pending_approval" | "written"; approval_id?: string; task_id?: string }>;
  /** `GET /api/terminals`: The terminals that are open. */
  getTerminals(fields?: { agent?: string }): Promise<{ terminals: TerminalState[] }>;
  /** `POST /api/terminals`: Opens a terminal in the project; the caller holds it. */
  postTerminals(fields?: { columns?: number; rows?: number; agent?: string }): Promise<{ id: string; agent: string; holder?: string | null; opened: string; by: string; sandbox: string; ended: boolean }>;
  /** `DELETE /api/terminals/{id}`: Closes a terminal: its shell and all that it started end. */
  deleteTerminalsById(fields: { id: string | number; agent?: string }): Promise<{ success: boolean; id: string }>;
  /** `GET /api/agent/law`: The law of the agent, in sentences and as data. */
  getAgentLaw(fields?: { agent?: string; version?: string | number | boolean | string[] }): Promise<{ agent: string; version: number; hash: string; by: string; why: string; event: number; text: string; law: Fields }>;
  /** `PUT /api/agent/law`: Proposes a change of the law. */
  putAgentLaw(fields: { path: string; value: Json; why: string; agent?: string }): Promise<{ agent: string; from: number; to: number; by: string; why: string; lines: string[]; offered?: string[]; accept?: string }>;
  /** `POST /api/agent/law/accept`: Accepts what the edited manifest or law file says. */
  postAgentLawAccept(fields: { why: string; agent?: string }): Promise<{ agent: string; from: number; to: number; by: string; why: string; lines: string[]; offered?: string[]; accept?: string }>;
  /** `GET /api/agent/law/proposals`: The proposals to change the law, the oldest first. */
  getAgentLawProposals(fields?: { agent?: string }): Promise<{ agent: string; proposals: Proposal[] }>;
  /** `POST /api/agent/law/propose`: Proposes a change of the law, which is tested on recorded episodes. */
  postAgentLawPropose(fields: { target: string; change: Json; justification: string; evidence?: number[]; agent?: string }): Promise<{ agent: string; proposal?: number; standing: string; says: string; by: string; target: string; change: Json; justification: string; major: boolean; lines?: string[]; trial?: LawTest; held_out?: LawTest; version?: number; events: number[] }>;
  /** `POST /api/agent/law/reflect`: Has the agent look for a change of its law that its journal speaks for. */
  postAgentLawReflect(fields?: { agent?: string }): Promise<{ agent: string; proposals: Proposal[] }>;
  /** `POST /api/agent/law/test`: Tests a proposal once more. */
  postAgentLawTest(fields?: { proposal?: number; agent?: string }): Promise<{ agent: string; proposal?: number; standing: string; says: string; by: string; target: string; change: Json; justification: string; major: boolean; lines?: string[]; trial?: LawTest; held_out?: LawTest; version?: number; events: number[] }>;
  /** `POST /api/agent/law/approve`: Adopts a proposal. */
  postAgentLawApprove(fields?: { proposal?: number; why?: string; agent?: string }): Promise<{ agent: string; proposal?: number; standing: string; says: string; by: string; target: string; change: Json; justification: string; major: boolean; lines?: string[]; trial?: LawTest; held_out?: LawTest; version?: number; events: number[] }>;
  /** `POST /api/agent/law/reject`: Rejects a proposal. */
  postAgentLawReject(fields?: { proposal?: number; why?: string; agent?: string }): Promise<{ agent: string; proposal?: number; standing: string; says: string; by: string; target: string; change: Json; justification: string; major: boolean; lines?: string[]; trial?: LawTest; held_out?: LawTest; version?: number; events: number[] }>;
  /** `POST /api/agent/law/rollback`: Puts an older version of the law in force again; without version, the one before. */
  postAgentLawRollback(fields?: { version?: number; why?: string; agent?: string }): Promise<{ agent: string; from: number; to: number; by: string; why: string; lines: string[]; offered?: string[]; accept?: string }>;
  /** `GET /api/agent/laws`: Every law that the agent had. */
  getAgentLaws(fields?: { agent?: string }): Promise<{ agent: string; versions: LawVersion[] }>;
  /** `GET /api/agent/diff`: What changed between two versions of the law. */
  getAgentDiff(fields?: { agent?: string; from?: string | number | boolean | string[]; to?: string | number | boolean | string[] }): Promise<{ agent: string; from: number; to: number; by: string; why: string; lines: string[]; offered?: string[]; accept?: string }>;
  /** `GET /api/agent/why`: Why the agent did, said or holds something. */
  getAgentWhy(fields: { agent?: string; question: string | number | boolean | string[] }): Promise<{ agent: string; known: boolean; because: Because[]; text: string }>;
  /** `GET /api/agent/self`: What the agent is, can do, has learned and got wrong, and what it has seen of other agents. */
  getAgentSelf(fields?: { agent?: string }): Promise<{ agent: string; name: string; description: string; objectives: string[]; law: number; requests: Endings; skills: SkillUse[]; procedures: ProcedureUse[]; learned: Because[]; mistakes: Because[]; peers: Peer[]; text: string }>;
  /** `GET /api/journal`: The events of the agent's journal, the newest first; with after, the oldest first. */
  getJournal(fields?: { agent?: string; before?: string | number | boolean | string[]; after?: string | number | boolean | string[]; limit?: string | number | boolean | string[]; kinds?: string | number | boolean | string[] }): Promise<{ agent: string; events: JournalRecord[]; next?: number; last: number }>;
  /** `GET /api/journal/{event}`: An event, what it changed, and why it happened. */
  getJournalByEvent(fields: { event: string | number; agent?: string }): Promise<{ agent: string; event: number; at: string; kind: string; turn?: string; text: string; data: Fields; why: Because[]; changes: Fields[] }>;
  /** `GET /api/journal/{event}/state`: The state of the agent at an event: read, never replayed. */
  getJournalByEventState(fields: { event: string | number; agent?: string }): Promise<{ agent: string; event: number; at: string; state: "idle" | "thinking" | "executing" | "awaiting_approval" | "error"; paused: boolean; working: number; queue: Json[]; approvals: Fields[]; questions: Fields[]; grants: Grant[]; plans: Fields[]; goals: string[]; law_version: number; law_hash: string; law: string }>;
  /** `GET /api/journal/{event}/prompt`: What the model was shown for the thought of an event. */
  getJournalByEventPrompt(fields: { event: string | number; agent?: string }): Promise<{ agent: string; event: number; system: string; messages: Fields[]; tools: Fields[] }>;
  /** `GET /api/search`: Where something was said, in all sessions of the caller. */
  getSearch(fields: { query: string | number | boolean | string[]; limit?: string | number | boolean | string[] }): Promise<{ found: FoundMessage[]; incomplete: boolean }>;
  /** `GET /api/tasks`: The tasks of the caller, as A2A 1.0 has them, the last changed first. */
  getTasks(fields?: { agent?: string; state?: string | number | boolean | string[]; context?: string | number | boolean | string[]; limit?: string | number | boolean | string[]; after?: string | number | boolean | string[] }): Promise<{ tasks: Fields[]; next: string; total: number }>;
  /** `GET /api/tasks/{id}`: A task, as A2A 1.0 has it. */
  getTasksById(fields: { id: string | number; agent?: string }): Promise<{ id: string; contextId: string; status: Fields; artifacts?: Fields[]; history?: Fields[]; metadata?: Fields }>;
  /** `POST /api/tasks/{id}/cancel`: Cancels a task. */
  postTasksByIdCancel(fields: { id: string | number; agent?: string }): Promise<{ id: string; contextId: string; status: Fields }>;
  /** `GET /api/approvals`: The calls and questions that wait for the caller. */
  getApprovals(fields?: { agent?: string }): Promise<{ agent: string; approvals: Approval[]; questions: Question[] }>;
  /** `POST /api/approvals/{id}`: Answers what waits. */
  postApprovalsById(fields: { id: string | number; decision?: "approve" | "reject" | "modify" | "session"; modified?: Json; field?: string; prefix?: string; reason?: string; answer?: string; agent?: string }): Promise<{ id: string; task: string }>;
  /** `GET /api/grants`: The decisions that count for later calls. */
  getGrants(fields?: { agent?: string }): Promise<{ agent: string; grants: Grant[] }>;
  /** `DELETE /api/grants/{id}`: Ends a grant. */
  deleteGrantsById(fields: { id: string | number; agent?: string }): Promise<{ id: string }>;
  /** `GET /api/capabilities`: What the caller has lent to other programs. */
  getCapabilities(fields?: {}): Promise<{ capabilities: Capability[] }>;
  /** `POST /api/capabilities`: Lends a part of what the caller may do. */
  postCapabilities(fields?: { methods?: string[]; read_only?: boolean; task?: string; session?: string; permissions?: string[]; note?: string; for?: Json }): Promise<{ id: string; kind: string; by: string; methods?: string[]; read_only: boolean; permissions: string[]; created: string; token?: string }>;
  /** `DELETE /api/capabilities/{id}`: Takes back what was lent. */
  deleteCapabilitiesById(fields: { id: string | number }): Promise<Fields>;
  /** `GET /api/status`: The server: its build, its models and its agents. */
  getStatus(fields?: {}): Promise<{ build: string; version: string; started: string; models: ModelState[]; agents: Agent[]; ollama?: Fields }>;
  /** `GET /api/model`: The model that answers. */
  getModel(fields?: {}): Promise<{ provider?: string | null; name?: string | null; url?: string | null; has_key: boolean; from: "settings" | "kept" | "rules" }>;
  /** `PUT /api/model`: Uses another model. It is tried first, and the key is kept sealed. */
  putModel(fields: { provider: string; name: string; url?: string; key?: string }): Promise<{ provider?: string | null; name?: string | null; url?: string | null; has_key: boolean; from: "settings" | "kept" | "rules" }>;
  /** `DELETE /api/model`: Forgets the model that was chosen: that of the settings answers again. */
  deleteModel(fields?: {}): Promise<{ provider?: string | null; name?: string | null; url?: string | null; has_key: boolean; from: "settings" | "kept" | "rules" }>;
  /** `GET /api/users`: The users. */
  getUsers(fields?: {}): Promise<{ users: User[] }>;
  /** `POST /api/users`: Adds a user, with a sign-in link or an API key. */
  postUsers(fields: { name: string; role?: "viewer" | "user" | "operator" | "admin"; key?: boolean }): Promise<{ user: User; link?: SignInLink; key?: ApiKey }>;
  /** `PUT /api/users/{name}`: Gives a user another role. */
  putUsersByName(fields: { name: string | number; role: "viewer" | "user" | "operator" | "admin" }): Promise<{ name: string; role: "viewer" | "user" | "operator" | "admin"; keys: number; created: string; note?: string }>;
  /** `DELETE /api/users/{name}`: Removes a user; its keys, tokens and open connections end. */
  deleteUsersByName(fields: { name: string | number }): Promise<{ name: string; role: "viewer" | "user" | "operator" | "admin"; keys: number; created: string; note?: string }>;
  /** `POST /api/users/{name}/link`: A new sign-in link. */
  postUsersByNameLink(fields: { name: string | number }): Promise<{ url: string; user: string; expires: string }>;
  /** `GET /api/secrets`: The names of the secrets that agents use. */
  getSecrets(fields?: {}): Promise<{ secrets: SecretName[] }>;
  /** `PUT /api/secrets/{name}`: Sets a secret. */
  putSecretsByName(fields: { name: string | number; value: string }): Promise<{ name: string; created: string; changed: string }>;
  /** `DELETE /api/secrets/{name}`: Removes a secret. */
  deleteSecretsByName(fields: { name: string | number }): Promise<{ name: string; created: string; changed: string }>;
  /** `GET /api/keys`: The API keys of the caller; with the permission admin, those of all users. */
  getKeys(fields?: {}): Promise<{ keys: ApiKey[] }>;
  /** `POST /api/keys`: Makes an API key; its secret is in this reply alone. */
  postKeys(fields?: { user?: string; name?: string; scopes?: string[]; for?: Json }): Promise<{ secret: string; id: string; user: string; name?: string; scopes: string[]; parent?: string; created: string; expires?: string }>;
  /** `DELETE /api/keys/{id}`: Revokes an API key. */
  deleteKeysById(fields: { id: string | number }): Promise<{ id: string; user: string; name?: string; scopes: string[]; parent?: string; created: string; expires?: string; last_used?: string }>;
  /** `GET /api/session`: Who the caller is, and what it may do. */
  getSession(fields?: {}): Promise<{ user: string; scheme: string; role?: "viewer" | "user" | "operator" | "admin"; permissions: string[]; expires?: string; read_only?: boolean; session?: string }>;
  /** `POST /api/session`: Redeems the sign-in link that is sent as the bearer token. */
  postSession(fields?: {}): Promise<{ token: string; user: string; expires: string }>;
  /** `GET /api/boards`: The boards. */
  getBoards(fields?: {}): Promise<{ boards: string[] }>;
  /** `GET /api/boards/{name}`: The letters of a board. */
  getBoardsByName(fields: { name: string | number; after?: string | number | boolean | string[]; limit?: string | number | boolean | string[] }): Promise<{ board: string; letters: BoardLetter[] }>;
  /** `POST /api/boards/{name}`: Adds a letter to a board. */
  postBoardsByName(fields: { name: string | number; kind?: string; text?: string; agent?: string }): Promise<{ success: boolean; board: string; place: number; id: string }>;
  /** `POST /api/memory/query`: What the agent remembers about a question. */
  postMemoryQuery(fields: { query: string; mode?: "hybrid" | "local" | "global"; top_k?: number; layers?: string[]; sources?: string[]; since?: string; until?: string; task_id?: string; max_tokens?: number; noted?: boolean; agent?: string }): Promise<{ entities: string[]; relationships: Fields[]; sources: MemoryRecord[]; mode: string; retriever: string }>;
  /** `POST /api/memory/vector-search`: The records that are nearest to a text. */
  postMemoryVectorSearch(fields: { query: string; top_k?: number; agent?: string }): Promise<{ results: MemoryRecord[]; retriever: string }>;
  /** `GET /api/memory/context`: What the agent remembers that has to do with a task. */
  getMemoryContext(fields: { agent?: string; task_id: string | number | boolean | string[] }): Promise<{ task_id: string; related_concepts: string[]; previous_conversations: MemoryRecord[]; code_references: MemoryRecord[] }>;
  /** `GET /api/memory/graph`: The knowledge graph, or a part of it. */
  getMemoryGraph(fields?: { agent?: string; topic?: string | number | boolean | string[]; limit?: string | number | boolean | string[] }): Promise<{ nodes: Json[]; edges: Json[] }>;
  /** `GET /api/memory/records`: The records of the memory, the newest first. */
  getMemoryRecords(fields?: { agent?: string; layer?: string | number | boolean | string[]; type?: string | number | boolean | string[]; before?: string | number | boolean | string[]; limit?: string | number | boolean | string[] }): Promise<{ agent: string; records: MemoryRecord[]; total: number; next?: string }>;
  /** `GET /api/memory/audit`: Counts of what is in the memory, and of what is wrong with it. */
  getMemoryAudit(fields?: { agent?: string }): Promise<{ agent: string; clean: boolean; records: number; layers: Fields; contradictions: number; duplicates: number; echoes: number; embedded: number; forgotten: number; never_read: number; recall_loops: number; uncertain: number; unsettled: number; hypotheses: number; without_reason: number }>;
  /** `GET /api/memory/export`: The records of the memory. */
  getMemoryExport(fields?: { agent?: string; format?: string | number | boolean | string[] }): Promise<string>;
  /** `POST /api/memory/store`: Has the agent remember something. */
  postMemoryStore(fields: { type?: string; content: string; metadata?: Fields; layer?: string; reason?: Fields; from?: string[]; public?: boolean; agent?: string }): Promise<{ success: boolean; node_id: string; layer: string; outcome: string; contradicts?: Fields[] }>;
  /** `POST /api/memory/forget`: Has the agent forget a record. */
  postMemoryForget(fields: { id: string; why?: string; agent?: string }): Promise<{ success: boolean; forgotten: number }>;
  /** `POST /api/memory/import`: Writes exported records into the memory. */
  postMemoryImport(fields?: { agent?: string }): Promise<{ success: boolean; imported: number; known: number }>;
}
