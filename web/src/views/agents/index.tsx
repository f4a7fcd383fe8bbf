/** Agents: what each does, who asked whom what, and pause and resume. */
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { refusal, type Refusal } from "../../api/refusal.ts";
import type { Agent } from "../../api/types.ts";
import type { ViewProps } from "../../shell/places.ts";
import { agents as listed, change, connection, detailsOpen, may, read, readAgents, readAgentStatus, type Reply } from "../../state/app.ts";
import { address, go } from "../../state/route.ts";
import { count, dayAndTime, firstLine, withoutEscapes } from "../../text.ts";
import { Button, EventLink, Facts, Note, Tag, Text, type Tone, When } from "../../ui/parts.tsx";
import { Aside, Page } from "../../ui/page.tsx";
import { notify } from "../../ui/say.ts";
import { Empty, Show, useLoaded } from "../../ui/states.tsx";
import { useRowKeys } from "../tasks/rows.ts";
import { type Asked, askedOf } from "./asked.ts";
import { Picture } from "./picture.tsx";
import "./style.css";

export type Status = Reply<"getAgentStatus">;
const STATES: Record<string, [words: string, tone: Tone | undefined]> = {
  idle: ["idle", undefined], thinking: ["thinks", "think"], executing: ["works", "think"], awaiting_approval: ["waits for you", "need"], error: ["has a fault", "bad"],
};

/** What an agent does, in words. */
export function doing(agent: Agent, status: Status | undefined): [words: string, tone: Tone | undefined] {
  if (status?.paused ?? agent.paused) return ["paused", undefined];
  return status ? (STATES[status.state] ?? [status.state, undefined]) : ["—", undefined];
}

