export { ChatClient } from "./client.js";
export type { ChatAnswer, ChatOptions, CommandOptions } from "./client.js";
export { compareCursors } from "./session-state.js";
export type { Kept } from "./session-state.js";
export type { ChatListener, ChatMessage, ChatRefusal, Outgoing } from "./types.js";
