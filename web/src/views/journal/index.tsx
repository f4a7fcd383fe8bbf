/** Journal: everything the agent perceived, decided and did, by request; with a slider that shows it as it was. */
import "./style.css";
import { useSignal } from "@preact/signals";
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { onKey } from "../../shell/keys.tsx";
import type { ViewProps } from "../../shell/places.ts";
import { detailsOpen, read } from "../../state/app.ts";
import { agent, go } from "../../state/route.ts";
import { count, dayAndTime, firstLine, fullTime, readable, withoutEscapes } from "../../text.ts";
import { Icon } from "../../ui/icons.tsx";
import { Page } from "../../ui/page.tsx";
import { Button, Coded, Field, IconButton, Text } from "../../ui/parts.tsx";
import { Empty, Fault, Loading } from "../../ui/states.tsx";
import { VirtualList } from "../../ui/virtual.tsx";
import { Answer, JournalEvent, stateSays } from "./details.tsx";
import { Journal as Events } from "./events.ts";
import { Histogram } from "./histogram.tsx";
import { type Filter, FILTERS, filtersOf, kindsOf, lookOf } from "./kinds.ts";
import { type Row, rowsOf } from "./rows.ts";

const keyOf = (row: Row): string | number => ("head" in row ? row.head.key : row.record.event);
const number = (text: string | null | undefined): number | undefined => (text && /^\d+$/.test(text) ? Number(text) : undefined);

export default function Journal({ id, query }: ViewProps): JSX.Element {
  const of = agent.value;
  const only = query.get("only") ?? "";
  const then = number(query.get("then"));
  const question = query.get("why") ?? "";
  const journal = useMemo(() => new Events(of, kindsOf(filtersOf(only))), [of, only]);
  useEffect(() => {
    void journal.start();
    return () => journal.end();
  }, [journal]);

  const progress = journal.progress.value;
  const version = journal.version.value;
  const rows = useMemo(() => rowsOf(journal.events), [journal, version]);
  const asked = number(id);
  const chosen = asked ?? then ?? undefined;
  // Without a choice the details show the newest event, as it was when the view was opened: they do not run ahead.
  const first = useRef<{ journal: Events; event: number | undefined }>({ journal, event: undefined });
  if (first.current.journal !== journal) first.current = { journal, event: undefined };
  first.current.event ??= journal.events.at(-1)?.event;
  const event = chosen ?? first.current.event;
  const at = event === undefined ? -1 : rows.findIndex((row) => "record" in row && row.record.event === event);

  // An event that the address names may be further back than what was read.
  useEffect(() => {
    if (chosen !== undefined && progress.kind === "there" && !journal.has(chosen)) void journal.reach(chosen);
  }, [journal, chosen, progress.kind]);

  const show = (to: { id?: number | undefined; then?: number | undefined; only?: string; why?: string }, replace = false) => {
    const next = { id: asked, then, only, why: question, ...to };
    go("journal", next.id, { then: next.then === undefined ? undefined : String(next.then), only: next.only || undefined, why: next.why || undefined }, replace);
  };
  const travel = (to: number | undefined) => show({ id: to ?? asked, then: to, why: "" }, true);
  const open = (to: number) => {
    show({ id: to, why: "", then: then === undefined ? undefined : to });
    detailsOpen.value = true;
  };

  const latest = useRef({ rows, at, show });
  latest.current = { rows, at, show };
  useEffect(() => onKey((key) => {
    if (key !== "j" && key !== "k") return false;
    const { rows, at, show } = latest.current;
    const step = key === "j" ? 1 : -1;
    for (let next = at + step; next >= 0 && next < rows.length; next += step) {
      const row = rows[next]!;
      if ("record" in row) {
        show({ id: row.record.event, why: "" }, true);
        break;
      }
    }
    return true;
  }), []);

  const filters = filtersOf(only);
  const toggle = (filter: Filter) => {
    const next = new Set(filters);
    if (!next.delete(filter)) next.add(filter);
    show({ only: FILTERS.map((it) => it.key).filter((it) => next.has(it)).join(","), id: undefined, then: undefined });
  };
  const phone = useNarrow();
  const list = useRef<HTMLDivElement>(null);
  const toTop = () => {
    const box = list.current?.querySelector<HTMLElement>(".body");
    if (box) box.scrollTop = 0;
    if (journal.detached) {
      show({ id: undefined, then: undefined }, true);
      void journal.newest();
    }
    journal.hold(false);
  };

  let aside: ComponentChildren;
  if (question !== "") aside = <Answer question={question} agent={of} />;
  else if (event !== undefined) aside = <JournalEvent event={event} agent={of} travelled={then !== undefined} travel={travel} />;

  return (
    <Page
      title="Journal" sub="everything it perceived, decided and did" aside={aside} asideLabel={question ? "Why" : "Event"}
      actions={<Ask question={question} ask={(it) => { show({ why: it }); detailsOpen.value = it !== ""; }} />}
    >
      {progress.kind === "failed" ? <div class="body scroll" tabIndex={0} role="region" aria-label="Events"><Fault error={progress.why} again={() => void journal.start()} /></div> : (
        <>
          {progress.kind === "there" && <Histogram journal={journal} version={version} then={then} travel={travel} />}
          <div class="jbar">
            <div class="chips" role="group" aria-label="Kinds of events">
              <Button small aria-pressed={filters.size === 0} onClick={() => show({ only: "", id: undefined, then: undefined })}>All</Button>
              {FILTERS.map((it) => <Button small aria-pressed={filters.has(it.key)} onClick={() => toggle(it.key)}>{it.name}</Button>)}
            </div>
          </div>
          {then !== undefined && <Back then={then} agent={of} now={() => travel(undefined)} />}
          {progress.kind === "loading" ? <div class="body scroll" tabIndex={0} role="region" aria-label="Events"><Loading lines={9} /></div>
            : rows.length === 0 ? <div class="body scroll" tabIndex={0} role="region" aria-label="Events"><Empty title={filters.size > 0 ? "Nothing of this kind has happened." : "Nothing has happened yet."}>{filters.size > 0 ? "Choose other kinds above." : "Ask it something; each step stands here then, with why."}</Empty></div>
              : (
                <div class="jlist" ref={list} onScrollCapture={(e) => journal.hold((e.target as HTMLElement).scrollTop > 60)}>
                  {(journal.held.value > 0 || journal.detached) && <Button small look="main" icon="up" class="fresher" onClick={toTop}>{journal.detached ? "To the newest" : count(journal.held.value, "new event")}</Button>}
                  <VirtualList
                    items={rows} rowHeight={phone ? 40 : 30} label="Events" keyOf={keyOf} reveal={chosen !== undefined && at >= 0 ? at : undefined} atEnd={() => void journal.older()}
                    row={(row) => "head" in row ? (
                      <div class="turnh"><h2 class="clip"><Text text={firstLine(withoutEscapes(row.head.title), 160)} /></h2><span class="dim t2">{dayAndTime(row.head.at)}</span></div>
                    ) : <EventRow row={row} current={row.record.event === event} later={then !== undefined && row.record.event > then} open={open} />}
                  />
                </div>
              )}
        </>
      )}
    </Page>
  );
}

