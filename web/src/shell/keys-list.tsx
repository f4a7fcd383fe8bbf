/** The list of keys, which `?` opens. */
import type { JSX } from "preact";
import { preferences, prefer } from "../state/app.ts";
import { Dialog, IconButton } from "../ui/parts.tsx";
import { keysOpen } from "./keys.tsx";
import { PLACES } from "./places.ts";

const LIST: [string, string][] = [
  ["Ctrl K", "go to, do, find"], ["?", "this list"], ["/", "write"], ["Enter", "send"], ["Shift Enter", "new line"],
  ["J", "next"], ["K", "previous"], ["N", "next question"], ["A", "approve"], ["E", "edit first"], ["R", "reject"],
  ["X", "take a part or not"], ["Y", "why"], ["D", "details"], ["Ctrl Z", "take the last thing back"], ["Esc", "close"], ["Esc Esc", "stop the agent"],
];

export default function Keys(): JSX.Element {
  const close = () => { keysOpen.value = false; };
  return (
    <Dialog label="Keys" close={close}>
      <div class="row dlghead"><h2 class="t5 grow">Keys</h2><IconButton icon="no" label="Close" onClick={close} /></div>
      <div class="keys">
        {LIST.map(([key, what]) => <div><span>{what}</span>{key.split(" ").map((it) => <kbd>{it}</kbd>)}</div>)}
        {PLACES.map((it) => <div><span>{it.label}</span><kbd>G</kbd><kbd>{it.key.toUpperCase()}</kbd></div>)}
      </div>
      <label class="tick dlgfoot"><input type="checkbox" checked={preferences.value.letters} onChange={(e) => prefer({ letters: e.currentTarget.checked })} />Single letters are keys</label>
    </Dialog>
  );
}
