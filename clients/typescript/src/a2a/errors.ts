import type { JsonObject } from "./types.js";

/** Why an agent refuses, as A2A and this server name it; others may come. */
export type Reason =
  | "TASK_NOT_FOUND"
  | "TASK_NOT_CANCELABLE"
  | "PUSH_NOTIFICATION_NOT_SUPPORTED"
  | "UNSUPPORTED_OPERATION"
  | "CONTENT_TYPE_NOT_SUPPORTED"
  | "INVALID_AGENT_RESPONSE"
  | "EXTENDED_AGENT_CARD_NOT_CONFIGURED"
  | "EXTENSION_SUPPORT_REQUIRED"
  | "VERSION_NOT_SUPPORTED"
  | "TASK_GENERATION_MISMATCH"
  | "INVALID_REQUEST"
  | "METHOD_NOT_FOUND"
  | "INVALID_PARAMS"
  | "UNAVAILABLE"
  | "INTERNAL_ERROR"
  | (string & {});

/** The agent refused a call, or failed at it. */
export class A2AError extends Error {
  constructor(
    message: string,
    /** The code, as in the JSON-RPC binding. */
    readonly code: number,
    readonly reason: Reason,
    /** More about it: the first is an `ErrorInfo`, a `BadRequest` names the fields that will not do. */
    readonly details: JsonObject[],
    cause?: unknown,
  ) {
    super(message, { cause });
    this.name = "A2AError";
  }

  /** The error that a call failed with, if an agent sent it; any other as it is. */
  static of(error: unknown): unknown {
    if (!(error instanceof Error) || error instanceof A2AError) return error;
    const { code, reason, details } = error as Error & { code?: unknown; reason?: unknown; details?: unknown };
    if (typeof code !== "number" || typeof reason !== "string") return error;
    return new A2AError(error.message, code, reason, Array.isArray(details) ? details : [], error);
  }
}

/** An agent was found, but not a way to it that this client knows. */
export class DiscoveryError extends Error {
  readonly code = "not_discovered";

  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = "DiscoveryError";
  }
}
