/** How much happened when, and a slider below it that goes back in time. */
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import type { JournalRecord } from "../../api/types.ts";
import { clock, count, dayAndTime, fullTime } from "../../text.ts";
import { Button } from "../../ui/parts.tsx";
import type { Journal } from "./events.ts";
import { lookOf } from "./kinds.ts";

const BINS = 48;
const HEIGHT = 44;

/** The times of events; reading a text as a time takes long for many of them, and they never change. */
const times = new WeakMap<JournalRecord, number>();
function timeOf(it: JournalRecord): number {
  let time = times.get(it);
  if (time === undefined) times.set(it, (time = Date.parse(it.at)));
  return time;
}

interface Bin {
  all: number;
  done: number;
  thought: number;
  asked: number;
}

function binsOf(events: readonly JournalRecord[], from: number, to: number): Bin[] {
  const bins = Array.from({ length: BINS }, (): Bin => ({ all: 0, done: 0, thought: 0, asked: 0 }));
  const span = Math.max(1, to - from);
  for (const it of events) {
    const bin = bins[Math.max(0, Math.min(BINS - 1, Math.floor(((timeOf(it) - from) / span) * BINS)))]!;
    const { tone } = lookOf(it.kind);
    bin.all += 1;
    if (tone === "do") bin.done += 1;
    if (tone === "th") bin.thought += 1;
    if (tone === "ask") bin.asked += 1;
  }
  return bins;
}

interface HistogramProps {
  journal: Journal;
  version: number;
  /** The event up to which the state is shown; undefined is now. */
  then: number | undefined;
  travel: (to: number | undefined) => void;
}

/** The histogram of the events that were read. */
export function Histogram({ journal, version, then, travel }: HistogramProps): JSX.Element | null {
  const { events } = journal;
  const first = events[0];
  const last = events.at(-1);
  const from = first ? timeOf(first) : 0;
  const to = last ? Math.max(timeOf(last), from + 1) : 1;
  const bins = useMemo(() => binsOf(events, from, to), [version]);
  if (!first || !last) return null;
  const most = Math.max(1, ...bins.map((it) => it.all));
  // The root lets small bins be seen beside a large one.
  const high = (number: number, of: number) => (of === 0 ? 0 : (Math.sqrt(of / most) * (HEIGHT - 9) * number) / of);
  const place = then === undefined ? events.length - 1 : Math.max(0, journal.before(then));
  const shown = events[place]!;
  const value = then === undefined ? to : timeOf(shown);
  const put = (at: number) => travel(at >= events.length - 1 && !journal.detached ? undefined : events[Math.max(0, Math.min(events.length - 1, at))]!.event);
  const slide = (ms: number) => {
    if (ms >= to) return put(events.length - 1);
    const at = events.findLastIndex((it) => timeOf(it) <= ms);
    put(Math.max(0, at));
  };
  const steps: Record<string, number> = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -20, PageUp: 20 };
  const key = (e: KeyboardEvent) => {
    const step = steps[e.key];
    const end = e.key === "Home" ? 0 : e.key === "End" ? events.length - 1 : undefined;
    if (step === undefined && end === undefined) return;
    e.preventDefault();
    put(end ?? place + step!);
  };
  const width = 960 / BINS;
  const day = new Date(from).toDateString() !== new Date(to).toDateString();
  return (
    <div class="time">
      <svg viewBox={`0 0 960 ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={`${count(events.length, "event")} from ${fullTime(first.at)} to ${fullTime(last.at)}`}>
        {bins.map((it, at) => {
          const whole = high(it.all, it.all);
          const done = high(it.done, it.all);
          const thought = high(it.thought, it.all);
          const x = at * width + 1;
          const later = then !== undefined && from + ((at + 0.5) / BINS) * (to - from) > value;
          return it.all > 0 && (
            <g class={later ? "later" : ""}>
              <rect x={x} y={HEIGHT - whole} width={width - 2} height={whole} />
              <rect class="do" x={x} y={HEIGHT - done} width={width - 2} height={done} />
              <rect class="th" x={x} y={HEIGHT - done - thought} width={width - 2} height={thought} />
              {it.asked > 0 && <rect class="ask" x={x + width / 2 - 3} y={HEIGHT - whole - 8} width={5} height={5} rx={2} />}
            </g>
          );
        })}
      </svg>
      <input
        type="range" min={from} max={to} step="any" value={value} aria-label="How far back" aria-valuetext={then === undefined ? "now" : `after event ${shown.event}, ${fullTime(shown.at)}`}
        onInput={(e) => slide(Number(e.currentTarget.value))} onKeyDown={key}
      />
      <div class="row dim t1">
        {day ? dayAndTime(first.at) : clock(first.at)}
        {!journal.complete && <Button small look="bare" class="earlier" onClick={() => void journal.older()}>Read further back</Button>}
        <span class="grow" />
        <span class="keyed"><i class="k-do" />did</span><span class="keyed"><i class="k-th" />thought</span><span class="keyed"><i class="k-ask" />asked</span>
        {journal.detached ? dayAndTime(last.at) : "now"}
      </div>
    </div>
  );
}
