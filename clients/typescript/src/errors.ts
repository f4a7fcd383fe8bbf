/** The connection was lost while a call was under way: it may or may not have been done. */
export class ConnectionLostError extends Error {
  readonly code = "connection_lost";

  constructor(cause: unknown) {
    super("the connection was lost while the call was under way", { cause });
    this.name = "ConnectionLostError";
  }
}

/** A call was not made, because there was no connection for too long or never will be. */
export class NotConnectedError extends Error {
  readonly code = "not_connected";

  constructor(why: string, cause?: unknown) {
    super(why, { cause });
    this.name = "NotConnectedError";
  }
}
