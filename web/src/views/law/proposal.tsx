/** A proposal to change the law: what, why, how it did in the tests, and the decision. */
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { Proposal } from "../../api/types.ts";
import { refusal } from "../../api/refusal.ts";
import { onKey } from "../../shell/keys.tsx";
import { change, displayName, may } from "../../state/app.ts";
import { Icon, type IconName } from "../../ui/icons.tsx";
import { Button, EventLink, Note, Tag, Text, type Tone } from "../../ui/parts.tsx";
import { notify, say } from "../../ui/say.ts";
import { TestResult } from "./plot.tsx";
import { changedLine, short } from "./rules.ts";

/** Standings in words, with their tone. */
const STANDINGS: Record<string, { says: string; tone: Tone | undefined; icon: IconName }> = {
  testing: { says: "being tested", tone: "think", icon: "clock" },
  "rate-limited": { says: "waits for its turn", tone: undefined, icon: "clock" },
  "awaiting-approval": { says: "waits for you", tone: "need", icon: "law" },
  adopted: { says: "adopted", tone: "good", icon: "ok" },
  refused: { says: "refused by the checks", tone: "bad", icon: "lock" },
  failed: { says: "failed its test", tone: "bad", icon: "no" },
  rejected: { says: "rejected", tone: "bad", icon: "no" },
  withdrawn: { says: "withdrawn", tone: undefined, icon: "undo" },
  expired: { says: "too late", tone: undefined, icon: "clock" },
  stale: { says: "overtaken", tone: undefined, icon: "undo" },
  "rolled-back": { says: "taken back by itself", tone: "bad", icon: "undo" },
};
export const standingOf = (standing: string) => STANDINGS[standing] ?? { says: standing, tone: undefined, icon: "law" as IconName };
export const isOpen = (it: Proposal): boolean => ["testing", "rate-limited", "awaiting-approval"].includes(it.standing);

/** `birth`, `operator`, an agent or a person, as the one who proposed. */
export function author(by: string): string {
  if (by === "birth") return "born with it";
  return by === "own" || by === "self" ? "itself" : displayName(by);
}

