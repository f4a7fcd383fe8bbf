import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const { parseDiff, rowsOf, takeHunks, applyDiff, diffOf, editHunks, newLines, writeDiff, hunkWords, hunkPlace, common, wordsOf } = await load("diff.ts");

const OLD = ["# Changes", "", "## 0.4.0", "", "### Changed", "- Round heights.", "- Fetch stations once a day.", "", "## 0.3.0", "- One.", "- Two.", "- Three.", ""].join("\n");
const NEW = ["# Changes", "", "## 0.4.0", "", "### Added", "- Print as JSON.", "", "### Changed", "- Round heights.", "- Fetch the list of stations at most once a day.", "", "## 0.3.0", "- One.", "- Two.", "- Three.", ""].join("\n");

test("a diff that is written is read again, and leads from the old text to the new", () => {
  const hunks = diffOf(OLD, NEW, 0);
  assert.equal(hunks.length, 2);
  const read = parseDiff(writeDiff("CHANGELOG.md", hunks));
  assert.equal(read.to, "CHANGELOG.md");
  assert.deepEqual(read.hunks.map((it) => it.lines), hunks.map((it) => it.lines));
  assert.equal(applyDiff(OLD, read.hunks), NEW);
});

test("of two parts one is taken, and the text has just that part", () => {
  const hunks = diffOf(OLD, NEW, 0);
  assert.equal(takeHunks(NEW, hunks, new Set([0, 1])), NEW);
  assert.equal(takeHunks(NEW, hunks, new Set()), OLD);
  const first = takeHunks(NEW, hunks, new Set([0]));
  assert.ok(first.includes("- Print as JSON.") && first.includes("- Fetch stations once a day."));
  const second = takeHunks(NEW, hunks, new Set([1]));
  assert.ok(!second.includes("JSON") && second.includes("at most once a day"));
});

test("a diff that belongs to another text takes nothing", () => {
  assert.equal(takeHunks("something else\n", diffOf(OLD, NEW), new Set([0])), null);
  assert.equal(applyDiff("something else\n", diffOf(OLD, NEW)), null);
});

test("a new file and a missing line end are read", () => {
  const diff = parseDiff("--- /dev/null\n+++ b/notes.md\n@@ -0,0 +1 @@\n+hello\n\\ No newline at end of file\n");
  assert.equal(diff.from, null);
  assert.equal(diff.hunks[0].lines[0].open, true);
  assert.equal(applyDiff("", diff.hunks), "hello");
  assert.equal(takeHunks("hello", diff.hunks, new Set()), "");
});

test("what is no diff is none", () => {
  assert.equal(parseDiff("ls -la\n\nin /project"), null);
});

test("a line that begins with dashes inside of a hunk is a line", () => {
  const diff = parseDiff("--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n--- old\n+++ new\n same\n");
  assert.deepEqual(diff.hunks[0].lines.map((it) => [it.kind, it.text]), [["was", "-- old"], ["now", "++ new"], ["same", "same"]]);
});

test("rows stand beside each other with the words that differ", () => {
  const [hunk] = diffOf("- Fetch stations once a day.\n", "- Fetch the list of stations at most once a day.\n");
  const [row] = rowsOf(hunk);
  assert.equal(row.was.map((it) => it.text).join(""), "- Fetch stations once a day.");
  assert.ok(row.now.some((it) => it.changed && it.text.includes("the list of")));
  assert.equal(row.same, false);
  assert.deepEqual(wordsOf("abc", "xyz")[0], [{ text: "abc", changed: false }]);
});

test("parts say what they do and where", () => {
  const [added, changed] = diffOf(OLD, NEW, 0);
  assert.match(hunkWords(added), /^add “### Added” and 2 more$/);
  assert.equal(hunkPlace(added), "lines 5 to 7");
  assert.match(hunkWords(changed), /^change “- Fetch stations/);
});

test("any two texts: the diff leads from one to the other, and back by taking nothing", () => {
  let seed = 7;
  const random = (most) => (seed = (seed * 1103515245 + 12345) % 2 ** 31) % most;
  for (let round = 0; round < 300; round++) {
    const line = () => ["a", "b", "c", "", "- d"][random(5)];
    const text = () => Array.from({ length: random(9) }, line).join("\n") + (random(2) ? "\n" : "");
    const [from, to] = [text(), text()];
    const hunks = diffOf(from, to, random(4));
    assert.equal(applyDiff(from, hunks), to, JSON.stringify([from, to, hunks]));
    assert.equal(takeHunks(to, hunks, new Set()), from, JSON.stringify([from, to, hunks]));
    if (hunks.length > 0) assert.equal(applyDiff(from, parseDiff(writeDiff("x", hunks)).hunks), to);
  }
  assert.deepEqual(common([1, 2, 3], [1, 3]), [[0, 0], [2, 1]]);
});

test("a part that is edited stands in the text and in the diff, and the others stay as they were proposed", () => {
  const was = "one\ntwo\nthree\n4\n5\n6\n7\n8\n9\nten\n";
  const now = "one\nTWO\nthree\n4\n5\n6\n7\n8\n9\nTEN\n";
  const hunks = diffOf(was, now, 1);
  assert.equal(hunks.length, 2);
  assert.equal(newLines(hunks[0]), "one\nTWO\nthree");
  const edits = new Map([[0, "one\nzwei\nund drei\nthree"]]);
  const wanted = "one\nzwei\nund drei\nthree\n4\n5\n6\n7\n8\n9\nTEN\n";
  assert.equal(takeHunks(now, hunks, new Set([0, 1]), edits), wanted);
  assert.equal(takeHunks(now, hunks, new Set([1]), edits), "one\ntwo\nthree\n4\n5\n6\n7\n8\n9\nTEN\n");
  const written = parseDiff(writeDiff("a", editHunks(hunks, new Set([0, 1]), edits)));
  assert.equal(applyDiff(was, written.hunks), wanted);
  assert.deepEqual(written.hunks.map((it) => [it.oldStart, it.newStart]), [[1, 1], [9, 10]]);
  // All lines of a part are taken away.
  assert.equal(takeHunks(now, hunks, new Set([0, 1]), new Map([[0, ""]])), "4\n5\n6\n7\n8\n9\nTEN\n");
  assert.equal(applyDiff(was, editHunks(hunks, new Set([0]), new Map([[0, ""]]))), "4\n5\n6\n7\n8\n9\nten\n");
});

test("a part at the end of a text without a line end is edited without adding one", () => {
  const hunks = diffOf("a\nb", "a\nc");
  assert.equal(takeHunks("a\nc", hunks, new Set([0]), new Map([[0, "a\nd"]])), "a\nd");
  assert.equal(applyDiff("a\nb", editHunks(hunks, new Set([0]), new Map([[0, "a\nd"]]))), "a\nd");
});
