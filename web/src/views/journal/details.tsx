/** One event: why, what changed, the agent as it was then, what the model was shown, and the event as it is written down. */
import { useSignal } from "@preact/signals";
import type { ComponentChildren, JSX } from "preact";
import { useEffect } from "preact/hooks";
import { refusal } from "../../api/refusal.ts";
import { displayName, read, type Reply } from "../../state/app.ts";
import { address } from "../../state/route.ts";
import { count, fullTime, size, withoutEscapes } from "../../text.ts";
import { CloseDetails } from "../../ui/page.tsx";
import { Button, Coded, CopyButton, Facts, Tabs, Tag, Text, WhyList } from "../../ui/parts.tsx";
import { Show, useLoaded } from "../../ui/states.tsx";
import { changeSays } from "./changes.ts";
import { messageSays, planSays } from "./seen.ts";

const TABS = ["Why", "Then", "Seen", "Raw"] as const;
type Tab = (typeof TABS)[number];
export type StateThen = Reply<"getJournalByEventState">;

interface EventProps {
  event: number;
  agent: string | undefined;
  /** Whether the list shows the agent as it was after this event. */
  travelled: boolean;
  travel: (to: number | undefined) => void;
}

/** The details of an event. */
export function JournalEvent({ event, agent, travelled, travel }: EventProps): JSX.Element {
  const tab = useSignal<Tab>("Why");
  useEffect(() => { if (travelled) tab.value = "Then"; else if (tab.peek() === "Then") tab.value = "Why"; }, [travelled]);
  return (
    <>
      <Tabs label="Details of the event" tabs={TABS} chosen={tab.value} choose={(it) => (tab.value = it)} end={<CloseDetails />} />
      <div class="scroll grow pad stack loose" tabIndex={0} role="tabpanel" aria-label={tab.value}>
        {tab.value === "Then" ? <Then event={event} agent={agent} /> : tab.value === "Seen" ? <Seen event={event} agent={agent} /> : <Entry event={event} agent={agent} raw={tab.value === "Raw"} travelled={travelled} travel={travel} />}
      </div>
    </>
  );
}

/** Most characters that are shown before the reader asks for all. */
const MOST = 40_000;

/** A text as it is; of a very long one the beginning, until all is asked for. */
function Written({ text }: { text: string }): JSX.Element {
  const all = useSignal(false);
  const cut = !all.value && text.length > MOST;
  return (
    <>
      <pre class="code"><Text text={cut ? text.slice(0, MOST) : text} /></pre>
      {cut && <div class="row"><Button small onClick={() => (all.value = true)}>Show all {size(text.length)}</Button></div>}
    </>
  );
}

function Entry({ event, agent, raw, travelled, travel }: EventProps & { raw: boolean }): JSX.Element {
  const entry = useLoaded(() => read("getJournalByEvent", { event, agent }), [event, agent]);
  return (
    <Show of={entry}>
      {(it) => raw ? (
        <>
          <div class="row"><span class="dim grow">As it is written down</span><CopyButton text={() => JSON.stringify(it, null, 2)} label="Copy the event" /></div>
          <Written text={JSON.stringify({ event: it.event, at: it.at, kind: it.kind, ...(it.turn ? { turn: it.turn } : {}), data: it.data, changes: it.changes }, null, 2)} />
        </>
      ) : (
        <>
          <div class="stack">
            <div class="row wrap"><h2 class="t5">Event {it.event}</h2><span class="dim">{fullTime(it.at)}</span><Tag><Text text={it.kind} /></Tag></div>
            <p class="t4 said"><Coded text={withoutEscapes(it.text)} /></p>
          </div>
          <section>
            <h3 class="sect">Why</h3>
            {it.why.length > 0 ? <WhyList items={it.why} of={agent} /> : <p class="dim">The journal gives no reason for this event: it came from outside.</p>}
          </section>
          <section>
            <h3 class="sect">What changed</h3>
            {it.changes.length > 0 ? <Facts facts={it.changes.map(changeSays).map(([name, says]): [string, ComponentChildren] => [name, <span class="mono t2"><Text text={says} /></span>])} /> : <p class="dim">Nothing in its state.</p>}
          </section>
          <div class="row wrap">
            {travelled ? <Button small icon="clock" onClick={() => travel(undefined)}>Back to now</Button> : <Button small icon="clock" onClick={() => travel(it.event)}>See it as it was then</Button>}
            <CopyButton text={() => new URL(address("journal", it.event, { agent }), document.baseURI).href} label="Copy a link" />
          </div>
        </>
      )}
    </Show>
  );
}

