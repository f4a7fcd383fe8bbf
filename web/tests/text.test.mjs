import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const { pieces, hasHidden, valueHasHidden, spelled, withoutEscapes, shortTime, duration, size, grouped, count, firstLine, plainReason, readable } = await load("text.ts");

test("hidden characters are spelled out wherever they stand", () => {
  assert.equal(spelled("rm\u202e -rf"), "rm\\u{202e} -rf");
  assert.equal(spelled("a\u{e0100}b"), "a\\u{e0100}b");
  assert.equal(spelled("a\u00a0b"), "a\\u{a0}b");
  assert.equal(spelled("x\u0007y"), "x\\u{7}y");
  assert.deepEqual(pieces("a\u200bb"), [{ text: "a", hidden: false }, { text: "\\u{200b}", hidden: true }, { text: "b", hidden: false }]);
  assert.deepEqual(pieces(""), []);
});

test("line ends, tabs and plain text are not hidden", () => {
  for (const text of ["line\nnext\tcell", "Grüße, Ōsaka, 日本語, עברית", ""]) assert.equal(hasHidden(text), false, text);
});

test("an emoji that is joined of several is no hidden character", () => {
  assert.equal(hasHidden("❤️ thanks 👩‍💻"), false);
  assert.equal(hasHidden("❤️ thanks\u200b"), true);
});

test("hidden characters are found inside of data", () => {
  assert.equal(valueHasHidden({ a: [{ b: "x\u2066y" }] }), true);
  assert.equal(valueHasHidden({ ["k\u200b"]: 1 }), true);
  assert.equal(valueHasHidden({ a: ["x", 1, null] }), false);
});

test("escape sequences of a terminal are taken away", () => {
  assert.equal(withoutEscapes("\u001b[31mred\u001b[0m"), "red");
  assert.equal(withoutEscapes("\u001b]52;c;c2VjcmV0\u0007after"), "after");
  assert.equal(withoutEscapes("\u001b]8;;http://x\u001b\\link\u001b]8;;\u001b\\"), "link");
  assert.equal(withoutEscapes("\u009b1mbold"), "bold");
  assert.equal(withoutEscapes("\u001bP1;2qdata\u001b\\end"), "end");
  assert.equal(withoutEscapes("10%\r50%\r100%\n"), "100%\n");
});

test("times, sizes and counts are put into words", () => {
  const now = new Date("2026-11-18T12:00:00").getTime();
  assert.equal(shortTime(new Date("2026-11-18T09:05:00").getTime(), now), "09:05");
  assert.equal(shortTime(new Date("2026-11-16T09:05:00").getTime(), now), "Mon");
  assert.equal(shortTime(new Date("2026-10-02T09:05:00").getTime(), now), "2 Oct");
  assert.equal(duration(6), "6 ms");
  assert.equal(duration(4_210), "4.2 s");
  assert.equal(duration(180_000), "3 min");
  assert.equal(size(912), "912 bytes");
  assert.equal(size(4_100), "4.1 KB");
  assert.equal(grouped(31204), "31 204");
  assert.equal(count(1, "line"), "1 line");
  assert.equal(count(1500, "line"), "1 500 lines");
  assert.equal(firstLine("\n  a\nb"), "a");
});

test("a reason of the journal is short to read", () => {
  assert.equal(plainReason('I decided to call file-read with {"path":"a.md"}.'), "I decided to call `file-read` with `a.md`");
  assert.equal(plainReason('It gave: {"files_searched":2,"matches":[],"says":"nothing found"}'), "It gave: `nothing found`");
  assert.equal(plainReason('It gave: {"content":"# Changes\\n\\n## 0.4'), "It gave: `# Changes`");
  assert.equal(plainReason("A person had to agree."), "A person had to agree.");
});

test("what a tool returned is put into words, and what is no data stays", () => {
  assert.equal(readable('{"command":"ls","exit_code":0,"timed_out":false}'), "command: ls; exit_code: 0");
  assert.equal(readable('a call gave: {"path":"a.md","size":5}'), "a call gave: path: a.md; size: 5");
  assert.equal(readable('a call gave: {"path":"a.md","output":"hello wor…'), "a call gave: path: a.md");
  assert.equal(readable("plain {words}"), "plain {words}");
  assert.equal(readable('{"'), '{"');
});