/** Who would like what, in words: the name of the value, or that a rule is added or removed. */
function titleOf(it: Proposal): string {
  const path = it.target.split(/[.[\]]+/).filter(Boolean);
  const words = (name: string) => name.replace(/_/g, " ").replace(/([a-z])([A-Z])/g, "$1 $2").toLowerCase();
  const list = words(path.filter((name) => !/^\d+$/.test(name)).at(-1) ?? it.target);
  const by = author(it.by);
  const wish = `${by === "itself" ? "It" : by} would like to`;
  if (it.change === null) return `${wish} remove a rule: ${list}`;
  if (typeof it.change === "object" || /^\+=\s*\{/.test(String(it.change))) return `${wish} add or change a rule: ${list}`;
  return `${wish} change “${list}”`;
}

/** What a proposal changes, each value struck and new. */
export function ChangedLines({ lines }: { lines: readonly string[] }): JSX.Element {
  return (
    <ul class="stack tight">
      {lines.map((line) => {
        const it = changedLine(line);
        return <li class="from-to"><Text text={it.place} />{it.was !== undefined && <del><Text text={it.was} /></del>}{it.was !== undefined && it.now !== undefined && <span aria-hidden="true">→</span>}{it.now !== undefined && <ins><Text text={it.now} /></ins>}</li>;
      })}
    </ul>
  );
}

/** All there is about a proposal, without its frame. */
export function ProposalBody({ it, agent }: { it: Proposal; agent: string | undefined }): JSX.Element {
  return (
    <div class="stack loose">
      <div class="stack tight">
        {it.lines && it.lines.length > 0 ? <ChangedLines lines={it.lines} /> : <p class="from-to"><Text text={it.target} /> <ins><Text text={short(it.change)} /></ins></p>}
        <p class="soft">Because <Text text={it.justification} />{(it.evidence ?? []).map((event) => <> <EventLink event={event} of={agent} /></>)}</p>
        {(it.evidence ?? []).length === 0 && <p class="dim t2">No event of the journal is named as evidence.</p>}
      </div>
      {(it.trial || it.held_out) && (
        <div class="ev-grid">
          {it.trial && <TestResult title={it.trial.figures.episodes > 0 ? `The last ${it.trial.figures.episodes} episodes, done again` : "Recorded episodes, done again"} test={it.trial} />}
          {it.held_out && <TestResult title={`${it.held_out.figures.episodes} that the proposer did not see`} test={it.held_out} />}
        </div>
      )}
      {it.standing !== "refused" && (
        <ul class="gate">
          <li><Icon name="ok" small />Within bounds; nothing frozen is touched, and it gives no new authority.</li>
          <li><Icon name={it.major ? "hand" : "ok"} small />{it.major ? "Major: it adds or removes rules, or is about approvals, skills, trust or budgets. A person has to agree." : "Minor: it is about confidences, thresholds, priorities or how much is recalled."}</li>
        </ul>
      )}
    </div>
  );
}

interface CardProps {
  it: Proposal;
  agent: string | undefined;
  /** Reads everything again. */
  changed: () => void;
  edit: (it: Proposal) => void;
  undo: (version: number, why: string) => void;
}

/** A proposal that is open: the one thing on this page that waits for a person. */
export function ProposalCard({ it, agent, changed, edit, undo }: CardProps): JSX.Element {
  const busy = useSignal("");
  const refused = useSignal("");
  const asking = useSignal(false);
  const reason = useSignal("");
  const field = useRef<HTMLInputElement>(null);
  const waits = it.standing === "awaiting-approval";
  const mayEnd = waits || it.standing === "rate-limited";
  const allowed = may("operate");
  const standing = standingOf(it.standing);

  const run = async (name: string, work: () => Promise<void>) => {
    if (busy.value !== "") return;
    busy.value = name;
    refused.value = "";
    try {
      await work();
      changed();
      // The button that was pressed goes with the card.
      if (name !== "test") requestAnimationFrame(() => document.querySelector<HTMLElement>(".law-rules")?.focus({ preventScroll: true }));
    } catch (error) {
      const why = refusal(error);
      refused.value = why.hint ? `${why.message} ${why.hint}` : why.message;
    }
    busy.value = "";
  };
  const adopt = () => run("adopt", async () => {
    const after = await change("postAgentLawApprove", { agent, proposal: it.proposal! });
    const version = after.version;
    if (after.standing === "adopted" && version !== undefined) notify(`Adopted. The law is version ${version}.`, "Undo", () => undo(version - 1, `proposal ${it.proposal} was adopted by mistake`));
    else notify(after.says);
  });
  const reject = () => run("reject", async () => {
    await change("postAgentLawReject", { agent, proposal: it.proposal!, why: reason.value.trim() });
    asking.value = false;
    notify("Not adopted. The proposal is kept, with its figures and your reason.");
  });
  const test = () => run("test", async () => {
    const after = await change("postAgentLawTest", { agent, proposal: it.proposal! });
    say(after.says);
  });
  const ask = () => {
    asking.value = true;
    requestAnimationFrame(() => field.current?.focus());
  };
  const shown = useRef(performance.now());
  const keys = useRef({ adopt, ask, edit });
  keys.current = { adopt, ask, edit };
  useEffect(() => onKey((key) => {
    // A key answers only what has been in sight for a moment.
    if (!mayEnd || !allowed || performance.now() - shown.current < 600) return false;
    if (key === "a" && waits) void keys.current.adopt();
    else if (key === "e" && waits) keys.current.edit(it);
    else if (key === "r") keys.current.ask();
    else return false;
    return true;
  }), [it.proposal, mayEnd, waits, allowed]);

  const title = `proposal-${it.proposal}`;
  return (
    <div class={waits ? "ask" : "ask done"} role="group" aria-labelledby={title}>
      <header>
        <Icon name={standing.icon} />
        <div class="grow">
          <h2 id={title}><Text text={titleOf(it)} /></h2>
          <div class="sub"><span>proposed by <Text text={author(it.by)} /></span>{!waits && <Tag tone={standing.tone}>{standing.says}</Tag>}<span>{it.major ? "major" : "minor: no new power"}</span>{it.events.map((event) => <EventLink event={event} of={agent} />)}</div>
        </div>
      </header>
      <div class="prop"><ProposalBody it={it} agent={agent} /></div>
      {!waits && <p class="prop dim first"><Text text={it.says} />.</p>}
      {mayEnd && (
        <footer>
          {waits && <p class="t2 soft first"><Text text={it.says} />. One click undoes it later.</p>}
          {refused.value && <Note tone="bad" icon="no"><b><Text text={refused.value} /></b> The law is as it was.</Note>}
          {!allowed ? <Note icon="lock"><b>You may look, not decide. </b>Deciding about the law needs the permission to operate the server.</Note> : asking.value ? (
            <form class="why-no" onSubmit={(e) => { e.preventDefault(); if (reason.value.trim() !== "") void reject(); }}>
              <label class="field"><input ref={field} aria-label="Why not?" placeholder="Why not? It is kept with the proposal." value={reason.value} onInput={(e) => (reason.value = e.currentTarget.value)} onKeyDown={(e) => { if (e.key === "Escape") asking.value = false; }} /></label>
              <Button look="warn" type="submit" disabled={reason.value.trim() === "" || busy.value !== ""}>Reject</Button>
              <Button look="bare" onClick={() => (asking.value = false)}>Back</Button>
            </form>
          ) : (
            <div class="row wrap">
              {waits && <Button look="main" icon="ok" disabled={busy.value !== ""} onClick={() => void adopt()}>Adopt</Button>}
              {waits && <Button icon="pen" disabled={busy.value !== ""} onClick={() => edit(it)}>Change it first…</Button>}
              <Button look="warn" disabled={busy.value !== ""} onClick={ask}>Reject…</Button>
              {waits && <Button look="bare" icon="redo" disabled={busy.value !== ""} onClick={() => void test()}>{busy.value === "test" ? "Testing" : "Test again"}</Button>}
            </div>
          )}
        </footer>
      )}
    </div>
  );
}
