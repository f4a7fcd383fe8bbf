/** The conversations of the caller, for the navigation and the palette. */
import { effect, signal } from "@preact/signals";
import type { ChatSession } from "../api/types.ts";
import { connection, read, waiting } from "./app.ts";

export const sessions = signal<ChatSession[]>([]);
export const sessionsKnown = signal(false);
/** The conversation that was open last, so that Chat leads back to it. */
export const lastSession = signal<{ id: string; agent: string | undefined } | null>(null);

let pending = false;
/** Reads the list again; several requests in a row are one. */
export function readSessions(): void {
  if (pending) return;
  pending = true;
  setTimeout(async () => {
    pending = false;
    try {
      sessions.value = [...(await read("getSessions", {})).sessions];
    } catch {
      sessions.value = [];
    }
    sessionsKnown.value = true;
  }, 200);
}

// A question may be of a conversation that began elsewhere.
effect(() => {
  waiting.value;
  if (connection.generation.value > 0) readSessions();
});
