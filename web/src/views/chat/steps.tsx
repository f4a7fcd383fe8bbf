/** What the agent did: one line for each call or thought; calls that follow each other are one line until it is opened. */
import { signal, useSignal, useSignalEffect } from "@preact/signals";
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { connection, preferences } from "../../state/app.ts";
import type { Step } from "../../state/conversation.ts";
import { count, duration, firstLine, withoutEscapes } from "../../text.ts";
import { Icon, type IconName } from "../../ui/icons.tsx";
import { Button, CopyButton, EventLink, Text } from "../../ui/parts.tsx";

/** Which lines the reader opened or closed; kept while the page is open, because lines come and go as the log scrolls. */
const folds = signal<ReadonlyMap<string, boolean>>(new Map());
const isOpen = (key: string, otherwise = false) => folds.value.get(key) ?? otherwise;
function fold(key: string, open: boolean): void {
  if (folds.peek().get(key) === open) return;
  folds.value = new Map(folds.peek()).set(key, open);
}

interface Words {
  icon: IconName;
  done: string;
  running: string;
  /** The field of the input that says most. */
  field: string;
}
const WORDS: Record<string, Words> = {
  "file-read": { icon: "file", done: "Read", running: "Reading", field: "path" },
  "file-list": { icon: "files", done: "Listed", running: "Listing", field: "path" },
  "file-search": { icon: "find", done: "Searched", running: "Searching", field: "query" },
  "file-write": { icon: "pen", done: "Wrote", running: "Writing", field: "path" },
  "file-edit": { icon: "pen", done: "Changed", running: "Changing", field: "path" },
  "file-move": { icon: "files", done: "Moved", running: "Moving", field: "from" },
  "file-delete": { icon: "no", done: "Deleted", running: "Deleting", field: "path" },
  "terminal-run": { icon: "term", done: "Ran", running: "Running", field: "command" },
  remember: { icon: "mem", done: "Remembered", running: "Remembering", field: "text" },
  recall: { icon: "mem", done: "Recalled", running: "Recalling", field: "question" },
  undo: { icon: "undo", done: "Took back", running: "Taking back", field: "change" },
  about: { icon: "book", done: "Looked up", running: "Looking up", field: "topic" },
};

