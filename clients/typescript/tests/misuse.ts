// Misuse that must not compile: the compiler reports each of these lines that does.

import { newWebSocketRpcSession } from "capnweb";
import type { Library, LibraryErrorCode, Reader } from "./library.js";

/** Compiled, never run. */
export async function misuse(url: string): Promise<void> {
  const library = newWebSocketRpcSession<Library>(url);

  // @ts-expect-error: there is no such method.
  await library.burn("Emma");
  // @ts-expect-error: an argument is missing.
  await library.open();
  // @ts-expect-error: an argument is of the wrong type.
  await library.open(7);
  // @ts-expect-error: there is one argument too many.
  await library.open("Ada", "Dr.", "junior");
  // @ts-expect-error: the result is of another type.
  const size: string = await library.size;
  // @ts-expect-error: a getter is not a method.
  await library.size();
  // @ts-expect-error: a book has no such member.
  await library.find("Emma").author;
  // @ts-expect-error: a library is not a book.
  await library.same(library);
  // @ts-expect-error: the callback is given a number second.
  await library.each((name: string, index: string) => [name, index]);
  // @ts-expect-error: the callback has to give a number.
  await library.longest((text) => `${text}`);
  // @ts-expect-error: a field is missing.
  await library.register({ name: "Ada" });
  // @ts-expect-error: there is no such kind.
  await library.register({ name: "Ada", kind: "ghost", friends: [] });
  // @ts-expect-error: a stream of strings is not a stream of numbers.
  await library.count(new ReadableStream<string>());
  // @ts-expect-error: a visitor needs a method.
  await library.visit({});

  const reader: Reader = await library.register({ name: "Ada", kind: "member", friends: [] });
  // @ts-expect-error: the number may be missing.
  const number: number = reader.number;
  // @ts-expect-error: no member fails with that code.
  const code: LibraryErrorCode = "on_fire";
  // @ts-expect-error: it may be too large for a number.
  const fine: number = await library.fine(1n);
  void [size, number, code, fine];
}
