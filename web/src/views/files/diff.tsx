/** A unified diff as lines. Everything in it is foreign text. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { withoutEscapes } from "../../text.ts";
import { Button, Text } from "../../ui/parts.tsx";
import { diffLines } from "./lines.ts";

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