function wordsOf(step: Step): { icon: IconName; verb: string; what: string } {
  const known = WORDS[step.tool];
  const value = known ? step.input[known.field] : Object.values(step.input).find((it) => typeof it === "string");
  const what = typeof value === "string" ? firstLine(value.replace(/^\/project\//, ""), 90) : known ? "" : step.tool;
  const verb = step.state === "running" ? (known?.running ?? "Calling") : step.state === "failed" ? `${known?.done ?? "Called"}, and it failed:` : (known?.done ?? "Called");
  return { icon: step.state === "failed" ? "no" : (known?.icon ?? "bolt"), verb, what: known ? what : `${step.tool}${what && what !== step.tool ? ` ${what}` : ""}` };
}

const took = (step: Step): number | null => {
  if (typeof step.data?.milliseconds === "number") return step.data.milliseconds;
  if (!step.ended) return null;
  const ms = Date.parse(step.ended) - Date.parse(step.began);
  return ms > 0 ? ms : null;
};

/** Seconds that count up while something runs. */
export function Seconds({ since }: { since: number }): JSX.Element {
  const now = useSignal(Date.now());
  useEffect(() => {
    const timer = setInterval(() => (now.value = Date.now()), 1_000);
    return () => clearInterval(timer);
  }, []);
  return <>{Math.max(0, Math.round((now.value - since) / 1_000))} s</>;
}

/** A line that opens. The number of its event stands beside it, not inside, so that both can be reached by key. */
function Line({ name, icon, verb, more, dur, event, tone, open, children }: { name: string; icon: IconName; verb: string; more: ComponentChildren; dur: ComponentChildren; event: number; tone?: "on" | "bad" | undefined; open?: boolean; children?: ComponentChildren }): JSX.Element {
  const shown = isOpen(name, open);
  return (
    <div class="stepw">
      <button type="button" class={`step ${tone ?? ""}`} aria-expanded={shown} onClick={() => fold(name, !shown)}>
        <Icon name={icon} /><span class="clip"><b>{verb} </b>{more}</span><span class="dur">{dur}</span>
      </button>
      {event > 0 && <EventLink event={event} />}
      {shown && <div class="inner">{children}</div>}
    </div>
  );
}

function Call({ step, task }: { step: Step; task: string | undefined }): JSX.Element {
  const { icon, verb, what } = wordsOf(step);
  const ms = took(step);
  const input = typeof step.input["command"] === "string" && Object.keys(step.input).length === 1 ? step.input["command"] : JSON.stringify(step.input, null, 2);
  const live = step.state === "running" && step.tool === "terminal-run";
  return (
    <Line
      name={step.key} icon={icon} verb={verb} event={step.event} tone={step.state === "running" ? "on" : step.state === "failed" ? "bad" : undefined} open={live || step.state === "failed"}
      more={<><code><Text text={what} /></code><span class="dim"> <Text text={resultWords(step)} /></span></>}
      dur={step.state === "running" ? <Seconds since={Date.parse(step.began)} /> : ms === null ? "" : duration(ms)}
    >
      <div class="row t2 dim"><span class="grow">Input</span><CopyButton text={input} label="Copy the input" /></div>
      <pre class="code"><Text text={input} /></pre>
      {live ? <LiveOutput task={task} /> : step.output !== "" && (
        <>
          <div class="row t2 dim"><span class="grow">Result</span><CopyButton text={step.output} label="Copy the result" /></div>
          <Output text={step.output} />
        </>
      )}
    </Line>
  );
}

function resultWords(step: Step): string {
  if (step.state === "failed") return firstLine(step.output, 100);
  if (step.tool === "file-write" && typeof step.data?.size === "number") return `${step.data.created ? "created" : "changed"}, ${count(step.data.size, "byte")}`;
  if (step.tool === "file-edit" && typeof step.data?.lines_added === "number") return `+${step.data.lines_added} −${step.data.lines_removed ?? 0}`;
  if (step.tool === "file-search" && Array.isArray(step.data?.matches)) return `${count(step.data.matches.length, "line")} found`;
  if (step.tool === "terminal-run" && typeof step.data?.exit_code === "number" && step.data.exit_code !== 0) return `exit code ${step.data.exit_code}`;
  return "";
}

/** Output of a skill: no escape sequences, the last 200 lines until all of it is wanted. */
export function Output({ text }: { text: string }): JSX.Element {
  const all = useSignal(false);
  const lines = withoutEscapes(text).replace(/\n+$/, "").split("\n");
  const shown = all.value || lines.length <= 200 ? lines : lines.slice(-200);
  return (
    <>
      {shown.length < lines.length && <div><Button small onClick={() => (all.value = true)}>Show all {lines.length} lines</Button></div>}
      <pre class="code" tabIndex={0} role="group" aria-label="Output"><Text text={shown.join("\n")} /></pre>
    </>
  );
}

/** What a command prints while it runs, from the events of its task. */
function LiveOutput({ task }: { task: string | undefined }): JSX.Element {
  const text = useSignal("");
  const box = useRef<HTMLPreElement>(null);
  useEffect(() => {
    if (!task) return;
    return connection.follow("followTask", () => ({ id: task }), (events) => {
      let more = text.peek();
      for (const event of events) {
        const update = event["artifactUpdate"];
        if (update?.artifact?.artifactId !== "terminal") continue;
        const part = (update.artifact.parts ?? []).map((it: { text?: string }) => it.text ?? "").join("");
        more = update.append ? more + part : part;
      }
      text.value = more.slice(-64_000);
    });
  }, [task]);
  useSignalEffect(() => {
    text.value;
    requestAnimationFrame(() => { if (box.current) box.current.scrollTop = box.current.scrollHeight; });
  });
  return <pre class="code live" ref={box} tabIndex={0} role="group" aria-label="Output so far"><Text text={withoutEscapes(text.value)} /><span class="caret" /></pre>;
}

function Thought({ step }: { step: Step }): JSX.Element {
  const ms = took(step);
  return (
    <Line name={step.key} icon="bolt" verb="Thought" more={<span class="dim"><Text text={firstLine(step.text, 90)} /></span>} dur={ms === null ? "" : duration(ms)} event={step.event} open={preferences.value.reasoning === "open"}>
      <div class="thoughts" dir="auto"><Text text={step.text} /></div>
    </Line>
  );
}

/** Says what a chain of calls did: "Searched, and read 2 files". */
export function chainWords(steps: readonly Step[]): string {
  const groups: [string, number][] = [];
  for (const step of steps) {
    const verb = WORDS[step.tool]?.done ?? `Called ${step.tool}`;
    const last = groups.find(([name]) => name === verb);
    if (last) last[1]++;
    else groups.push([verb, 1]);
  }
  const NOUNS: Record<string, string> = { Read: "files", Wrote: "files", Changed: "files", Listed: "folders", Searched: "times", Ran: "commands", Remembered: "things", Recalled: "times" };
  const words = groups.map(([verb, number], at) => {
    const phrase = number === 1 ? verb : `${verb} ${number} ${NOUNS[verb] ?? "times"}`;
    return at === 0 ? phrase : phrase[0]!.toLowerCase() + phrase.slice(1);
  });
  return words.length === 1 ? words[0]! : `${words.slice(0, -1).join(", ")}, and ${words.at(-1)}`;
}

function Chain({ steps, task }: { steps: Step[]; task: string | undefined }): JSX.Element {
  const names = steps.map((it) => wordsOf(it).what).filter((it) => it !== "");
  const ms = steps.reduce((sum, it) => sum + (took(it) ?? 0), 0);
  return (
    <Line name={`c${steps[0]!.key}`} icon={wordsOf(steps[0]!).icon} verb={chainWords(steps)} more={<span class="dim"><Text text={firstLine(names.join(", "), 90)} /></span>} dur={ms > 0 ? duration(ms) : ""} event={steps.at(-1)!.event}>
      <div class="trail">{steps.map((step) => <Call key={step.key} step={step} task={task} />)}</div>
    </Line>
  );
}

/** The steps of a part: finished calls in a row are a chain; what failed or runs stands by itself. */
export function Steps({ steps, task }: { steps: readonly Step[]; task: string | undefined }): JSX.Element {
  const lines: JSX.Element[] = [];
  let row: Step[] = [];
  const flush = () => {
    if (row.length > 1) lines.push(<Chain key={row[0]!.key} steps={row} task={task} />);
    else if (row.length === 1) lines.push(<Call key={row[0]!.key} step={row[0]!} task={task} />);
    row = [];
  };
  for (const step of steps) {
    if (step.kind === "call" && step.state === "done") {
      row.push(step);
      continue;
    }
    flush();
    lines.push(step.kind === "thought" ? <Thought key={step.key} step={step} /> : <Call key={step.key} step={step} task={task} />);
  }
  flush();
  return <div class="trail">{lines}</div>;
}
