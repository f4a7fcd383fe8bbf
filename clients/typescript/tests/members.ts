// Every kind of member of the Rust target `Library`, used through the declarations that were written from it.

import { RpcTarget, newHttpBatchRpcSession, newWebSocketRpcSession } from "capnweb";
import type { RpcStub } from "capnweb";
import type { Book, Library, LibraryErrorCode, Reader, Visitor } from "./library.js";
import { argument, assertEqual, fails } from "./support.js";

const url = argument(0);
const library = newWebSocketRpcSession<Library>(url);

// Methods, with optional arguments given, left out, and null.
assertEqual(await library.open("Ada"), "welcome, Ada");
assertEqual(await library.open("Ada", "Dr."), "welcome, Dr. Ada");
assertEqual(await library.open("Ada", null), "welcome, Ada");

// Getters.
const size: number = await library.size;
assertEqual(size, 2);

// Nested targets: single, in lists, and pipelined.
const book = await library.find("Emma");
const title: string = await book.title;
assertEqual(title, "Emma");
assertEqual(await library.find("Ulysses").title, "Ulysses");
const all = await library.all();
assertEqual(await Promise.all(all.map((one) => one.title)), ["Emma", "Ulysses"]);
assertEqual(await library.same(book), true);
assertEqual(await library.same(library.find("Emma")), true);
assertEqual(await library.maybe("no such book"), undefined);

// Errors with codes.
const error = await fails(library.find("Nothing"));
const code = error.code as LibraryErrorCode;
assertEqual(code, "not_found");
assertEqual(error instanceof RangeError, true);

// Data: structs, choices, lists, dates, bytes, big integers, maps.
const reader: Reader = await library.register({ name: "Ada", kind: "member", friends: [] });
assertEqual(reader.name, "Ada");
assertEqual(reader.number, 1);
assertEqual(reader.friends[0]?.name, "Librarian");
assertEqual((await library.stamp(new Date(1000), new Uint8Array([1, 2]))).length, 3);
const fine: number | bigint = await library.fine(2n ** 60n);
assertEqual(fine, 2n ** 60n);
assertEqual((await library.shelves())["novels"], 2);

// Callbacks, with and without results, sync and async.
const seen: string[] = [];
await library.each((name, index) => {
  seen.push(`${index.toFixed()}: ${name}`);
});
assertEqual(seen, ["0: Emma", "1: Ulysses"]);
assertEqual(await library.longest((text) => text.length), 7);
assertEqual(await library.longest(async (text) => text.length * 2), 14);

// An object of the client that implements an interface of the server.
class Guest extends RpcTarget implements Visitor {
  async greet(book: RpcStub<Book>): Promise<string> {
    return `I like ${await book.title}`;
  }
}
assertEqual(await library.visit(new Guest()), "I like Emma");

// Streams in both directions.
const words: string[] = [];
for await (const word of (await library.read("Emma")) as ReadableStream<string>) {
  words.push(word);
}
assertEqual(words, ["Emma", "Woodhouse"]);
const numbers = new ReadableStream<number>({
  start(controller) {
    for (const n of [1, 2, 3]) controller.enqueue(n);
    controller.close();
  },
});
assertEqual(await library.count(numbers), 6);

// The same declarations, over HTTP batch.
const batch = newHttpBatchRpcSession<Library>(url.replace("ws:", "http:"));
assertEqual(await batch.open("Bob"), "welcome, Bob");

for (const held of [book, ...all]) held[Symbol.dispose]();
library[Symbol.dispose]();
console.log("the library is as declared");
