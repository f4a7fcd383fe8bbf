/** What all views share: the connection, the agents, what waits, what is chosen for the details, and what the reader set. */
import { computed, effect, signal } from "@preact/signals";
import { Connection, doorUrl, takeCredentials } from "../api/client.ts";
import type { Agent, AnsweredQuestion, Waiting, Workspace } from "../api/types.ts";
import { agent, readRoute, route } from "./route.ts";

/** What a method of the server replies with. */
export type Reply<K extends keyof Workspace> = Awaited<ReturnType<Workspace[K]>>;

export const connection = new Connection(doorUrl(), takeCredentials());
// The credentials are out of the address now, and where the link leads is in it.
route.value = readRoute(location.hash);
/** Reads from the server; waits for the connection. */
export const read: Connection["read"] = (name, args) => connection.read(name, args);
/** Changes something at the server, once. */
export const change: Connection["change"] = (name, args) => connection.change(name, args);
/** The only conversation that may be seen, with a link that was made for one. */
export const onlySession = computed(() => connection.me.value?.session);
/** Whether something may be said and changed at all. */
export const mayChange = computed(() => connection.me.value?.read_only !== true);
export const may = (permission: string): boolean => connection.may(permission);

/** The name of the caller without what it came over, for faces and labels. */
export const myName = computed(() => displayName(connection.me.value?.caller ?? ""));

/** `user:ada` is shown as `ada`. */
export function displayName(caller: string): string {
  return caller.replace(/^[a-z]+:/, "").split("#", 1)[0] || caller;
}

// ---- agents ----
export const agents = signal<Agent[]>([]);
export const status = signal<Reply<"getStatus"> | null>(null);
/** What the chosen agent does, as its status says; null until it was read. */
export const agentStatus = signal<Reply<"getAgentStatus"> | null>(null);
export const agentName = computed(() => {
  const id = agent.value ?? "default";
  const listed = agents.value.find((it) => it.id === id) ?? (agent.value === undefined ? agents.value[0] : undefined);
  return listed?.name || id;
});

export async function readAgents(): Promise<void> {
  try {
    agents.value = [...(await read("getAgents", {})).agents];
  } catch {
    /* the navigation shows the agent's id instead */
  }
  try {
    status.value = await read("getStatus", {});
  } catch {
    status.value = null;
  }
}

let reading: Promise<void> | null = null;
/** Reads the state of the chosen agent again; several requests in a row are one. */
export function readAgentStatus(): Promise<void> {
  reading ??= (async () => {
    await new Promise((resolve) => setTimeout(resolve, 150));
    reading = null;
    try {
      agentStatus.value = await read("getAgentStatus", { agent: agent.peek() });
    } catch {
      agentStatus.value = null;
    }
  })();
  return reading;
}

effect(() => {
  if (connection.generation.value === 0) return;
  void readAgents();
});
effect(() => {
  if (connection.generation.value === 0) return;
  agent.value;
  void readAgentStatus();
});

// ---- questions ----
export const waiting = signal<Waiting[]>([]);
/** What was answered while this page looked, by the id of the question. */
export const answered = signal<ReadonlyMap<string, AnsweredQuestion & { at: number }>>(new Map());
/** Whether the list of questions was read at least once. */
export const questionsKnown = signal(false);

connection.follow("followQuestions", () => ({}), (change) => {
  waiting.value = [...change.waiting];
  questionsKnown.value = true;
  if (change.answered) {
    const more = new Map(answered.peek());
    more.set(change.answered.id, { ...change.answered, at: Date.now() });
    answered.value = more;
  }
  void readAgentStatus();
}, { failed: () => { questionsKnown.value = true; } });

// ---- details ----
/** The event that the details are about, with its agent; null shows what the view itself has to say. */
export const shownEvent = signal<{ event: number; agent: string | undefined } | null>(null);
/** Whether the details are open where they slide over the work (narrow windows). */
export const detailsOpen = signal(false);

// ---- what the reader set ----
export interface Preferences {
  theme: "light" | "dark" | "system";
  letters: boolean;
  notices: boolean;
  diff: "side" | "unified";
  reasoning: "folded" | "open";
}
const DEFAULTS: Preferences = { theme: "system", letters: true, notices: false, diff: "side", reasoning: "folded" };

function keptPreferences(): Preferences {
  try {
    const kept = JSON.parse(localStorage.getItem("monas.preferences") ?? "{}") as Partial<Preferences>;
    const theme = localStorage.getItem("monas.theme");
    return { ...DEFAULTS, ...kept, theme: theme === "light" || theme === "dark" ? theme : "system" };
  } catch {
    return DEFAULTS;
  }
}
export const preferences = signal<Preferences>(keptPreferences());

export function prefer(change: Partial<Preferences>): void {
  preferences.value = { ...preferences.peek(), ...change };
  const { theme, ...rest } = preferences.peek();
  if (theme === "system") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = theme;
  try {
    if (theme === "system") localStorage.removeItem("monas.theme");
    else localStorage.setItem("monas.theme", theme);
    localStorage.setItem("monas.preferences", JSON.stringify(rest));
  } catch {
    /* storage is off: it counts until the page is closed */
  }
}

/** Whether the page is dark at the moment. */
export function isDark(): boolean {
  const { theme } = preferences.peek();
  return theme === "system" ? matchMedia("(prefers-color-scheme: dark)").matches : theme === "dark";
}
