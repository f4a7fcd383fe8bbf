/** What the score of a record is made of. */
import type { JSX } from "preact";
import type { Part } from "./records.ts";

/** The signs of a score, in words; signs of one kind share a colour. */
const SIGNS: Record<string, { says: string; kind: string }> = {
  words: { says: "words of the question", kind: "words" },
  expansion: { says: "words that keep company with them", kind: "words" },
  neighbours: { says: "what was said beside it", kind: "talk" },
  session: { says: "the conversation as a whole", kind: "talk" },
  speaker: { says: "the speaker is named", kind: "speaker" },
  graph: { says: "connected in the graph", kind: "graph" },
  vector: { says: "meaning", kind: "meaning" },
  date: { says: "a date that the question names", kind: "time" },
  recent: { says: "how new it is", kind: "time" },
  standing: { says: "how firmly it is held", kind: "firm" },
  asking: { says: "it is itself a question", kind: "firm" },
};
const KINDS: [kind: string, says: string][] = [
  ["words", "words"], ["talk", "the conversation"], ["speaker", "the speaker"], ["graph", "the graph"],
  ["meaning", "meaning"], ["time", "time"], ["firm", "how firmly it is held"],
];

export const signSays = (sign: string): string => SIGNS[sign]?.says ?? sign;
const kindOf = (sign: string): string => SIGNS[sign]?.kind ?? "firm";

/** The parts as a bar; `best` is the score of the best record, which fills it. */
export function Mixture({ parts, best }: { parts: readonly Part[]; best: number }): JSX.Element {
  const sums = KINDS.map(([kind, says]) => ({ kind, says, sum: parts.filter((it) => kindOf(it.sign) === kind).reduce((sum, it) => sum + it.part, 0) })).filter((it) => it.sum > 0);
  const label = `made of ${sums.map((it) => `${it.says} ${it.sum.toFixed(2)}`).join(", ")}`;
  return (
    <span class="mix" role="img" aria-label={label} title={label}>
      {sums.map((it) => <i class={`sg-${it.kind}`} style={{ width: `${(100 * it.sum) / Math.max(best, 0.001)}%` }} />)}
    </span>
  );
}

/** What the colours mean; only those that occur. */
export function Legend({ parts }: { parts: readonly Part[] }): JSX.Element {
  const there = new Set(parts.map((it) => kindOf(it.sign)));
  return (
    <p class="legend dim t2">
      A score is made of{" "}
      {KINDS.filter(([kind]) => there.has(kind)).map(([kind, says]) => <span class="keyed"><i class={`sg-${kind}`} />{says}</span>)}
    </p>
  );
}

/** Each part with its figure. What takes from the score is written with a minus. */
export function Parts({ parts, score }: { parts: readonly Part[]; score: number }): JSX.Element {
  const most = Math.max(...parts.map((it) => Math.abs(it.part)), 0.001);
  return (
    <table class="mem-parts">
      <caption class="hush">What the score is made of</caption>
      <tbody>
        {parts.map((it) => (
          <tr>
            <th scope="row">{signSays(it.sign)}</th>
            <td class="grow"><span class="bar"><i class={it.part < 0 ? "sg-less" : `sg-${kindOf(it.sign)}`} style={{ width: `${(100 * Math.abs(it.part)) / most}%` }} /></span></td>
            <td class="num r">{it.part < 0 ? "−" : ""}{Math.abs(it.part).toFixed(2)}</td>
          </tr>
        ))}
        <tr class="sum"><th scope="row">together</th><td /><td class="num r">{score.toFixed(2)}</td></tr>
      </tbody>
    </table>
  );
}
