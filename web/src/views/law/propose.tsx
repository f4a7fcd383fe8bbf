/** A change that a person proposes: a place, a value and a reason. It passes the same gate as the agent's own. */
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { refusal } from "../../api/refusal.ts";
import { change } from "../../state/app.ts";
import { Aside } from "../../ui/page.tsx";
import { Button, Note, Text } from "../../ui/parts.tsx";
import { notify } from "../../ui/say.ts";
import { short, typedValue, valueAt } from "./rules.ts";
import type { Fields, Proposal } from "../../api/types.ts";

interface ProposeProps {
  agent: string | undefined;
  law: Fields;
  /** The place that it is about, if one was chosen. */
  path: string;
  /** The proposal that this one is to stand instead of. */
  instead: Proposal | undefined;
  places: readonly string[];
  close: () => void;
  done: (proposal: number | undefined) => void;
}

/** The form. */
export function Propose({ agent, law, path, instead, places, close, done }: ProposeProps): JSX.Element {
  const target = useSignal(path);
  const value = useSignal(instead ? short(instead.change) : path === "" ? "" : short(valueAt(law, path) ?? ""));
  const why = useSignal(instead?.justification ?? "");
  const events = useSignal((instead?.evidence ?? []).join(", "));
  const busy = useSignal(false);
  const refused = useSignal("");
  const place = useRef<HTMLInputElement>(null);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const first = path === "" ? place.current : field.current;
    first?.focus();
    first?.select();
  }, [path]);
  // The empty place is the whole law, which is not proposed as one value.
  const now = target.value.trim() === "" ? undefined : valueAt(law, target.value);
  const evidence = () => events.value.split(/[\s,]+/).map(Number).filter((it) => Number.isInteger(it) && it > 0);
  const complete = target.value.trim() !== "" && value.value.trim() !== "" && why.value.trim() !== "";

  const send = async (e: Event) => {
    e.preventDefault();
    if (busy.value || !complete) return;
    busy.value = true;
    refused.value = "";
    try {
      if (instead?.proposal !== undefined) await change("postAgentLawReject", { agent, proposal: instead.proposal, why: `another value is proposed instead: ${why.value.trim()}` });
      const reply = await change("postAgentLawPropose", { agent, target: target.value.trim(), change: typedValue(value.value), justification: why.value.trim(), evidence: evidence() });
      notify(reply.standing === "adopted" ? `Adopted. The law is version ${reply.version}.` : "Proposed and tested. See what it gave.");
      done(reply.proposal);
    } catch (error) {
      const it = refusal(error);
      refused.value = it.hint ? `${it.message} ${it.hint}` : it.message;
      // A refusal is kept among the proposals, too.
      done(undefined);
    }
    busy.value = false;
  };

  return (
    <Aside title={instead ? "Change it first" : "Propose a change"}>
      <form class="stack loose" onSubmit={(e) => void send(e)}>
        {instead && <p class="soft">Proposal {instead.proposal} is rejected, and yours takes its place.</p>}
        <div class="stack tight"><label for="law-target">Which rule or value</label>
          <span class="field"><input id="law-target" ref={place} list="law-places" class="mono" placeholder="memory.rules[0].condition.min_confidence" value={target.value} onInput={(e) => (target.value = e.currentTarget.value)} /></span>
          <datalist id="law-places">{places.map((it) => <option value={it} />)}</datalist>
          <p class="dim t2">{now === undefined ? (target.value === "" ? "Begin with a name: attention, memory, skills …" : "The law has no such place.") : <>It is now <code><Text text={short(now).slice(0, 160)} /></code></>}</p>
        </div>
        <div class="stack tight"><label for="law-value">What it is to be</label>
          <span class="field"><input id="law-value" ref={field} class="mono" placeholder="0.8" value={value.value} onInput={(e) => (value.value = e.currentTarget.value)} /></span>
          <p class="dim t2">A value, or <code>+= 0.1</code>, <code>-= 1</code>, <code>*= 2</code>. <code>+= {"{…}"}</code> adds a rule, <code>null</code> removes one.</p>
        </div>
        <div class="stack tight"><label for="law-why">Why</label>
          <textarea id="law-why" class="area" rows={3} value={why.value} onInput={(e) => (why.value = e.currentTarget.value)} />
        </div>
        <div class="stack tight"><label for="law-events">Events that speak for it</label>
          <span class="field"><input id="law-events" inputMode="numeric" placeholder="4071, 4012 (may be left out)" value={events.value} onInput={(e) => (events.value = e.currentTarget.value)} /></span>
        </div>
        <p class="dim t2">It is tested on recorded episodes before anything changes. Nothing is run again.</p>
        {refused.value && <Note tone="bad" icon="no"><b><Text text={refused.value} /></b> The law is as it was.</Note>}
        <div class="row"><Button look="main" type="submit" disabled={!complete || busy.value}>{busy.value ? "Testing" : "Propose"}</Button><Button look="bare" onClick={close}>Leave it</Button></div>
      </form>
    </Aside>
  );
}
