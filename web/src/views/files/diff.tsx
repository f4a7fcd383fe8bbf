/** A unified diff as lines. Everything in it is text of somebody else. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { withoutEscapes } from "../../text.ts";
import { Button, Text } from "../../ui/parts.tsx";

interface DiffLine {
  kind: "hunk" | "was" | "now" | "same" | "note";
  was?: number;
  now?: number;
  text: string;
}

/** The lines of a unified diff, with their numbers. The names of the files are left out. */
export function diffLines(diff: string): DiffLine[] {
  const lines: DiffLine[] = [];
  let was = 0;
  let now = 0;
  let inHunk = false;
  for (const line of diff.replace(/\n$/, "").split("\n")) {
    const head = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@ ?(.*)$/.exec(line);
    if (head) {
      [was, now, inHunk] = [Number(head[1]), Number(head[2]), true];
      lines.push({ kind: "hunk", text: head[3] || `line ${now}` });
    } else if (!inHunk) continue;
    else if (line.startsWith("-")) lines.push({ kind: "was", was: was++, text: line.slice(1) });
    else if (line.startsWith("+")) lines.push({ kind: "now", now: now++, text: line.slice(1) });
    else if (line.startsWith("\\")) lines.push({ kind: "note", text: line.slice(2) });
    else lines.push({ kind: "same", was: was++, now: now++, text: line.slice(1) });
  }
  return lines;
}

/** How many lines a diff adds and takes away. */
export function diffCounts(diff: string): { added: number; removed: number } {
  const lines = diffLines(diff);
  return { added: lines.filter((it) => it.kind === "now").length, removed: lines.filter((it) => it.kind === "was").length };
}

/** The lines that a diff adds, with their numbers in the file. */
export const addedLines = (diff: string): { number: number; text: string }[] =>
  diffLines(diff).filter((it) => it.kind === "now").map((it) => ({ number: it.now!, text: it.text }));

const SIGNS = { was: "−", now: "+", same: "", hunk: "", note: "" };
const WORDS = { was: "taken away", now: "added", same: "", hunk: "", note: "" };
const FIRST = 400;

export function DiffView({ diff }: { diff: string }): JSX.Element {
  const [all, setAll] = useState(false);
  const lines = diffLines(diff);
  if (lines.length === 0) return <p class="dim pad">Nothing in the text of the file changed.</p>;
  return (
    <div class="diff udiff">
      {(all ? lines : lines.slice(0, FIRST)).map((it) =>
        it.kind === "hunk" ? <div class="hunk"><Text text={withoutEscapes(it.text)} /></div> : (
          <div class={`ul ${it.kind}`}>
            <span class="n">{it.was ?? ""}</span>
            <span class="n">{it.now ?? ""}</span>
            <span class="s" aria-label={WORDS[it.kind] || undefined} role={WORDS[it.kind] ? "img" : undefined}>{SIGNS[it.kind]}</span>
            <span class="c"><Text text={withoutEscapes(it.text)} /></span>
          </div>
        ))}
      {!all && lines.length > FIRST && <div class="hunk"><Button small onClick={() => setAll(true)}>Show all {lines.length} lines</Button></div>}
    </div>
  );
}
