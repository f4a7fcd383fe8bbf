export { Backoff } from "./backoff.js";
export { ConnectionLostError, NotConnectedError } from "./errors.js";
export { connect, Reconnecting } from "./reconnecting.js";
export { Resumption } from "./resume.js";
export type { Item, ResumeOptions } from "./resume.js";
export type { ConnectOptions } from "./session.js";
