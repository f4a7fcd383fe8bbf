/** Two regions speak to readers who do not see the page: one calm, one at once. And short notices with an undo. */
import { signal } from "@preact/signals";

/** Says a sentence when there is a pause. Never a token of a stream. */
export function say(text: string): void {
  put("say", text);
}

/** Says a sentence at once: the connection is lost, something failed. */
export function shout(text: string): void {
  put("shout", text);
}

function put(region: string, text: string): void {
  const element = document.getElementById(region);
  if (!element) return;
  // The same sentence again is only spoken if the region was empty in between.
  element.textContent = "";
  requestAnimationFrame(() => (element.textContent = text));
}

/** A notice at the foot of the page. */
export interface Notice {
  text: string;
  action?: { label: string; run: () => void };
}
export const notice = signal<Notice | null>(null);
let timer: ReturnType<typeof setTimeout> | undefined;

/** Shows a notice; one with an action stays longer. */
export function notify(text: string, label?: string, run?: () => void): void {
  notice.value = label && run ? { text, action: { label, run } } : { text };
  say(text);
  clearTimeout(timer);
  timer = setTimeout(() => (notice.value = null), label ? 9_000 : 4_000);
}
