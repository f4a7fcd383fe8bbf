/** The keys of the page. Single letters work outside of fields, and can be switched off. */
import { signal } from "@preact/signals";
import { detailsOpen, preferences, shownEvent, waiting } from "../state/app.ts";
import { go, route } from "../state/route.ts";
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
  if ((e.metaKey || e.ctrlKey) && !e.shiftKey && !e.altKey && e.key.toLowerCase() === "z" && !isTyping(e)) {
    e.preventDefault();
    if (!e.repeat) void import("./undo.ts").then((it) => it.undoLast(), () => {});
    return;
  }
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
