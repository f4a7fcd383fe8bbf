/** Why a call did not do what it was for, as data: the page never shows a stack or an object. */

/** A refusal of the server, or of the connection. */
export class Refusal extends Error {
  readonly code: string;
  readonly field: string | undefined;
  readonly hint: string | undefined;
  readonly status: number | undefined;

  constructor(message: string, code: string, more: { field?: string; hint?: string; status?: number } = {}) {
    super(message);
    this.name = "Refusal";
    this.code = code;
    this.field = more.field;
    this.hint = more.hint;
    this.status = more.status;
  }

  /** Whether the connection was lost, so that it is unknown if the server did it. */
  get lost(): boolean {
    return this.code === "lost" || this.code === "offline";
  }

  get denied(): boolean {
    return this.code === "denied" || this.code === "forbidden" || this.status === 403;
  }

  get unauthorized(): boolean {
    return this.code === "unauthorized" || this.status === 401;
  }
}

const CODED = /^([a-z][a-z0-9_-]{2,40}): ([^]+)$/;

/** Reads what a call was rejected with. The fields are properties of the error, or the message begins with the code. */
export function refusal(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  const given = error as { message?: unknown; code?: unknown; field?: unknown; hint?: unknown; status?: unknown } | null;
  let message = typeof given?.message === "string" ? given.message : String(error);
  let code = typeof given?.code === "string" ? given.code : "";
  if (code === "") {
    const coded = CODED.exec(message);
    if (coded) [code, message] = [coded[1]!, coded[2]!];
  }
  const more: { field?: string; hint?: string; status?: number } = {};
  if (typeof given?.field === "string") more.field = given.field;
  if (typeof given?.hint === "string") more.hint = given.hint;
  if (typeof given?.status === "number") more.status = given.status;
  return new Refusal(message, code === "" ? "failed" : code, more);
}