const DOES: Record<string, string> = { idle: "had nothing to do", thinking: "was thinking", executing: "was doing something", awaiting_approval: "waited for a person", error: "could not go on" };

/** A state in a sentence, for the banner over the list. */
export function stateSays(it: StateThen): string {
  const open = it.approvals.length + it.questions.length;
  return `It ${it.paused ? "was told to stop" : (DOES[it.state] ?? it.state)}. Law version ${it.law_version}, ${count(it.queue.length, "request")} waiting, ${open === 0 ? "no question" : count(open, "question")} open.`;
}

const said = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));

/** The agent as it was after an event. */
function Then({ event, agent }: { event: number; agent: string | undefined }): JSX.Element {
  const state = useLoaded(() => read("getJournalByEventState", { event, agent }), [event, agent]);
  const list = (title: string, items: readonly unknown[], show: (it: any) => ComponentChildren, none: string) => (
    <section><h3 class="sect">{title}</h3>{items.length === 0 ? <p class="dim">{none}</p> : <ul class="stack tight">{items.map((it) => <li class="said">{show(it)}</li>)}</ul>}</section>
  );
  return (
    <Show of={state}>
      {(it) => (
        <>
          <div class="stack tight"><h2 class="t5">After event {it.event}</h2><p class="dim">{fullTime(it.at)}. Nothing is run again: this is read, not replayed.</p></div>
          <Facts facts={[
            ["It", DOES[it.state] ?? it.state],
            ["Paused", it.paused ? "yes" : "no"],
            ["Working on", count(it.working, "request")],
            ["Waiting", count(it.queue.length, "request")],
            ["Law", <><a href={address("law", `v${it.law_version}`)}>version {it.law_version}</a> <code class="t1">{it.law_hash.slice(0, 12)}</code></>],
          ]} />
          {list("Questions that were open", [...it.approvals, ...it.questions], (one) => <Text text={said(one.question ?? one.preview ?? (one.skill ? `may it call ${one.skill}? (${displayName(String(one.by ?? ""))})` : one))} />, "None.")}
          {list("What had been allowed", it.grants, (one) => <Text text={`${one.skill}${one.prefix ? ` where ${one.field} begins with ${one.prefix}` : ""}, by ${displayName(String(one.agreed ?? one.by ?? ""))}`} />, "Nothing in advance.")}
          {list("What it had planned", it.plans, (one) => <Text text={planSays(one)} />, "Nothing.")}
          {list("What it was for", it.goals, (one) => <Text text={said(one)} />, "Nothing but what it is asked.")}
          <details class="fold"><summary>What it went by</summary><pre class="code"><Text text={it.law} /></pre></details>
        </>
      )}
    </Show>
  );
}

/** What the model was shown. */
function Seen({ event, agent }: { event: number; agent: string | undefined }): JSX.Element {
  const prompt = useLoaded(() => read("getJournalByEventPrompt", { event, agent }).catch((error) => {
    const why = refusal(error);
    if (why.status === 404 || why.code === "not_found" || why.code === "no_thought") return null;
    throw why;
  }), [event, agent]);
  return (
    <Show of={prompt}>
      {(it) => it === null ? <p class="dim">No model was asked for this event. Choose a thought.</p> : (
        <>
          <p class="dim">All that the model was shown for this thought, and nothing else.</p>
          {it.system && <section><h2 class="sect">Instructions</h2><Written text={it.system} /></section>}
          {it.messages.map(messageSays).map(([role, says]) => (
            <section>
              <h2 class="sect"><Text text={role} /></h2>
              <Written text={withoutEscapes(says)} />
            </section>
          ))}
          {it.tools.length > 0 && <details class="fold"><summary>{count(it.tools.length, "skill")} that it could choose from</summary><ul class="stack tight">{it.tools.map((tool) => <li><code><Text text={String(tool["name"] ?? tool["id"] ?? "")} /></code> <span class="soft"><Text text={String(tool["description"] ?? "")} /></span></li>)}</ul></details>}
        </>
      )}
    </Show>
  );
}

/** The answer to a question of the reader, from the journal. */
export function Answer({ question, agent }: { question: string; agent: string | undefined }): JSX.Element {
  const why = useLoaded(() => read("getAgentWhy", { agent, question }), [question, agent]);
  return (
    <>
      <div class="tabs"><h2 class="row t3 clip">Why</h2><CloseDetails /></div>
      <div class="scroll grow pad stack loose" tabIndex={0} role="region" aria-label="Answer">
        <p class="t4 said"><Text text={question} /></p>
        <Show of={why}>{(it) => it.known ? <WhyList items={it.because} of={agent} /> : <p class="soft">I do not know: nothing in my journal is about that.</p>}</Show>
      </div>
    </>
  );
}
