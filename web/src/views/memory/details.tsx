/** One record: why it is kept, what it rests on, and how it is corrected or forgotten. */
import { useSignal } from "@preact/signals";
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { refusal } from "../../api/refusal.ts";
import { change, displayName, may, myName, read } from "../../state/app.ts";
import { address } from "../../state/route.ts";
import { count, fullTime, readable } from "../../text.ts";
import { Sign } from "../../ui/icons.tsx";
import { Aside } from "../../ui/page.tsx";
import { Bar, Button, CopyButton, Dialog, Facts, Note, Tag, Text, WhyList } from "../../ui/parts.tsx";
import { notify } from "../../ui/say.ts";
import { Show, useLoaded } from "../../ui/states.tsx";
import { clearOf, LAYERS, type Kept } from "./records.ts";
import { Parts } from "./score.tsx";

const BECAUSE: Record<string, string> = {
  denial: "it says the opposite", number: "another number", date: "another date", value: "another value of what has one at a time", attitude: "liking against hating",
};

interface RecordProps {
  record: Kept;
  agent: string | undefined;
  /** The records that are known, to name those that this one speaks of. */
  known: ReadonlyMap<string, Kept>;
  changed: (forgotten?: string) => void;
}

/** The details of a record. */
export function RecordDetails({ record, agent, known, changed }: RecordProps): JSX.Element {
  const asking = useSignal<"" | "forget" | "correct">("");
  const layer = LAYERS.find((it) => it.key === record.layer);
  const { reason } = record;
  const sure = record.confidence ?? reason?.confidence;
  const fixed = record.layer === "axiom";
  return (
    <Aside title="Record">
      <div class="stack loose">
        <div class="stack">
          <div class="row">
            <Sign size={18} clear={clearOf(record.layer)} mood={record.doubt ? "bad" : "accent"} />
            <b>{layer?.one ?? record.layer}</b>
            <span class="dim mono t1 clip" title={record.id}>{record.id}</span>
            {record.doubt && <Tag tone="bad">in doubt</Tag>}
            {record.everybody && <Tag>seen by all callers</Tag>}
          </div>
          <p class="t4 said"><Text text={readable(record.text)} /></p>
          {record.doubt && (
            <Note tone="bad" icon="no">
              <b>Something surer contradicts it. </b>
              <Mention id={record.doubt.id} known={known} />
              {record.doubt.because && <span class="dim"> ({BECAUSE[record.doubt.because] ?? record.doubt.because})</span>}
            </Note>
          )}
        </div>
        <section>
          <h3 class="sect">Why it is kept</h3>
          {reason ? (
            <Facts facts={[
              ["Source", <Text text={reason.source} />],
              ["How sure", <><span class="num">{(sure ?? 0).toFixed(2)}</span>{sure !== undefined && Math.abs(sure - reason.confidence) > 0.005 && <span class="dim"> now, {reason.confidence.toFixed(2)} when it was told</span>}<Bar share={sure ?? 0} label={`sure ${Math.round((sure ?? 0) * 100)} of 100`} /></>],
              ["Answers", <Text text={reason.context} />],
              ["Worth it", <Text text={reason.why} />],
            ]} />
          ) : (
            <p class="soft">{record.layer === "working" ? "It was recalled more than once of late. Without a reason it does not rise to a belief." : "It was logged as it was seen, without a reason. Without one nothing becomes a belief."}{record.source && <> It comes from <Text text={record.source} />.</>}</p>
          )}
        </section>
        {record.score !== undefined && record.parts.length > 0 && (
          <section><h3 class="sect">Why it was found</h3><Parts parts={record.parts} score={record.score} /></section>
        )}
        <RestsOn record={record} agent={agent} known={known} />
        <section>
          <h3 class="sect">About it</h3>
          <Facts facts={[
            ["Recorded", fullTime(record.recorded)],
            ...(record.occurred ? [["Happened", fullTime(record.occurred)] as [string, ComponentChildren]] : []),
            ...(record.speaker ? [["Said by", <Text text={record.speaker} />] as [string, ComponentChildren]] : []),
            ["Used", record.uses === 0 ? "never" : `${count(record.uses, "time")}${record.lastUsed ? `, last ${fullTime(record.lastUsed)}` : ""}`],
            ...(record.lastQuestion ? [["Last for", <Text text={record.lastQuestion} />] as [string, ComponentChildren]] : []),
            ...(record.owner ? [["Belongs to", <Text text={displayName(record.owner)} />] as [string, ComponentChildren]] : []),
          ]} />
        </section>
        {fixed ? <p class="dim">An axiom is part of the law: it changes with the agent's manifest alone.</p> : (
          <div class="row wrap">
            <Button small icon="pen" onClick={() => (asking.value = "correct")}>Correct…</Button>
            <Button small look="warn" onClick={() => (asking.value = "forget")}>Forget…</Button>
            <CopyButton text={record.text} label="Copy the text" />
          </div>
        )}
      </div>
      {asking.value === "forget" && <Forget record={record} agent={agent} close={() => (asking.value = "")} done={() => changed(record.id)} />}
      {asking.value === "correct" && <Correct record={record} agent={agent} close={() => (asking.value = "")} done={() => changed(record.id)} />}
    </Aside>
  );
}

/** Another record, by its words if they are known. */
function Mention({ id, known }: { id: string; known: ReadonlyMap<string, Kept> }): JSX.Element {
  const record = known.get(id);
  return <a href={address("memory", id)}>{record ? <Text text={`“${record.text}”`} /> : <span class="mono t1">{id}</span>}</a>;
}

