/** Memory: layers, a search that says what its scores are made of, the graph around a topic, and why each record is kept. */
import "./style.css";
import { useSignal } from "@preact/signals";
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { onKey } from "../../shell/keys.tsx";
import type { ViewProps } from "../../shell/places.ts";
import { detailsOpen } from "../../state/app.ts";
import { agent, go } from "../../state/route.ts";
import { count, duration, firstLine, grouped, readable } from "../../text.ts";
import { Icon, Sign } from "../../ui/icons.tsx";
import { Page } from "../../ui/page.tsx";
import { Button, Field, IconButton, Tag, Text } from "../../ui/parts.tsx";
import { Empty, Fault, Loading, useLoaded } from "../../ui/states.tsx";
import { VirtualList } from "../../ui/virtual.tsx";
import { AuditDetails } from "./audit.tsx";
import { RecordDetails } from "./details.tsx";
import { Graph } from "./graph.tsx";
import { readMemory, search } from "./read.ts";
import { clearOf, type Kept, LAYERS } from "./records.ts";
import { Legend, Mixture } from "./score.tsx";

export default function Memory({ id, query }: ViewProps): JSX.Element {
  const of = agent.value;
  const asked = query.get("query") ?? "";
  const layer = query.get("layer") ?? undefined;
  const topic = query.get("topic") ?? undefined;
  const auditing = query.get("audit") !== null;
  const all = useLoaded(() => readMemory(of), [of]);
  const hits = useLoaded(async () => (asked === "" ? null : search(of, asked, layer)), [of, asked, layer]);
  const version = useSignal(0);

  /** Goes to another state of this view: what is not named stays. */
  const show = (to: { id?: string | undefined; query?: string; layer?: string | undefined; topic?: string | undefined; audit?: boolean }, replace = false) => {
    const next = { query: asked, layer, topic, ...to };
    go("memory", "id" in to ? to.id : id, { query: next.query || undefined, layer: next.layer, topic: next.topic, audit: to.audit ? "1" : undefined }, replace);
  };
  const open = (record: string) => {
    show({ id: record });
    detailsOpen.value = true;
  };

  const memory = all.state.value;
  const answer = hits.state.value;
  const listed = memory.kind === "there" ? memory.value.records : null;
  const known = useMemo(() => {
    const map = new Map<string, Kept>();
    for (const it of listed ?? []) map.set(it.id, it);
    if (answer.kind === "there") for (const it of answer.value?.records ?? []) map.set(it.id, { ...map.get(it.id), ...it, lastUsed: map.get(it.id)?.lastUsed, lastQuestion: map.get(it.id)?.lastQuestion });
    return map;
  }, [listed, answer]);
  const rows = useMemo(() => {
    if (asked !== "") return answer.kind === "there" ? (answer.value?.records ?? []) : [];
    const about = topic?.toLowerCase();
    return (listed ?? []).filter((it) => (!layer || it.layer === layer) && (!about || it.text.toLowerCase().includes(about) || it.speaker?.toLowerCase() === about));
  }, [asked, answer, listed, layer, topic]);
  const chosen = (id !== undefined ? known.get(id) : undefined) ?? (id === undefined ? rows[0] : undefined);
  const at = rows.findIndex((it) => it.id === chosen?.id);

  const latest = useRef({ rows, at });
  latest.current = { rows, at };
  useEffect(() => onKey((key) => {
    if (key !== "j" && key !== "k") return false;
    const { rows, at } = latest.current;
    const next = rows[Math.max(0, Math.min(rows.length - 1, at + (key === "j" ? 1 : -1)))];
    if (next) show({ id: next.id }, true);
    return true;
  }), [asked, layer, topic]);

  const changed = (forgotten?: string) => {
    version.value += 1;
    all.again();
    hits.again();
    if (forgotten === id) show({ id: undefined }, true);
    // What was in focus is gone with the record.
    requestAnimationFrame(() => document.querySelector<HTMLElement>(".c-m > .body")?.focus({ preventScroll: true }));
  };
  const audit = memory.kind === "there" ? memory.value.audit : undefined;
  const around = topic ?? (answer.kind === "there" ? answer.value?.entities[0] : undefined);
  const best = Math.max(0.001, ...rows.map((it) => it.score ?? 0));

  let aside: ComponentChildren;
  if (auditing && audit) aside = <AuditDetails audit={audit} again={all.again} />;
  else if (chosen) aside = <RecordDetails key={chosen.id} record={chosen} agent={of} known={known} changed={changed} />;
  else if (id !== undefined && memory.kind === "there" && answer.kind === "there") {
    aside = <div class="pad"><Empty title="There is no such record.">It was forgotten, or it is not yours to see. The journal says when and why a record was forgotten.</Empty></div>;
  }

  const list = () => {
    if (memory.kind === "loading" || answer.kind === "loading") return <Loading lines={6} />;
    if (memory.kind === "failed") return <Fault error={memory.why} again={all.again} />;
    if (answer.kind === "failed") return <Fault error={answer.why} again={hits.again} />;
    if (rows.length > 0) return null;
    if (asked !== "") return <Empty title={layer ? "Nothing in this layer fits the question." : "Nothing that it remembers fits the question."}>{layer ? "Try all layers, or other words." : "Try other words."}</Empty>;
    if (listed === null) return <Empty title={`${grouped(memory.value.audit.records)} records are too many to list.`}>Ask memory something above, or choose a name in the graph.</Empty>;
    if (topic) return <Empty title="No record has this name in its words." />;
    if (layer) return <Empty title="Nothing in this layer yet.">{LAYERS.find((it) => it.key === layer)?.what}</Empty>;
    return <Empty title="It remembers nothing yet.">Say “remember that I like short answers” in the chat, and look here again.</Empty>;
  };

  const state = list();
  const before = (
    <>
      <Graph agent={of} topic={around} lit={id} version={version.value} choose={(it) => show({ topic: it, id: undefined })} open={open} />
      <div class="mem-bar">
        <SearchField asked={asked} ask={(it) => show({ query: it, id: undefined })} class="only-phone" />
        <div class="chips layers-s" role="group" aria-label="Layers">
          <Button small aria-pressed={!layer} onClick={() => show({ layer: undefined, id: undefined })}>All</Button>
          {LAYERS.map((it) => <Button small aria-pressed={layer === it.key} onClick={() => show({ layer: it.key, id: undefined })}>{it.name}</Button>)}
        </div>
        {topic && <div class="row"><span class="tag accent">about <Text text={topic} /></span><IconButton small icon="no" label="Show all records again" onClick={() => show({ topic: undefined })} /></div>}
        {asked !== "" && answer.kind === "there" && rows.length > 0 && <Legend parts={rows.flatMap((it) => it.parts)} />}
      </div>
      {state}
    </>
  );

  return (
    <Page
      title="Memory" sub={audit && asked === "" ? count(audit.records, "record") : undefined} aside={aside} asideLabel={auditing ? "Audit" : "Record"}
      actions={
        <>
          <SearchField asked={asked} ask={(it) => show({ query: it, id: undefined })} class="mem-ask hide-s" />
          {answer.kind === "there" && answer.value && <span class="dim t2 hide-m">{answer.value.retriever.startsWith("words+") ? "words and meaning" : "words"}, {duration(answer.value.took)}</span>}
          <Button small aria-pressed={auditing} onClick={() => { show({ audit: !auditing }); detailsOpen.value = !auditing; }}>Audit</Button>
        </>
      }
    >
      <div class="cols c-m body">
        <nav class="scroll layers" aria-label="Layers">
          <ul class="list">
            {[{ key: undefined, name: "All layers", clear: 0, what: "" }, ...LAYERS].map((it) => (
              <li>
                <button type="button" class="go" aria-current={layer === it.key ? "true" : undefined} title={it.what} onClick={() => show({ layer: it.key, id: undefined })}>
                  {it.clear ? <Sign size={15} clear={it.clear} mood="calm" /> : <Icon name="mem" />}
                  <span class="grow">{it.name}</span>
                  <span class="dim t1 num">{audit ? grouped(it.key ? (audit.layers?.[it.key] ?? 0) : audit.records) : ""}</span>
                </button>
              </li>
            ))}
          </ul>
          <p class="dim t2 mem-hint">The fuller the sign, the clearer it is held. Without a reason nothing rises.</p>
        </nav>
        <VirtualList
          items={state ? [] : rows} rowHeight={58} label="Records" keyOf={(it) => it.id} reveal={id !== undefined && at >= 0 ? at : undefined} before={before}
          row={(it) => (
            <button type="button" class="rec mem-rec" aria-pressed={it.id === chosen?.id} onClick={() => open(it.id)}>
              <span class="row">
                <Sign size={14} clear={clearOf(it.layer)} mood={it.doubt ? "bad" : "calm"} />
                <span class="grow clip"><Text text={firstLine(readable(it.text), 240)} /></span>
                {it.score !== undefined && <span class="num dim t1">{it.score.toFixed(2)}</span>}
              </span>
              <span class="row rec-2">
                <span class="meta grow clip">
                  <span class="clip">{[LAYERS.find((layer) => layer.key === it.layer)?.one ?? it.layer, it.source, it.confidence !== undefined ? `sure ${Math.round(it.confidence * 100)} %` : "", it.uses > 0 ? `used ${it.uses}×` : "never used"].filter(Boolean).map((part, at) => <>{at > 0 && " · "}<Text text={String(part)} /></>)}</span>
                  {it.doubt && <Tag tone="bad">in doubt</Tag>}
                </span>
                {it.score !== undefined && <Mixture parts={it.parts} best={best} />}
              </span>
            </button>
          )}
        />
      </div>
    </Page>
  );
}

/** Asks when Enter is pressed, or the field is left empty. */
function SearchField({ asked, ask, class: more }: { asked: string; ask: (query: string) => void; class?: string }): JSX.Element {
  const typed = useSignal(asked);
  useEffect(() => { typed.value = asked; }, [asked]);
  return (
    <span class={`row ${more ?? ""}`}>
      <Field
        label="Ask memory" icon="find" placeholder="What does it remember about …?" class="grow" value={typed.value}
        onInput={(e) => (typed.value = e.currentTarget.value)}
        onKeyDown={(e) => {
          if (e.key === "Enter") ask(typed.value.trim());
          if (e.key === "Escape" && typed.value !== "") { e.stopPropagation(); typed.value = ""; ask(""); }
        }}
      />
      {asked !== "" && <IconButton small icon="no" label="Clear the question" onClick={() => { typed.value = ""; ask(""); }} />}
    </span>
  );
}
