export { ChatClient } from "./client.js";
export type { ChatAnswer, ChatOptions, CommandOptions } from "./client.js";
export { compareCursors } from "./keeper.js";
export type { Kept } from "./keeper.js";
export type { ChatListener, ChatMessage, ChatRefusal, Outgoing } from "./types.js";