export default function Agents({ id }: ViewProps): JSX.Element {
  const all = useLoaded(async () => [...(await read("getAgents", {})).agents] as Agent[], []);
  const states = useSignal<ReadonlyMap<string, Status>>(new Map());
  const asked = useSignal<readonly Asked[]>([]);
  const hidden = useSignal<Refusal | null>(null);
  const fault = useSignal<Refusal | null>(null);
  const busy = useSignal("");
  const state = all.state.value;
  const list = state.kind === "there" ? state.value : [];
  const ids = list.map((it) => it.id).join("\n");

  const readStatus = (which: string) => {
    read("getAgentStatus", { agent: which }).then((it) => { states.value = new Map(states.peek()).set(which, it); }, () => undefined);
  };
  const add = (more: readonly Asked[]) => {
    const known = new Set(asked.peek().map((it) => it.key));
    const fresh = more.filter((it) => !known.has(it.key));
    if (fresh.length > 0) asked.value = [...fresh, ...asked.peek()].sort((a, b) => (a.at < b.at ? 1 : -1)).slice(0, 500);
  };
  // The journal of each agent: what was asked before, and what is asked from now on.
  useEffect(() => {
    const ends: (() => void)[] = [];
    for (const which of ids === "" ? [] : ids.split("\n")) {
      readStatus(which);
      let last: number | undefined;
      read("getJournal", { agent: which, kinds: "heard", limit: 60 }).then(
        (got) => {
          hidden.value = null;
          add(got.events.map((it) => askedOf(it, which)).filter((it) => it !== null));
        },
        (error) => { hidden.value = refusal(error); },
      );
      let soon: ReturnType<typeof setTimeout> | undefined;
      ends.push(connection.follow("followJournal", () => ({ agent: which, ...(last === undefined ? {} : { after: last }) }), (records) => {
        last = records.at(-1)?.event ?? last;
        add(records.map((it) => askedOf(it, which)).filter((it) => it !== null));
        soon ??= setTimeout(() => {
          soon = undefined;
          readStatus(which);
        }, 300);
      }, { failed: (why) => { if (!why.denied) return; hidden.value = why; } }));
      ends.push(() => clearTimeout(soon));
    }
    const often = setInterval(() => {
      if (!document.hidden) for (const which of ids === "" ? [] : ids.split("\n")) readStatus(which);
    }, 10_000);
    return () => {
      clearInterval(often);
      for (const end of ends) end();
    };
  }, [ids, connection.generation.value]);

  const at = list.findIndex((it) => it.id === id);
  useRowKeys(list.length, at, (next) => go("agents", list[next]!.id, {}, true));
  useEffect(() => { if (id !== undefined) detailsOpen.value = true; }, [id]);

  const pause = async (it: Agent, on: boolean) => {
    busy.value = it.id;
    fault.value = null;
    try {
      if (on) await change("postAgentPause", { agent: it.id });
      else await change("postAgentResume", { agent: it.id });
      const name = it.name || it.id;
      if (on) notify(`${name} is paused: it begins nothing, and what comes waits.`, "Resume", () => void pause(it, false));
      else notify(`${name} goes on.`);
    } catch (error) {
      fault.value = refusal(error);
    }
    busy.value = "";
    readStatus(it.id);
    void readAgents();
    void readAgentStatus();
    all.again();
  };
  const nameOf = (which: string) => listed.value.find((it) => it.id === which)?.name || list.find((it) => it.id === which)?.name || which;
  const chosen = list.find((it) => it.id === id);
  return (
    <Page
      title="Agents"
      sub={state.kind === "there" ? `${count(list.length, "agent")}, and who asked whom` : undefined}
      aside={chosen ? <AgentDetails agent={chosen} status={states.value.get(chosen.id)} asked={asked.value} busy={busy.value === chosen.id} fault={fault.value} pause={(on) => void pause(chosen, on)} nameOf={nameOf} /> : undefined}
    >
      <div class="body scroll" tabIndex={0} role="region" aria-label="Agents">
        <Show of={all} lines={4}>
          {(these) => these.length === 0 ? <Empty title="There is no agent that you may use.">An administrator can name you in the manifest of an agent.</Empty> : (
            <>
              {asked.value.length > 0 && <Picture agents={these} asked={asked.value} chosen={id} nameOf={nameOf} states={states.value} />}
              <div class="agpad">
                <h2 class="sect">Agents</h2>
                {fault.value && !chosen && <Note tone="bad" icon="no"><b><Text text={fault.value.message} /> </b>It goes on as before.</Note>}
                <ul class="aglist">
                  {these.map((it) => {
                    const [words, tone] = doing(it, states.value.get(it.id));
                    const paused = states.value.get(it.id)?.paused ?? it.paused;
                    return (
                      <li class={it.id === id ? "ag on" : "ag"}>
                        <a href={address("agents", it.id)} aria-current={it.id === id ? "true" : undefined}>
                          <b class="clip"><Text text={it.name || it.id} /></b>
                          <span class="dim clip hide-s"><Text text={firstLine(it.description, 160)} /></span>
                          <Tag tone={tone}>{words}</Tag>
                        </a>
                        {may("approve") && <Button small look="bare" icon={paused ? "play" : "pause"} disabled={busy.value === it.id} onClick={() => void pause(it, !paused)} aria-label={`${paused ? "Resume" : "Pause"} ${it.name || it.id}`}>{paused ? "Resume" : "Pause"}</Button>}
                      </li>
                    );
                  })}
                </ul>
                <h2 class="sect">Who asked whom</h2>
                {asked.value.length === 0 ? <p class="dim">{hidden.value ? (hidden.value.denied ? "What others asked is for those with the permission operate." : <Text text={hidden.value.message} />) : "Nothing was asked yet."}</p> : (
                  <div class="tablebox" tabIndex={0} role="region" aria-label="Who asked whom">
                    <table class="grid-t">
                      <thead><tr><th scope="col">From</th><th scope="col">To</th><th scope="col">Asked</th><th scope="col" class="hide-s">When</th><th scope="col" class="hide-s">Event</th></tr></thead>
                      <tbody>
                        {asked.value.slice(0, 100).map((it) => (
                          <tr>
                            <td class="clip"><Text text={it.fromAgent ? nameOf(it.from) : it.from} /></td>
                            <td class="clip"><Text text={nameOf(it.to)} /></td>
                            <td class="flow"><Text text={firstLine(withoutEscapes(it.text), 140)} /></td>
                            <td class="hide-s dim num"><When at={it.at} show={dayAndTime} /></td>
                            <td class="hide-s"><EventLink event={it.event} of={it.to} /></td>
                          </tr>
                        ))}
                      </tbody>
                    </table>
                  </div>
                )}
              </div>
            </>
          )}
        </Show>
      </div>
    </Page>
  );
}

