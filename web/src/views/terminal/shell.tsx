/** One terminal: its screen, who holds it, and what each typed. It is followed again from its cursor after a cut. */
import type { Signal } from "@preact/signals";
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { refusal, type Refusal } from "../../api/refusal.ts";
import type { TerminalPiece, TerminalState } from "../../api/types.ts";
import type { Handle } from "../../api/client.ts";
import { connection, may } from "../../state/app.ts";
import { agent } from "../../state/route.ts";
import { Button, CopyButton, Note, Tag, Text } from "../../ui/parts.tsx";
import { say } from "../../ui/say.ts";
import { Fault, Loading } from "../../ui/states.tsx";
import { who } from "./index.tsx";
import { bytesOf, edited, endedWords } from "./bytes.ts";
import { Screen, type Typed } from "./screen.ts";

/** A line that was typed. */
export interface Line {
  by: string;
  text: string;
  at: number;
}
/** The terminal changed hands. */
export interface Moment {
  holder: string | null;
  at: number;
}

/** What a piece may say beyond the draft: who typed what. */
type Piece = TerminalPiece & { by?: string; typed?: { by: string; text: string; at: number }[] };

interface ShellProps {
  terminal: TerminalState;
  lines: Signal<readonly Line[]>;
  moments: Signal<readonly Moment[]>;
  changed: () => void;
}

export function Shell({ terminal, lines, moments, changed }: ShellProps): JSX.Element {
  const host = useRef<HTMLDivElement>(null);
  const screen = useRef<Screen | null>(null);
  const handle = useRef<Handle<"attachTerminal"> | null>(null);
  const cursor = useRef<number | undefined>(undefined);
  const early = useRef<Piece[]>([]);
  const size = useRef({ columns: 80, rows: 24 });
  const holder = useSignal<string | null>(terminal.holder ?? null);
  const ended = useSignal<string | null>(terminal.ended ? "it has ended" : null);
  const fault = useSignal<Refusal | null>(null);
  const loadFault = useSignal<unknown>(null);
  const ready = useSignal(false);
  const typing = useRef(new Map<string, string>());

  const mine = who(holder.value) === "you" || holder.value === null;
  const allowed = may("execute_commands");
  const live = connection.link.value.kind === "live";
  useEffect(() => {
    if (screen.current) screen.current.mine = mine && allowed && ended.value === null && live;
  }, [mine, allowed, ended.value, live, ready.value]);

  const noteTyped = (typed: Typed) => {
    const text = (typing.current.get(typed.by) ?? "") + typed.text;
    const parts = text.split(/\r\n|\r|\n/);
    typing.current.set(typed.by, parts.pop() ?? "");
    const done = parts.filter((it) => it.trim() !== "").map((it) => ({ by: typed.by, text: edited(it), at: typed.at }));
    if (done.length > 0) lines.value = [...lines.peek(), ...done].slice(-500);
  };
  const draw = (piece: Piece) => {
    const bytes = bytesOf(piece.bytes);
    const typed = (piece.typed ?? []).map((it) => ({ by: it.by, text: it.text, at: it.at }));
    for (const it of typed) noteTyped(it);
    screen.current?.write({ cursor: piece.cursor, bytes, missed: piece.missed ?? 0, typed: typed.map((it) => ({ ...it, by: who(it.by) })) });
  };
  const take = (pieces: readonly Piece[]) => {
    for (const piece of pieces) {
      if (cursor.current !== undefined && piece.cursor < cursor.current) continue;
      cursor.current = piece.cursor;
      if (piece.holder !== undefined && piece.holder !== holder.peek()) {
        holder.value = piece.holder;
        moments.value = [...moments.peek(), { holder: piece.holder, at: piece.cursor }].slice(-100);
        say(piece.holder === null ? "The terminal is free." : who(piece.holder) === "you" ? "You hold the terminal." : `${who(piece.holder)} holds the terminal.`);
      }
      if (piece.ended !== undefined) {
        ended.value = endedWords(piece.ended);
        changed();
      }
      if (screen.current) draw(piece);
      else early.current.push(piece);
    }
  };

  const act = (work: () => Promise<unknown> | undefined) => {
    fault.value = null;
    Promise.resolve(work()).catch((error) => {
      const why = refusal(error);
      if (!why.lost) fault.value = why;
    });
  };
  const resize = () => {
    if (who(holder.peek()) === "you" || holder.peek() === null) act(() => handle.current?.resize(size.current.columns, size.current.rows));
  };
  const begin = () => {
    loadFault.value = null;
    Screen.open(
      host.current!, "Terminal. What you type goes to the shell; Shift and Escape leave it.",
      (text) => act(() => handle.current?.write(text)),
      (columns, rows) => { size.current = { columns, rows }; resize(); },
    ).then(
      (made) => {
        if (!host.current) return made.destroy();
        screen.current = made;
        made.attached();
        for (const piece of early.current.splice(0)) draw(piece);
        ready.value = true;
        // The button that opened it is gone: who pressed it types on.
        if (document.activeElement === document.body && matchMedia("(hover: hover)").matches) made.focus();
      },
      (error) => { loadFault.value = error; },
    );
  };
  useEffect(() => {
    begin();
    const end = connection.follow(
      "attachTerminal",
      () => ({ id: terminal.id, agent: agent.peek(), ...(cursor.current === undefined ? {} : { after: cursor.current }) }),
      (pieces) => take(pieces as Piece[]),
      {
        opened: (given) => {
          handle.current = given;
          if (!given) return;
          screen.current?.attached();
          resize();
        },
        failed: (why) => { fault.value = why; },
      },
    );
    return () => {
      end();
      screen.current?.destroy();
      screen.current = null;
    };
  }, [terminal.id]);

  const name = who(holder.value);
  const takeIt = () => {
    act(() => handle.current?.take());
    screen.current?.focus();
  };
  return (
    <div class="shell">
      <div class="hands" role="group" aria-label="Who holds the terminal">
        {ended.value !== null ? <Tag>ended</Tag> : <Tag tone={name === "you" ? "accent" : holder.value === null ? undefined : "think"}>{holder.value === null ? "free" : name === "you" ? "you hold it" : <><Text text={name} /> holds it</>}</Tag>}
        <span class="dim clip hide-s">
          {ended.value !== null ? <Text text={ended.value} />
            : !live ? "There is no connection: what you type is not sent. The shell goes on."
            : !allowed ? "You look on; to type, the permission execute_commands is needed."
            : holder.value === null ? "What anyone types here goes to the shell."
            : mine ? "What you type goes to the shell. The agent looks on." : "You look on. Take it, and what you type goes to the shell."}
        </span>
        <span class="grow" />
        <CopyButton text={() => screen.current?.text() ?? ""} label="Copy the selection, or all of it" />
        {allowed && ended.value === null && (name === "you"
          ? <Button small icon="hand" disabled={!live} onClick={() => act(() => handle.current?.release())}>Give back</Button>
          : <Button small look={holder.value === null ? undefined : "main"} icon="hand" disabled={!live} onClick={takeIt}>Take over</Button>)}
      </div>
      {fault.value && <div class="pad"><Note tone="bad" icon="no"><b><Text text={fault.value.message} /> </b>{fault.value.hint && <Text text={fault.value.hint} />}</Note></div>}
      {loadFault.value !== null && <Fault error={loadFault.value} kept="The terminal goes on." again={begin} />}
      {!ready.value && loadFault.value === null && <Loading />}
      <div class="screen" ref={host} />
    </div>
  );
}
