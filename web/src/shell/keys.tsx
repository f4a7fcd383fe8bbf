/** The keys of the page. Single letters work outside of fields, and can be switched off. */
import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { detailsOpen, preferences, prefer, shownEvent, waiting } from "../state/app.ts";
import { go, route } from "../state/route.ts";
import { Dialog, IconButton } from "../ui/parts.tsx";
import { openPalette, paletteOpen } from "./palette.tsx";
import { PLACES } from "./places.ts";

export const keysOpen = signal(false);
export const openKeys = (): void => { keysOpen.value = true; };

/** Views listen to letters through this: the last one that was added is asked first; true ends the search. */
type Listener = (key: string, e: KeyboardEvent) => boolean;
const listeners: Listener[] = [];

/** Adds a listener for single letters and Escape; the returned function takes it away. */
export function onKey(listener: Listener): () => void {
  listeners.push(listener);
  return () => void listeners.splice(listeners.indexOf(listener), 1);
}

/** Whether the key goes into a field, so that it is no command. */
export function isTyping(e: KeyboardEvent): boolean {
  const on = e.composedPath()[0] as HTMLElement | undefined;
  if (!on?.tagName) return false;
  if (on.isContentEditable || on.tagName === "TEXTAREA" || on.tagName === "SELECT") return true;
  return on.tagName === "INPUT" && !["checkbox", "radio", "range", "button"].includes((on as HTMLInputElement).type);
}

let chord = 0;

function heard(e: KeyboardEvent): void {
  if ((e.metaKey || e.ctrlKey) && e.key.toLowerCase() === "k") {
    e.preventDefault();
    if (!document.querySelector("dialog[open]")) openPalette();
    return;
  }
  if (document.querySelector("dialog[open]") || paletteOpen.peek()) return;
  if (e.key === "Escape") {
    if (detailsOpen.peek() || shownEvent.peek()) {
      detailsOpen.value = false;
      shownEvent.value = null;
      return;
    }
    for (const listener of listeners.toReversed()) if (listener("Escape", e)) return;
    return;
  }
  if (isTyping(e) || e.metaKey || e.ctrlKey || e.altKey) return;
  if (e.key === "?") return openKeys();
  if (e.key === "/") {
    const composer = document.querySelector<HTMLElement>("[data-composer]");
    if (composer) {
      e.preventDefault();
      composer.focus();
    }
    return;
  }
  if (!preferences.peek().letters || e.key.length !== 1) return;
  const key = e.key.toLowerCase();
  if (chord > 0 && Date.now() - chord < 1_500) {
    chord = 0;
    const place = PLACES.find((it) => it.key === key);
    if (place) {
      e.preventDefault();
      go(place.name);
    }
    return;
  }
  if (key === "g") {
    chord = Date.now();
    return;
  }
  for (const listener of listeners.toReversed()) {
    if (listener(key, e)) {
      e.preventDefault();
      return;
    }
  }
  if (key === "d") detailsOpen.value = !detailsOpen.peek();
  if (key === "n" && waiting.peek().length > 0) {
    const list = waiting.peek();
    const now = route.peek().place === "questions" ? list.findIndex((it) => it.id === route.peek().id) : -1;
    go("questions", list[(now + 1) % list.length]!.id);
  }
}

/** Begins to listen; the returned function ends it. */
export function listenToKeys(): () => void {
  addEventListener("keydown", heard);
  return () => removeEventListener("keydown", heard);
}

const LIST: [string, string][] = [
  ["Ctrl K", "go to, do, find"], ["?", "this list"], ["/", "write"], ["Enter", "send"], ["Shift Enter", "new line"],
  ["J", "next"], ["K", "previous"], ["N", "next question"], ["A", "approve"], ["E", "edit first"], ["R", "reject"],
  ["X", "take a part or not"], ["Y", "why"], ["D", "details"], ["Esc", "close"], ["Esc Esc", "stop the agent"],
];

export function Keys(): JSX.Element {
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
