// Code that the test programs share. They run in node; these are the parts of its types that they use.

declare const process: { argv: string[] };

/** A command-line argument. */
export function argument(index: number): string {
  const found = process.argv[index + 2];
  if (found === undefined) throw new Error(`argument ${index} is missing`);
  return found;
}

export function assertEqual<T>(found: T, expected: T): void {
  const show = (value: unknown) =>
    JSON.stringify(value, (_, inner: unknown) => (typeof inner === "bigint" ? `${inner}n` : inner));
  if (show(found) !== show(expected)) {
    throw new Error(`expected ${show(expected)}, got ${show(found)}`);
  }
}

/** The error that a call fails with. */
export async function fails(call: PromiseLike<unknown>): Promise<Error & { code?: unknown }> {
  try {
    await call;
  } catch (error) {
    if (error instanceof Error) return error;
  }
  throw new Error("the call should have failed");
}
