/** The palette: places, agents, conversations, what can be done, and what was said. */
import { signal, useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { FoundMessage } from "../api/types.ts";
import { agents, agentStatus, change, connection, isDark, prefer, read } from "../state/app.ts";
import { agent, go } from "../state/route.ts";
import { sessions } from "../state/sessions.ts";
import { shortTime } from "../text.ts";
import { Icon, type IconName } from "../ui/icons.tsx";
import { Dialog, Text } from "../ui/parts.tsx";
import { notify } from "../ui/say.ts";
import { refusal } from "../api/refusal.ts";
import { offeredPlaces } from "./places.ts";

export const paletteOpen = signal(false);
export const openPalette = (): void => { paletteOpen.value = true; };

interface Entry {
  icon: IconName;
  text: string;
  hint: string;
  run: () => void;
}

/** How well an entry fits what was typed: null is not at all, less is better. */
export function fits(text: string, typed: string): number | null {
  const [hay, needle] = [text.toLowerCase(), typed.trim().toLowerCase()];
  if (needle === "") return 0;
  const at = hay.indexOf(needle);
  if (at >= 0) return at === 0 || hay[at - 1] === " " ? 0 : 1;
  return needle.split(/\s+/).every((word) => hay.includes(word)) ? 2 : null;
}

async function pauseOrGoOn(paused: boolean): Promise<void> {
  try {
    await change(paused ? "postAgentResume" : "postAgentPause", { agent: agent.peek() });
    if (paused) notify("The agent goes on.");
    else notify("Paused. What is under way is finished; nothing new is begun.", "Go on", () => void pauseOrGoOn(true));
  } catch (error) {
    notify(refusal(error).message);
  }
}

function entries(): Entry[] {
  const paused = agentStatus.peek()?.paused ?? false;
  const others = agents.peek().length > 1 ? agents.peek() : [];
  return [
    { icon: "plus", text: "New conversation", hint: "", run: () => go("chat") },
    ...offeredPlaces().map((it): Entry => ({ icon: it.icon, text: it.label, hint: `G ${it.key.toUpperCase()}`, run: () => go(it.name) })),
    ...others.map((it): Entry => ({ icon: "agents", text: `Talk with ${it.name || it.id}`, hint: it.id, run: () => go("chat", undefined, { agent: it.id === "default" ? "" : it.id }) })),
    { icon: paused ? "play" : "pause", text: paused ? "Let the agent go on" : "Pause the agent", hint: "", run: () => void pauseOrGoOn(paused) },
    { icon: "sun", text: "Light or dark", hint: "", run: () => prefer({ theme: isDark() ? "light" : "dark" }) },
    { icon: "lock", text: "Sign out", hint: "", run: () => connection.signOut() },
    ...sessions.peek().map((it): Entry => ({ icon: "chat", text: it.title || "Without a title", hint: shortTime(it.updated), run: () => go("chat", it.session_id, { agent: it.agent === "default" ? "" : it.agent }) })),
  ];
}

/** The message that the chat should show after it was found. */
export function goToMessage(found: FoundMessage): void {
  go("chat", found.session_id, { agent: found.agent === "default" ? "" : found.agent, message: found.message_id });
}

export function Palette(): JSX.Element {
  const typed = useSignal("");
  const at = useSignal(0);
  const found = useSignal<FoundMessage[]>([]);
  const all = useRef(entries());
  const list = useRef<HTMLUListElement>(null);
  const close = () => { paletteOpen.value = false; };

  // What was said is searched on the server, after a short pause in the typing.
  const words = typed.value.trim();
  useEffect(() => {
    found.value = [];
    if (words.length < 3) return;
    const timer = setTimeout(() => {
      read("getSearch", { query: words, limit: 12 }).then((it) => { if (typed.peek().trim() === words) found.value = [...it.found]; }, () => {});
    }, 180);
    return () => clearTimeout(timer);
  }, [words]);

  const ranked = all.current
    .map((entry) => ({ entry, rank: fits(entry.text, typed.value) }))
    .filter((it) => it.rank !== null)
    .sort((a, b) => a.rank! - b.rank!)
    .map((it) => it.entry);
  const said = found.value.map((it): Entry => ({ icon: "find", text: it.text, hint: shortTime(it.at), run: () => goToMessage(it) }));
  const shown = [...ranked.slice(0, words === "" ? 60 : 12), ...said];
  const chosen = Math.min(at.value, Math.max(0, shown.length - 1));

  const pick = (index: number) => {
    close();
    shown[index]?.run();
  };
  const key = (e: KeyboardEvent) => {
    const step = e.key === "ArrowDown" ? 1 : e.key === "ArrowUp" ? -1 : 0;
    if (step !== 0) {
      e.preventDefault();
      at.value = (chosen + step + shown.length) % Math.max(1, shown.length);
    } else if (e.key === "Enter" && !e.isComposing) {
      e.preventDefault();
      pick(chosen);
    }
  };
  useEffect(() => list.current?.children[chosen]?.scrollIntoView({ block: "nearest" }), [chosen]);
  return (
    <Dialog label="Go to, do, or find" class="pal" close={close}>
      <input
        role="combobox" aria-expanded="true" aria-controls="pal-list" aria-label="Go to, do, or find" aria-activedescendant={shown.length > 0 ? `pal-${chosen}` : undefined}
        placeholder="Go to, do, or find what was said" autocomplete="off" spellcheck={false} autoFocus value={typed.value}
        onInput={(e) => { typed.value = e.currentTarget.value; at.value = 0; }} onKeyDown={key}
      />
      <ul class="scroll" id="pal-list" role="listbox" aria-label="Results" ref={list}>
        {shown.map((it, index) => (
          <li role="option" id={`pal-${index}`} aria-selected={index === chosen} onClick={() => pick(index)} onMouseMove={() => (at.value = index)}>
            <Icon name={it.icon} /><span class="grow clip"><Text text={it.text} /></span>{it.hint && <span class="dim t2">{it.hint}</span>}
          </li>
        ))}
      </ul>
      {shown.length === 0 && <p class="dim pad">Nothing has these words.</p>}
    </Dialog>
  );
}
