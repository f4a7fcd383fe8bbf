/** Terminal: shells in the project that a person and the agent share. One holds it and types, the others look on. */
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { refusal, type Refusal } from "../../api/refusal.ts";
import type { TerminalState } from "../../api/types.ts";
import type { ViewProps } from "../../shell/places.ts";
import { change, connection, displayName, may, read } from "../../state/app.ts";
import { address, agent, go } from "../../state/route.ts";
import { shortTime, spelled } from "../../text.ts";
import { Icon } from "../../ui/icons.tsx";
import { Button, IconButton, Note, Tag, Text, When } from "../../ui/parts.tsx";
import { Aside, Page } from "../../ui/page.tsx";
import { notify } from "../../ui/say.ts";
import { Empty, Fault, Loading, useLoaded } from "../../ui/states.tsx";
import { Shell, type Line, type Moment } from "./shell.tsx";
import "./style.css";

/** Who is meant by a name of the server, seen from here. */
export function who(name: string | null | undefined): string {
  if (!name) return "no one";
  const me = connection.me.value?.caller ?? "";
  return name === me || displayName(name) === displayName(me) ? "you" : displayName(name);
}

export default function Terminal({ id }: ViewProps): JSX.Element {
  const from = agent.value;
  const list = useLoaded(async () => [...(await read("terminals", { agent: from }))] as TerminalState[], [from]);
  const fault = useSignal<Refusal | null>(null);
  const opening = useSignal(false);
  const lines = useSignal<readonly Line[]>([]);
  const moments = useSignal<readonly Moment[]>([]);
  const mounted = useRef(true);
  useEffect(() => () => { mounted.current = false; }, []);

  // Others open and close terminals, too.
  useEffect(() => {
    const timer = setInterval(() => { if (!document.hidden) list.again(); }, 5_000);
    return () => clearInterval(timer);
  }, [from]);
  const state = list.state.value;
  const all = state.kind === "there" ? state.value : [];
  const shown = all.find((it) => it.id === id) ?? (id === undefined ? all.find((it) => !it.ended) ?? all[0] : undefined);
  useEffect(() => {
    lines.value = [];
    moments.value = [];
  }, [shown?.id]);

  const open = async () => {
    opening.value = true;
    fault.value = null;
    try {
      const made = await change("postTerminals", { agent: from, columns: 100, rows: 28 });
      list.again();
      if (mounted.current) go("terminal", made.id);
    } catch (error) {
      fault.value = refusal(error);
    }
    opening.value = false;
  };
  const close = async (it: TerminalState) => {
    try {
      await change("deleteTerminalsById", { id: it.id, agent: from });
      if (it.id === shown?.id) go("terminal", undefined, {}, true);
      notify("The terminal is closed, and what ran in it has ended.");
    } catch (error) {
      fault.value = refusal(error);
    }
    list.again();
  };
  const allowed = may("execute_commands");
  const openButton = allowed && <Button small icon="plus" disabled={opening.value} onClick={() => void open()}>{all.length === 0 ? "Open a terminal" : "Open another"}</Button>;
  return (
    <Page
      title="Terminal"
      sub={shown ? <>{shown.sandbox === "none" ? "no sandbox" : <Text text={shown.sandbox} />}, no network</> : "shells in the project, shared with the agent"}
      actions={openButton}
      aside={shown && (lines.value.length > 0 || moments.value.length > 0) ? <Aside title="Who typed what"><Typists lines={lines.value} moments={moments.value} /></Aside> : undefined}
      asideLabel="Who typed what"
    >
      {fault.value && <div class="pad"><Note tone="bad" icon="no"><b><Text text={fault.value.message} /> </b>Nothing was changed.{fault.value.hint && <> <Text text={fault.value.hint} /></>}</Note></div>}
      {state.kind === "loading" ? <div class="body"><Loading /></div>
        : state.kind === "failed" ? <div class="body scroll"><Fault error={state.why} again={list.again} /></div>
        : (
          <div class="body term">
            {all.length > 0 && (
              <nav class="ttabs" aria-label="Open terminals">
                {all.map((it) => (
                  <div class={it.id === shown?.id ? "ttab on" : "ttab"}>
                    <a href={address("terminal", it.id)} aria-current={it.id === shown?.id ? "true" : undefined}>
                      <Icon name="term" small />{who(it.by) === "you" ? "yours" : <>of <Text text={who(it.by)} /></>}
                      <span class="dim num"><When at={it.opened} show={shortTime} /></span>
                      {it.ended && <Tag>ended</Tag>}
                    </a>
                    {allowed && <IconButton icon="no" small label={`Close the terminal of ${spelled(who(it.by))} of ${shortTime(it.opened)}`} onClick={() => void close(it)} />}
                  </div>
                ))}
              </nav>
            )}
            {shown ? <Shell key={shown.id} terminal={shown} lines={lines} moments={moments} changed={list.again} />
              : id !== undefined ? <Empty title="This terminal is closed.">What was typed in it is not kept here. <a href={address("terminal")}>See those that are open</a></Empty>
              : allowed ? <Empty title="No terminal is open."><>A shell in the project folder, in the sandbox that commands of the agent have. You and the agent see the same. <Button small look="main" disabled={opening.value} onClick={() => void open()}>Open a terminal</Button></></Empty>
              : <div class="pad"><Note icon="lock"><b>You may not run commands here. </b>An administrator of the server can give you the permission <code>execute_commands</code>.</Note></div>}
          </div>
        )}
    </Page>
  );
}

/** Lines that were typed, and when the terminal changed hands. */
function Typists({ lines, moments }: { lines: readonly Line[]; moments: readonly Moment[] }): JSX.Element {
  const all = [...lines.map((it) => ({ at: it.at, line: it, moment: null })), ...moments.map((it) => ({ at: it.at, line: null, moment: it }))].sort((a, b) => a.at - b.at).slice(-200);
  return (
    <>
      <p class="dim t2">Decided by the server, not by what stands on the screen. What a program asks for without showing it (a password) is not kept here.</p>
      <ol class="typed">
        {all.map((it) => it.line
          ? <li><span class={who(it.line.by) === "you" ? "w mine" : "w"}><Text text={who(it.line.by)} /></span><code><Text text={it.line.text} /></code></li>
          : <li class="dim"><span class="w">—</span><span><Text text={who(it.moment!.holder)} /> {it.moment!.holder ? (who(it.moment!.holder) === "you" ? "hold it" : "holds it") : "holds it: free for all who look on"}</span></li>)}
      </ol>
    </>
  );
}
