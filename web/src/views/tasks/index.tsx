/** Tasks: all that was asked of the agent over any protocol, with what came of it. */
import { signal, useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { refusal } from "../../api/refusal.ts";
import type { ViewProps } from "../../shell/places.ts";
import { connection, detailsOpen, read, waiting } from "../../state/app.ts";
import { address, agent, go } from "../../state/route.ts";
import { count, dayAndTime, grouped } from "../../text.ts";
import { Button, Field, Note, Tag, Text, When } from "../../ui/parts.tsx";
import { Page } from "../../ui/page.tsx";
import { Empty, Show, useLoaded } from "../../ui/states.tsx";
import { VirtualList } from "../../ui/virtual.tsx";
import { TaskDetails } from "./details.tsx";
import { askedFor, STATES, stateOf, type Task, titleOf } from "./model.ts";
import { rowHeight, useRowKeys } from "./rows.ts";
import "./style.css";

const PAGE = 100;
const FILTERS: [label: string, state: string][] = [
  ["All", ""],
  ["Waits for you", "TASK_STATE_INPUT_REQUIRED"],
  ["Works", "TASK_STATE_WORKING"],
  ["Done", "TASK_STATE_COMPLETED"],
  ["Failed", "TASK_STATE_FAILED"],
  ["Cancelled", "TASK_STATE_CANCELED"],
  ["Refused", "TASK_STATE_REJECTED"],
];

/** What was asked for by each task, where the list did not say it. */
const titles = signal<Map<string, string>>(new Map());

interface Listed {
  tasks: Task[];
  next: string;
  total: number;
}

export default function Tasks({ id, query }: ViewProps): JSX.Element {
  const from = agent.value;
  const state = STATES[query.get("state") ?? ""] ? query.get("state")! : "";
  const words = useSignal("");
  const list = useLoaded<Listed>(async () => {
    const got = await read("getTasks", { agent: from, limit: PAGE, ...(state ? { state } : {}) });
    return { tasks: [...got.tasks] as unknown as Task[], next: got.next, total: got.total };
  }, [from, state]);
  const shown = list.state.value;
  const moreFault = useSignal<string | null>(null);
  const reading = useRef(false);

  // The list is read again when something happened: a question came or went, the journal grew, or after a while.
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const soon = () => {
    timer.current ??= setTimeout(() => {
      timer.current = undefined;
      if (list.state.peek().kind !== "there" || (list.state.peek() as { value: Listed }).value.tasks.length <= PAGE) list.again();
    }, 700);
  };
  useEffect(() => soon(), [waiting.value]);
  useEffect(() => {
    const end = connection.follow("followJournal", () => ({ agent: from }), soon);
    const often = setInterval(() => { if (!document.hidden) soon(); }, 10_000);
    return () => {
      end();
      clearInterval(often);
      clearTimeout(timer.current);
      timer.current = undefined;
    };
  }, [from, state]);

  const all = shown.kind === "there" ? shown.value.tasks : [];
  // A list has the last message of each task alone; what was asked for is read once, and stays.
  useEffect(() => {
    const unknown = all.filter((it) => askedFor(it) === "" && !titles.peek().has(it.id)).slice(0, 40);
    for (const it of unknown) {
      titles.peek().set(it.id, "");
      void read("getTasksById", { id: it.id, agent: from }).then((got) => {
        titles.value = new Map(titles.peek()).set(it.id, askedFor(got as unknown as Task));
      }, () => undefined);
    }
  }, [shown]);
  const nameOf = (task: Task) => titles.value.get(task.id) || titleOf(task);
  const filter = words.value.trim().toLowerCase();
  const rows = filter === "" ? all : all.filter((it) => `${nameOf(it)} ${it.id} ${stateOf(it).words} ${it.contextId}`.toLowerCase().includes(filter));
  const at = rows.findIndex((it) => it.id === id);
  useRowKeys(rows.length, at, (next) => go("tasks", rows[next]!.id, { state }, true));
  useEffect(() => { if (id !== undefined) detailsOpen.value = true; }, [id]);

  const readMore = () => {
    if (shown.kind !== "there" || shown.value.next === "" || reading.current || filter !== "") return;
    reading.current = true;
    read("getTasks", { agent: from, limit: PAGE, after: shown.value.next, ...(state ? { state } : {}) }).then(
      (got) => {
        const known = new Set(shown.value.tasks.map((it) => it.id));
        const more = ([...got.tasks] as unknown as Task[]).filter((it) => !known.has(it.id));
        list.put({ tasks: [...shown.value.tasks, ...more], next: got.next, total: got.total });
      },
      (error) => { moreFault.value = refusal(error).message; },
    ).finally(() => { reading.current = false; });
  };
  const changed = (task: Task) => {
    const now = list.state.peek();
    if (now.kind !== "there") return;
    const place = now.value.tasks.findIndex((it) => it.id === task.id);
    if (place >= 0) list.put({ ...now.value, tasks: now.value.tasks.with(place, { ...now.value.tasks[place]!, ...task }) });
  };
  const height = rowHeight();
  return (
    <Page
      title="Tasks"
      sub={shown.kind === "there" ? `${count(shown.value.total, "task")}, the last changed first` : undefined}
      actions={<Field label="Filter tasks" icon="find" type="search" placeholder="Filter" size={14} class="hide-s" value={words.value} onInput={(e) => (words.value = e.currentTarget.value)} />}
      aside={id !== undefined ? <TaskDetails key={id} id={id} known={all.find((it) => it.id === id)} changed={changed} /> : undefined}
    >
      <div class="filters chips" role="group" aria-label="State">
        {FILTERS.map(([label, value]) => <Button small aria-pressed={state === value} onClick={() => go("tasks", id, { state: value || undefined }, true)}>{label}</Button>)}
      </div>
      <Show of={list} lines={6}>
        {(it) => rows.length === 0 ? (
          <div class="body scroll">
            {filter !== "" ? <Empty title="Nothing matches."><>None of the {grouped(it.tasks.length)} tasks that were read has <code><Text text={words.value} /></code> in it.</></Empty>
              : state !== "" ? <Empty title="No task is in this state."><a href={address("tasks")}>Show all tasks</a></Empty>
              : <Empty title="No tasks yet.">Ask something in the chat, or over any protocol; each request stands here.</Empty>}
          </div>
        ) : (
          <>
            {moreFault.value && <div class="pad"><Note tone="bad" icon="no"><Text text={moreFault.value} /></Note></div>}
            <div class="trow thead" aria-hidden="true"><span>What</span><span>State</span><span class="hide-s r">Changed</span></div>
            <VirtualList
              items={rows} rowHeight={height} label="Tasks" keyOf={(task) => task.id} reveal={at} atEnd={readMore}
              row={(task) => {
                const now = stateOf(task);
                return (
                  <a class="trow" href={address("tasks", task.id, { state: state || undefined })} aria-current={task.id === id ? "true" : undefined}>
                    <span class="clip"><Text text={nameOf(task)} /></span>
                    <span><Tag tone={now.tone}>{now.words}</Tag></span>
                    <span class="hide-s dim num r">{task.status?.timestamp && <When at={task.status.timestamp} show={dayAndTime} />}</span>
                  </a>
                );
              }}
            />
          </>
        )}
      </Show>
    </Page>
  );
}
