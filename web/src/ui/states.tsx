/** What a list or a panel shows when there is nothing to show yet, nothing at all, or a fault. */
import { useSignal, type ReadonlySignal } from "@preact/signals";
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { Refusal, refusal } from "../api/refusal.ts";
import { connection } from "../state/app.ts";
import { Sign } from "./icons.tsx";
import { Button, Note, Text } from "./parts.tsx";

/** Grey bars. They come only after 300 ms, so that what is quick does not flicker. */
export function Loading({ lines = 3 }: { lines?: number }): JSX.Element {
  return <div class="loading" role="status" aria-label="Loading">{Array.from({ length: lines }, (_, at) => <div class={`ghost g${at % 3}`} />)}</div>;
}

/** One sentence, and what to do. */
export function Empty({ title, children }: { title: string; children?: ComponentChildren }): JSX.Element {
  return <div class="empty"><Sign size={28} clear={2} mood="calm" /><b>{title}</b>{children && <span class="dim">{children}</span>}</div>;
}

/** A message of the server as a sentence: with a capital letter and a full stop. */
function ended(message: string): string {
  const text = message.trim();
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}${/[.!?…]$/.test(text) ? "" : "."}`;
}

/** What happened, what is kept, what to do. */
export function Fault({ error, kept, again }: { error: unknown; kept?: string; again?: (() => void) | undefined }): JSX.Element {
  const why = refusal(error);
  if (why.denied) {
    return <div class="pad"><Note icon="lock"><b>You may not see this. </b><Text text={ended(why.message)} /> An administrator of the server can change that.</Note></div>;
  }
  return (
    <div class="pad stack">
      <Note tone="bad" icon="no">
        <b><Text text={ended(why.message)} /> </b>
        {kept ?? "Nothing was changed."}
        {why.hint && <> <Text text={why.hint} /></>}
      </Note>
      {again && <div class="row"><Button small onClick={again}>Try again</Button></div>}
    </div>
  );
}

/** Something that is read from the server: not yet, there, or refused. */
export type Loaded<T> = { kind: "loading" } | { kind: "there"; value: T } | { kind: "failed"; why: Refusal };

/** What `useLoaded` gives: the state, and a way to read again. */
export interface Loading<T> {
  state: ReadonlySignal<Loaded<T>>;
  again: () => void;
  /** Puts a value that is known already, after a change. */
  put: (value: T) => void;
}

/**
 * Reads something when the part appears, when one of `on` changes, and after each reconnect. What was there stays while it
 * is read again. A reading that was overtaken is dropped.
 */
export function useLoaded<T>(load: () => Promise<T>, on: readonly unknown[]): Loading<T> {
  const state = useSignal<Loaded<T>>({ kind: "loading" });
  const turn = useRef(0);
  const generation = connection.generation.value;
  const latest = useRef(load);
  latest.current = load;
  const again = () => {
    const mine = ++turn.current;
    latest.current().then(
      (value) => { if (mine === turn.current) state.value = { kind: "there", value }; },
      (error) => { if (mine === turn.current) state.value = { kind: "failed", why: refusal(error) }; },
    );
  };
  const key = useRef<readonly unknown[] | null>(null);
  useEffect(() => {
    if (key.current !== null && key.current.some((it, at) => it !== on[at])) state.value = { kind: "loading" };
    key.current = on;
    again();
    return () => { turn.current++; };
  }, [...on, generation]);
  return { state, again, put: (value) => { turn.current++; state.value = { kind: "there", value }; } };
}

/** Shows what was read, or the state it is in. */
export function Show<T>({ of, lines, kept, children }: { of: Loading<T>; lines?: number; kept?: string; children: (value: T) => ComponentChildren }): JSX.Element {
  const now = of.state.value;
  if (now.kind === "loading") return <Loading {...(lines ? { lines } : {})} />;
  if (now.kind === "failed") return <Fault error={now.why} {...(kept ? { kept } : {})} again={of.again} />;
  return <>{children(now.value)}</>;
}
