/** The audit: what is in memory, and what is wrong with it, in words. */
import type { JSX } from "preact";
import { count, grouped } from "../../text.ts";
import { Aside } from "../../ui/page.tsx";
import { Button, Note } from "../../ui/parts.tsx";
import type { Audit } from "./read.ts";

/** What is counted, what it means, and whether it is a fault. */
const COUNTED: [key: keyof Audit, name: string, what: string, fault: boolean][] = [
  ["unsettled", "Contradictions that are open", "two certain records that cannot both be true", true],
  ["without_reason", "Kept without a reason", "nothing lasting should be", true],
  ["echoes", "Echoes", "its own words, said after it had recalled them", true],
  ["recall_loops", "Recall loops", "records that are supported by themselves", true],
  ["duplicates", "Said twice", "the same in other words", true],
  ["contradictions", "Contradictions", "found in all; the surer one prevails", false],
  ["uncertain", "In doubt", "something surer contradicts them", false],
  ["hypotheses", "Hypotheses", "supposed, and not confirmed", false],
  ["never_read", "Never read", "lasting records that nothing has asked for", false],
  ["forgotten", "Forgotten", "tombstones: when, why, and a hash", false],
  ["embedded", "With a vector", "found by meaning, too", false],
];

export function AuditDetails({ audit, again }: { audit: Audit; again: () => void }): JSX.Element {
  const faults = COUNTED.filter(([key, , , fault]) => fault && Number(audit[key] ?? 0) > 0);
  return (
    <Aside title="Audit">
      <div class="stack loose">
        <Note tone={audit.clean ? undefined : "bad"} icon={audit.clean ? "ok" : "no"}>
          <b>{audit.clean ? "Clean. " : "Not clean. "}</b>
          {audit.clean ? `${count(audit.records, "record")}, none of which supports itself or lacks its reason.` : `${faults.map(([key, name]) => `${name.toLowerCase()}: ${grouped(Number(audit[key]))}`).join("; ") || "The server says so"}.`}
        </Note>
        <dl class="mem-counts">
          {COUNTED.map(([key, name, what, fault]) => {
            const number = Number(audit[key] ?? 0);
            return <div class={fault && number > 0 ? "bad" : ""}><dt>{name}<small>{what}</small></dt><dd class="num">{grouped(number)}</dd></div>;
          })}
        </dl>
        <div class="row"><Button small icon="redo" onClick={again}>Audit again</Button></div>
      </div>
    </Aside>
  );
}