function EventRow({ row, current, later, open }: { row: Extract<Row, { record: unknown }>; current: boolean; later: boolean; open: (event: number) => void }): JSX.Element {
  const it = row.record;
  const look = lookOf(it.kind);
  return (
    <button type="button" class={`jr ${look.tone}${later ? " later" : ""}`} aria-current={current ? "true" : undefined} onClick={() => open(it.event)}>
      <time dateTime={it.at} title={fullTime(it.at)}>{seconds(it.at)}</time>
      <Icon name={look.icon} small />
      <span class="clip"><Coded text={firstLine(readable(withoutEscapes(it.text)), 300)} /></span>
      <span class="jn">{it.event}</span>
    </button>
  );
}

const seconds = (at: string): string => {
  const date = new Date(at);
  return Number.isNaN(date.getTime()) ? "" : date.toLocaleTimeString("en-GB");
};

/** Says that the past is shown, and what it was. */
function Back({ then, agent: of, now }: { then: number; agent: string | undefined; now: () => void }): JSX.Element {
  const says = useSignal("");
  useEffect(() => {
    // The slider passes many events; only where it rests is read.
    let current = true;
    const timer = setTimeout(() => {
      read("getJournalByEventState", { event: then, agent: of }).then(
        (it) => { if (current) says.value = `${fullTime(it.at)}. ${stateSays(it)}`; },
        (error) => { if (current) says.value = String(error?.message ?? ""); },
      );
    }, 150);
    return () => { current = false; clearTimeout(timer); };
  }, [then, of]);
  return (
    <div class="note jback" role="status">
      <Icon name="clock" />
      <span class="grow"><b>As it was after event {then}. </b><Text text={says.value} /> Nothing is run again: this is read, not replayed.</span>
      <Button small onClick={now}>Back to now</Button>
    </div>
  );
}

function Ask({ question, ask }: { question: string; ask: (question: string) => void }): JSX.Element {
  const typed = useSignal(question);
  useEffect(() => { typed.value = question; }, [question]);
  return (
    <span class="row jask">
      <Field
        label="Ask why" icon="find" placeholder="Why did you …?" class="grow" value={typed.value} onInput={(e) => (typed.value = e.currentTarget.value)}
        onKeyDown={(e) => { if (e.key === "Enter") ask(typed.value.trim()); if (e.key === "Escape" && question) { e.stopPropagation(); ask(""); } }}
      />
      {question !== "" && <IconButton small icon="no" label="Clear the question" onClick={() => ask("")} />}
    </span>
  );
}

/** Whether rows are as high as a finger needs. */
function useNarrow(): boolean {
  const [narrow, set] = useState(() => matchMedia("(max-width: 700px)").matches);
  useEffect(() => {
    const list = matchMedia("(max-width: 700px)");
    const look = () => set(list.matches);
    list.addEventListener("change", look);
    return () => list.removeEventListener("change", look);
  }, []);
  return narrow;
}
