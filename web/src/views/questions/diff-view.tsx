/** A change: side by side, or under each other where there is no room or the reader likes it so. */
import { useSignal } from "@preact/signals";
import type { ComponentChildren, JSX } from "preact";
import { useMemo } from "preact/hooks";
import { type FileDiff, type Hunk, hunkPlace, hunkWords, type Row, rowsOf, type Word } from "../../diff.ts";
import { preferences } from "../../state/app.ts";
import { count } from "../../text.ts";
import { Button, Text } from "../../ui/parts.tsx";

/** More rows than this are shown on demand. */
const MOST = 300;
const SPELLED = /(\\u\{[0-9a-f]{1,6}\})/;

/** Text of a line. What the server spelled out is marked like what the page spells out. */
function LineText({ text, odd }: { text: string; odd: boolean }): JSX.Element {
  if (!odd || !SPELLED.test(text)) return <Text text={text} />;
  return <>{text.split(SPELLED).map((part) => (SPELLED.test(part) ? <span class="hid" title="a character that cannot be seen">{part}</span> : part && <Text text={part} />))}</>;
}

function Words({ words, odd }: { words: Word[]; odd: boolean }): JSX.Element {
  return <>{words.map((it) => (it.changed ? <mark><LineText text={it.text} odd={odd} /></mark> : <LineText text={it.text} odd={odd} />))}</>;
}

function Line({ row, off, odd }: { row: Row; off: boolean; odd: boolean }): JSX.Element {
  const { was, now, same } = row;
  return (
    <div class={off && !same ? "dl off" : "dl"}>
      <span class={`n l ${was === null ? "nil" : same ? "same" : "wasn"}`}>{row.oldNumber}</span>
      <span class={`c l ${was === null ? "nil" : same ? "same" : "was"}`}>{was && <Words words={was} odd={odd} />}</span>
      <span class={`n ${now === null ? "nil" : same ? "" : "nown"}`}>{row.newNumber}</span>
      <span class={`c ${now === null ? "nil" : same ? "same2" : "now"}`}>{now && <span class="x"><Words words={now} odd={odd} /></span>}</span>
    </div>
  );
}

interface DiffProps {
  diff: FileDiff;
  odd?: boolean;
  /** The parts that are taken; without it all are, and there are no boxes. */
  taken?: ReadonlySet<number> | undefined;
  toggle?: ((at: number) => void) | undefined;
  /** The parts that a person edits, and what to call with the text; null takes the edit back. */
  edits?: ReadonlyMap<number, string> | undefined;
  edit?: ((at: number, text?: string | null) => void) | undefined;
}

export function DiffView({ diff, odd = false, taken, toggle, edits, edit }: DiffProps): JSX.Element {
  if (diff.hunks.length === 0) return <p class="pad dim">Nothing would change.</p>;
  return (
    <div class={preferences.value.diff === "unified" || diff.from === null || diff.to === null ? "diff uni" : "diff"}>
      {diff.hunks.map((hunk, at) => (
        <HunkView
          hunk={hunk} odd={odd} edited={edits?.get(at)} edit={edit && ((text) => edit(at, text))} off={taken !== undefined && !taken.has(at)} alone={diff.hunks.length === 1}
          label={toggle && taken ? <label class="tick grow"><input type="checkbox" data-hunk={at} checked={taken.has(at)} onChange={() => toggle(at)} /><span class="clip">Take: <LineText text={hunkWords(hunk)} odd={odd} /></span></label> : <span class="grow clip"><LineText text={hunkWords(hunk)} odd={odd} /></span>}
        />
      ))}
    </div>
  );
}

function HunkView({ hunk, odd, off, alone, label, edited, edit }: { hunk: Hunk; odd: boolean; off: boolean; alone: boolean; label: ComponentChildren; edited: string | undefined; edit: ((text?: string | null) => void) | undefined }): JSX.Element {
  const all = useSignal(false);
  const rows = useMemo(() => rowsOf(hunk), [hunk]);
  const shown = all.value || rows.length <= MOST ? rows : rows.slice(0, MOST);
  return (
    <>
      {!(alone && rows.every((it) => it.was === null)) && (
        <div class="hunk">
          {label}<span class="dim t1">{hunkPlace(hunk)}</span>
          {edit && !off && !alone && <Button small look="bare" aria-label={`${edited === undefined ? "Edit" : "Undo the edit of"} ${hunkPlace(hunk)}`} onClick={() => (edited === undefined ? edit() : edit(null))}>{edited === undefined ? "Edit" : "Undo"}</Button>}
        </div>
      )}
      {edited !== undefined && edit ? <textarea aria-label={`What ${hunkPlace(hunk)} would be`} spellcheck={false} dir="auto" autoFocus rows={Math.min(16, edited.split("\n").length + 1)} value={edited} onInput={(e) => edit(e.currentTarget.value)} />
        : shown.map((row) => <Line row={row} off={off} odd={odd} />)}
      {shown.length < rows.length && <div class="hunk"><Button small onClick={() => (all.value = true)}>Show {count(rows.length - shown.length, "more line")}</Button></div>}
    </>
  );
}
