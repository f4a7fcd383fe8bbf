/** The lines of a unified diff. */

export interface DiffLine {
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