function RestsOn({ record, agent, known }: { record: Kept; agent: string | undefined; known: ReadonlyMap<string, Kept> }): JSX.Element {
  return (
    <section>
      <h3 class="sect">Rests on</h3>
      {record.support.length > 0 && (
        <ul class="stack tight rests">
          {record.support.map((it) => <li>said also by <Text text={it.source} />{it.at !== undefined && <span class="dim">, {fullTime(it.at)}</span>}</li>)}
        </ul>
      )}
      {record.from.length > 0 && (
        <ul class="stack tight rests">{record.from.map((it) => <li>concluded from <Mention id={it.id} known={known} />{it.source && <span class="dim"> of <Text text={it.source} /></span>}</li>)}</ul>
      )}
      {may("operate") ? <FromJournal id={record.id} agent={agent} /> : record.support.length + record.from.length === 0 && <p class="dim">One source. The journal, which says more, is for those who operate the server.</p>}
    </section>
  );
}

/** What the journal says of a record, with its events. */
function FromJournal({ id, agent }: { id: string; agent: string | undefined }): JSX.Element {
  const why = useLoaded(() => read("getAgentWhy", { agent, question: id }), [id, agent]);
  return (
    <Show of={why} lines={2}>
      {(it) => it.because.length > 0 ? <WhyList items={it.because} of={agent} /> : <p class="dim">The journal gives no other reason for it.</p>}
    </Show>
  );
}

interface AskProps {
  record: Kept;
  agent: string | undefined;
  close: () => void;
  done: () => void;
}

/** Sends a form once; shows why it was refused. */
function useSending(work: () => Promise<void>): { busy: boolean; refused: string; send: (e: Event) => void } {
  const busy = useSignal(false);
  const refused = useSignal("");
  const send = (e: Event) => {
    e.preventDefault();
    if (busy.value) return;
    busy.value = true;
    refused.value = "";
    work().catch((error) => {
      const why = refusal(error);
      refused.value = why.hint ? `${why.message} ${why.hint}` : why.message;
    }).finally(() => { busy.value = false; });
  };
  return { busy: busy.value, refused: refused.value, send };
}

function Forget({ record, agent, close, done }: AskProps): JSX.Element {
  const why = useSignal("");
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  const { busy, refused, send } = useSending(async () => {
    await change("postMemoryForget", { id: record.id, why: why.value.trim(), agent });
    close();
    notify("Forgotten. A tombstone says when and why.");
    done();
  });
  return (
    <Dialog label="Forget a record" close={close}>
      <form class="dlg" onSubmit={send}>
        <h2 class="t5">Forget this?</h2>
        <p class="soft said"><Text text={record.text} /></p>
        <label class="field"><input ref={field} aria-label="Why should it be forgotten?" placeholder="Why should it be forgotten?" value={why.value} onInput={(e) => (why.value = e.currentTarget.value)} /></label>
        <p class="dim t2">The text goes, also from the log, and cannot be brought back. What stays is when, why, and a hash.</p>
        {refused && <Note tone="bad" icon="no"><b><Text text={refused} /></b> Nothing was forgotten.</Note>}
        <div class="row"><Button look="warn" type="submit" disabled={busy || why.value.trim() === ""}>Forget</Button><Button look="bare" onClick={close}>Keep</Button></div>
      </form>
    </Dialog>
  );
}

/** Says it right: the new text is remembered with a reason, then the old one is forgotten. */
function Correct({ record, agent, close, done }: AskProps): JSX.Element {
  const text = useSignal(record.text);
  const why = useSignal("");
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => field.current?.focus(), []);
  const lasting = record.layer === "procedure" ? "procedure" : "belief";
  const { busy, refused, send } = useSending(async () => {
    const reason = { confidence: 0.95, context: record.reason?.context || record.text, why: why.value.trim() };
    const told = { type: record.kind, content: text.value.trim(), layer: lasting, reason, public: record.everybody, agent };
    const stored = (await change("postMemoryStore", told)) as { layer?: string; outcome?: string };
    await change("postMemoryForget", { id: record.id, why: `corrected: ${why.value.trim()}`, agent });
    close();
    notify(stored.layer === "observation" ? "Corrected, and logged as an observation: its law holds on to no more." : "Corrected. The old text is forgotten.");
    done();
  });
  const same = text.value.trim() === record.text.trim();
  return (
    <Dialog label="Correct a record" close={close}>
      <form class="dlg" onSubmit={send}>
        <h2 class="t5">What is right?</h2>
        <textarea class="area" ref={field} rows={4} aria-label="What is right" value={text.value} onInput={(e) => (text.value = e.currentTarget.value)} />
        <label class="field"><input aria-label="How do you know?" placeholder="How do you know?" value={why.value} onInput={(e) => (why.value = e.currentTarget.value)} /></label>
        <p class="dim t2">It is kept as the word of {myName.value || "the operator"}. The old text is forgotten, with this reason.</p>
        {refused && <Note tone="bad" icon="no"><b><Text text={refused} /></b> The old record is still there.</Note>}
        <div class="row"><Button look="main" type="submit" disabled={busy || same || text.value.trim() === "" || why.value.trim() === ""}>Correct</Button><Button look="bare" onClick={close}>Leave it</Button></div>
      </form>
    </Dialog>
  );
}
