import type { JsonObject } from "./types.js";

/** The reason of an error, as A2A and this server name them. Other agents may send others. */
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

/** An error that the agent sent. */
export class A2AError extends Error {
  constructor(
    message: string,
    /** The error code of the JSON-RPC binding. */
    readonly code: number,
    readonly reason: Reason,
    /** Details: the first is an `ErrorInfo`; a `BadRequest` names the invalid fields. */
    readonly details: JsonObject[],
    cause?: unknown,
  ) {
    super(message, { cause });
    this.name = "A2AError";
  }

  /** An error that the agent sent as an `A2AError`; any other error unchanged. */
  static of(error: unknown): unknown {
    if (!(error instanceof Error) || error instanceof A2AError) return error;
    const { code, reason, details } = error as Error & { code?: unknown; reason?: unknown; details?: unknown };
    if (typeof code !== "number" || typeof reason !== "string") return error;
    return new A2AError(error.message, code, reason, Array.isArray(details) ? details : [], error);
  }
}

/** The card of an agent cannot be read, or does not offer Cap'n Web. */
export class DiscoveryError extends Error {
  readonly code = "not_discovered";

  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = "DiscoveryError";
  }
}
