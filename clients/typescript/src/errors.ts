/** The connection was lost before the reply arrived: the call may or may not have been carried out. */
export class ConnectionLostError extends Error {
  readonly code = "connection_lost";

  constructor(cause: unknown) {
    super("connection lost before the reply arrived", { cause });
    this.name = "ConnectionLostError";
  }
}

/** A call was not sent: there was no connection within the time limit, or the client was closed. */
export class NotConnectedError extends Error {
  readonly code = "not_connected";

  constructor(why: string, cause?: unknown) {
    super(why, { cause });
    this.name = "NotConnectedError";
  }
}
