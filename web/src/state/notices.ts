/** Notices of the browser when a question waits and the page is not looked at. Off until the reader asks for them. */
import { effect } from "@preact/signals";
import { preferences, waiting } from "./app.ts";
import { goTo, address } from "./route.ts";



let known: ReadonlySet<string> | null = null;
effect(() => {
  const ids = new Set(waiting.value.map((it) => it.id));
  const before = known;
  known = ids;
  // What waited already when the page was opened is no news.
  if (before === null || !preferences.peek().notices || !document.hidden || !("Notification" in window) || Notification.permission !== "granted") return;
  const fresh = waiting.peek().filter((it) => !before.has(it.id));
  if (fresh.length === 0) return;
  // The text of the question is not shown: a lock screen is no place for it.
  const notice = new Notification("Monas asks you something", { body: fresh.length === 1 ? "One question waits for you." : `${fresh.length} questions wait for you.`, tag: "monas-question" });
  notice.onclick = () => {
    window.focus();
    goTo(address("questions", fresh[0]!.id));
    notice.close();
  };
});
