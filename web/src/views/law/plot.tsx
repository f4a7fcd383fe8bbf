/** The test of a proposal: an episode is a dot, and the mean scores are a line. */
import type { JSX } from "preact";
import type { LawFigures, LawTest } from "../../api/types.ts";
import { count } from "../../text.ts";
import { Text } from "../../ui/parts.tsx";

/** Most dots; of more, each stands for several. */
const MOST = 100;

/** The figures in a sentence. */
export function figuresSay(it: LawFigures): string {
  if (it.episodes === 0) return "There is no recorded episode to test it on.";
  const parts = [`${it.same} the same`, `${it.better} better`, it.worse === 0 ? "none worse" : `${it.worse} worse`];
  const unknown = it.unknown === 0 ? "" : `; ${it.unknown} would have gone another way and ${it.unknown === 1 ? "was" : "were"} not counted`;
  return `${parts.join(", ")}${unknown}.`;
}

/** The verdict in a sentence. */
export function verdictSays(verdict: unknown): { says: string; good: boolean | undefined } {
  if (typeof verdict === "string") return { says: verdict, good: undefined };
  const [name, value] = Object.entries((verdict ?? {}) as Record<string, Record<string, unknown>>)[0] ?? ["", {}];
  const number = (field: string) => Number(value[field] ?? 0);
  switch (name) {
    case "better": {
      const interval = value["interval"];
      const range = Array.isArray(interval) ? `, between ${Number(interval[0]).toFixed(2)} and ${Number(interval[1]).toFixed(2)}` : "";
      return { says: `Better: the mean score is higher by ${number("by").toFixed(3)}${range}. Chance alone would seldom give this.`, good: true };
    }
    case "not-better": return { says: `No difference beyond noise: ${number("by").toFixed(3)} in the mean.`, good: undefined };
    case "worse": return { says: `Worse: the mean score is lower by ${Math.abs(number("by")).toFixed(3)}.`, good: false };
    case "too-few": return { says: number("have") === 0 ? "Too few to say: no recorded episode would have gone otherwise." : `Too few to say: ${number("have")} would have been better, and ${number("need")} are needed.`, good: undefined };
    case "diverged": return { says: `In ${Math.round(number("share") * 100)} % of the episodes it would have acted otherwise, so that the outcome is not known.`, good: undefined };
    case "worn-out": return { says: `The episodes that were held out have answered ${number("questions")} proposals already.`, good: undefined };
    default: return { says: JSON.stringify(verdict), good: undefined };
  }
}

function Dots({ of }: { of: LawFigures }): JSX.Element {
  const each = Math.max(1, Math.ceil(of.episodes / MOST));
  const many = (number: number) => Math.min(MOST, number === 0 ? 0 : Math.max(1, Math.round(number / each)));
  const row = (number: number, kind: string) => Array.from({ length: many(number) }, () => <i class={kind} />);
  return (
    <>
      <div class="dots" role="img" aria-label={`${count(of.episodes, "episode")}: ${figuresSay(of)}`}>{row(of.same, "")}{row(of.better, "up")}{row(of.worse, "dn")}{row(of.unknown, "df")}</div>
      {each > 1 && <p class="t1 dim">A dot is {each} episodes.</p>}
    </>
  );
}

/** The mean score before and after; the lines above and below are the ends of the scale. */
function Means({ of }: { of: LawFigures }): JSX.Element | null {
  if (of.episodes === 0 || of.episodes === of.unknown) return null;
  const least = Math.max(0, Math.floor((Math.min(of.before, of.after) - 0.05) * 10) / 10);
  const most = Math.min(1, Math.ceil((Math.max(of.before, of.after) + 0.05) * 10) / 10);
  const y = (score: number) => 34 - ((score - least) / Math.max(0.1, most - least)) * 28;
  const tone = of.after > of.before + 0.0005 ? "up" : of.after < of.before - 0.0005 ? "dn" : "";
  return (
    <div class="means">
      <svg class={`slope ${tone}`} viewBox="0 0 112 40" width="112" height="40" role="img" aria-label={`Mean score ${of.before.toFixed(3)} under the law in force, ${of.after.toFixed(3)} under the proposed one`}>
        <line class="base" x1="4" x2="88" y1="34" y2="34" /><line class="base" x1="4" x2="88" y1="6" y2="6" />
        <text x="92" y="9.5">{most.toFixed(1)}</text><text x="92" y="37.5">{least.toFixed(1)}</text>
        <line class="run" x1="14" y1={y(of.before)} x2="78" y2={y(of.after)} />
        <circle cx="14" cy={y(of.before)} r="3.4" /><circle class="to" cx="78" cy={y(of.after)} r="3.4" />
      </svg>
      <span class="t2 dim num">mean score<br /><b>{of.before.toFixed(3)} → {of.after.toFixed(3)}</b></span>
    </div>
  );
}

/** One test with its plot, figures and verdict. */
export function TestResult({ title, test }: { title: string; test: LawTest }): JSX.Element {
  const { figures } = test;
  const reasons = Object.entries(figures.reasons ?? {});
  const verdict = verdictSays(test.verdict);
  return (
    <section class="stack tight">
      <h3 class="sect">{title}</h3>
      {figures.episodes > 0 && <Dots of={figures} />}
      <p class="t2 soft">{figuresSay(figures)}</p>
      <Means of={figures} />
      <p class={`t2 verdict ${verdict.good === true ? "good" : verdict.good === false ? "bad" : ""}`}>{verdict.says}</p>
      {reasons.length > 0 && <ul class="t2 dim">{reasons.map(([why, number]) => <li>not counted: <Text text={why} />{Number(number) > 1 && ` (${Number(number)})`}</li>)}</ul>}
    </section>
  );
}
