/** The places of the page: their names, icons, keys, and the code of each, loaded when it is first opened. */
import type { ComponentType } from "preact";
import { may, onlySession } from "../state/app.ts";
import type { PlaceName } from "../state/route.ts";
import type { IconName } from "../ui/icons.tsx";
import Chat from "../views/chat/index.tsx";
import Questions from "../views/questions/index.tsx";

/** What a view is given: what the address names, and its query. It is drawn again when they change. */
export interface ViewProps {
  id: string | undefined;
  query: URLSearchParams;
}
export type View = ComponentType<ViewProps>;

export interface Place {
  name: PlaceName;
  label: string;
  icon: IconName;
  /** The letter after G. */
  key: string;
  group: "" | "Its mind" | "Its world";
  /** A permission without which the place is not offered. */
  needs?: string;
  view: View | (() => Promise<{ default: View }>);
  lazy: boolean;
}

const lazy = (load: () => Promise<{ default: View }>) => ({ view: load, lazy: true });

export const PLACES: readonly Place[] = [
  { name: "chat", label: "Chat", icon: "chat", key: "c", group: "", view: Chat, lazy: false },
  { name: "questions", label: "Questions", icon: "ask", key: "q", group: "", view: Questions, lazy: false },
  { name: "files", label: "Files", icon: "files", key: "f", group: "", needs: "read_files", ...lazy(() => import("../views/files/index.tsx")) },
  { name: "terminal", label: "Terminal", icon: "term", key: "x", group: "", needs: "execute_commands", ...lazy(() => import("../views/terminal/index.tsx")) },
  { name: "tasks", label: "Tasks", icon: "task", key: "t", group: "", ...lazy(() => import("../views/tasks/index.tsx")) },
  { name: "memory", label: "Memory", icon: "mem", key: "m", group: "Its mind", ...lazy(() => import("../views/memory/index.tsx")) },
  { name: "law", label: "Law", icon: "law", key: "l", group: "Its mind", needs: "operate", ...lazy(() => import("../views/law/index.tsx")) },
  { name: "journal", label: "Journal", icon: "book", key: "j", group: "Its mind", needs: "operate", ...lazy(() => import("../views/journal/index.tsx")) },
  { name: "agents", label: "Agents", icon: "agents", key: "a", group: "Its world", ...lazy(() => import("../views/agents/index.tsx")) },
  { name: "wire", label: "Wire", icon: "wire", key: "w", group: "Its world", needs: "operate", ...lazy(() => import("../views/wire/index.tsx")) },
  { name: "settings", label: "Settings", icon: "gear", key: "s", group: "", ...lazy(() => import("../views/settings/index.tsx")) },
];

/** The places that the caller may go to. With a link for one conversation that is the chat, and its questions if they may be answered. */
export const offeredPlaces = (): readonly Place[] => PLACES.filter((it) => (onlySession.value === undefined ? !it.needs || may(it.needs) : it.name === "chat" || (it.name === "questions" && may("approve"))));

export const placeOf = (name: PlaceName): Place => PLACES.find((it) => it.name === name)!;