interface DetailsProps {
  agent: Agent;
  status: Status | undefined;
  asked: readonly Asked[];
  busy: boolean;
  fault: Refusal | null;
  pause: (on: boolean) => void;
  nameOf: (id: string) => string;
}

function AgentDetails({ agent, status, asked, busy, fault, pause, nameOf }: DetailsProps): JSX.Element {
  const [words, tone] = doing(agent, status);
  const paused = status?.paused ?? agent.paused;
  const of = { agent: agent.id };
  const by = new Map<string, number>();
  for (const it of asked) if (it.to === agent.id) by.set(it.fromAgent ? nameOf(it.from) : it.from, (by.get(it.fromAgent ? nameOf(it.from) : it.from) ?? 0) + 1);
  const of2 = new Map<string, number>();
  for (const it of asked) if (it.fromAgent && it.from === agent.id) of2.set(nameOf(it.to), (of2.get(nameOf(it.to)) ?? 0) + 1);
  const listOf = (map: Map<string, number>) => [...map].map(([name, times]) => `${name} (${times})`).join(", ");
  const task = typeof status?.current_task === "string" ? status.current_task : "";
  return (
    <Aside title={agent.name || agent.id}>
      <div class="stack loose">
        <div class="stack">
          <div class="row wrap"><Tag tone={tone}>{words}</Tag><span class="grow" />{may("approve") && <Button small icon={paused ? "play" : "pause"} disabled={busy} onClick={() => pause(!paused)}>{paused ? "Resume" : "Pause"}</Button>}</div>
          {agent.description && <p class="soft"><Text text={agent.description} /></p>}
          {status?.fault && <Note tone="bad" icon="no"><Text text={status.fault} /></Note>}
          {fault && <Note tone="bad" icon="no"><b><Text text={fault.message} /> </b>It goes on as before.</Note>}
          {paused && <p class="dim t2">It begins nothing until it is resumed. What is asked meanwhile waits.</p>}
        </div>
        <Facts facts={[
          ["Id", <code><Text text={agent.id} /></code>],
          ...(agent.path ? [["Address", <code><Text text={agent.path} /></code>] as [string, JSX.Element]] : []),
          ...(status ? [
            ["Works on", task ? <a href={address("tasks", task, of)}><Text text={task} /></a> : count(status.working, "request")] as [string, JSX.Element | string],
            ["Waiting", count(status.queue_length, "request")] as [string, string],
            ["Asks", status.approvals.length + status.questions.length === 0 ? "nothing" : <a href={address("questions")}>{count(status.approvals.length + status.questions.length, "question")}</a>] as [string, JSX.Element | string],
            ["Newest", <EventLink event={status.event} of={agent.id} />] as [string, JSX.Element],
          ] : []),
          ["Asked by", by.size === 0 ? "—" : <Text text={listOf(by)} />],
          ["Asked", of2.size === 0 ? "—" : <Text text={listOf(of2)} />],
        ]} />
        <div class="row wrap">
          <a class="b small" href={address("chat", undefined, of)}>Talk with it</a>
          <a class="b small bare" href={address("tasks", undefined, of)}>Its tasks</a>
          <a class="b small bare" href={address("files", undefined, of)}>Its files</a>
          <a class="b small bare" href={address("journal", undefined, of)}>Its journal</a>
        </div>
      </div>
    </Aside>
  );
}
