/** One version of the law, and one rule of it, for the details. */
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import type { LawVersion } from "../../api/types.ts";
import { may, read } from "../../state/app.ts";
import { address } from "../../state/route.ts";
import { fullTime } from "../../text.ts";
import { Aside } from "../../ui/page.tsx";
import { Button, EventLink, Field, Tag, Text } from "../../ui/parts.tsx";
import { Show, useLoaded } from "../../ui/states.tsx";
import { author } from "./proposal.tsx";
import { changedLine, leaves, type Rule, short } from "./rules.ts";

/** What changed, as lines with their signs; the signs say it without the colour. */
export function LawLines({ lines, title }: { lines: readonly string[]; title: string }): JSX.Element {
  return (
    <div class="diff card lawdiff" role="group" aria-label={title}>
      <div class="hunk">{title}</div>
      {lines.map(changedLine).map((it) => (
        <>
          <div class="place"><Text text={it.place} /></div>
          {it.was !== undefined && <div class="dl one"><span class="n">−</span><span class="c was"><Text text={it.was} /></span></div>}
          {it.now !== undefined && <div class="dl one"><span class="n">+</span><span class="c now"><Text text={it.now} /></span></div>}
        </>
      ))}
    </div>
  );
}

interface VersionProps {
  agent: string | undefined;
  version: LawVersion;
  newest: number;
  undo: (to: number, why: string) => Promise<void>;
}

/** A version: who, why, what it changed, and the way back. */
export function VersionDetails({ agent, version: it, newest, undo }: VersionProps): JSX.Element {
  const against = useSignal<"before" | "now">("before");
  const why = useSignal("");
  const busy = useSignal(false);
  const inForce = it.version === newest;
  const [from, to] = against.value === "now" ? [it.version, newest] : [Math.max(1, it.version - 1), it.version];
  const diff = useLoaded(() => read("getAgentDiff", { agent, from, to }), [agent, from, to]);
  // The journal knows when; without it the version is shown all the same.
  const when = useLoaded(() => read("getJournalByEvent", { event: it.event, agent }).then((entry) => fullTime(entry.at), () => ""), [it.event, agent]);
  const at = when.state.value.kind === "there" ? when.state.value.value : "";
  const target = inForce ? it.version - 1 : it.version;
  const back = async () => {
    busy.value = true;
    await undo(target, why.value.trim() || (inForce ? `version ${it.version} is undone` : `back to version ${it.version}`));
    busy.value = false;
    why.value = "";
  };
  return (
    <Aside title={`Version ${it.version}`}>
      <div class="stack loose">
        <div class="stack">
          <div class="row wrap"><b class="t5">Version {it.version}</b>{inForce && <Tag tone="good">in force</Tag>}<code class="t1" title={it.hash}>{it.hash.slice(0, 12)}</code></div>
          <p class="said first"><Text text={it.why} /></p>
          <p class="dim t2"><Text text={author(it.by)} />{at && `, ${at}`} <EventLink event={it.event} of={agent} /></p>
        </div>
        {!inForce && (
          <div class="chips" role="group" aria-label="Compare">
            <Button small aria-pressed={against.value === "before"} onClick={() => (against.value = "before")}>What it changed</Button>
            <Button small aria-pressed={against.value === "now"} onClick={() => (against.value = "now")}>What is different now</Button>
          </div>
        )}
        {it.version === 1 && against.value === "before" ? <p class="dim">What it was born with.</p> : (
          <Show of={diff} lines={4}>{(found) => found.lines.length === 0 ? <p class="dim">Nothing: they say the same.</p> : <LawLines lines={found.lines} title={against.value === "now" ? `From version ${it.version} to now` : `From version ${from} to ${to}`} />}</Show>
        )}
        {may("operate") && target >= 1 && (
          <div class="stack">
            <Field label="Why go back" placeholder="Why? (may be left out)" value={why.value} onInput={(e) => (why.value = e.currentTarget.value)} />
            <div class="row wrap"><Button icon="undo" disabled={busy.value} onClick={() => void back()}>{inForce ? "Undo this version" : `Return to version ${it.version}`}</Button></div>
            <p class="dim t2">It becomes a new version that says what version {target} said. That can be undone, too.</p>
          </div>
        )}
      </div>
    </Aside>
  );
}

interface RuleProps {
  rule: Rule;
  agent: string | undefined;
  from: LawVersion | undefined;
  propose: (path: string) => void;
}

/** A rule: its sentence, where it comes from, and each of its values with a way to propose another. */
export function RuleDetails({ rule, agent, from, propose }: RuleProps): JSX.Element {
  return (
    <Aside title="Rule">
      <div class="stack loose">
        <div class="stack"><p class="t4 said first"><Text text={rule.says} /></p><code class="path"><Text text={rule.path} /></code></div>
        <section>
          <h3 class="sect">Where it comes from</h3>
          {from ? <p><a href={address("law", `v${from.version}`)}>Version {from.version}</a>: <Text text={from.why} /> <span class="dim">(<Text text={author(from.by)} />)</span> <EventLink event={from.event} of={agent} /></p> : <p class="dim">Being looked up.</p>}
        </section>
        <section>
          <h3 class="sect">Its values</h3>
          <ul class="vals">
            {leaves(rule.path, rule.value).map(([path, value]) => (
              <li>
                <span class="grow"><span class="path"><Text text={path.slice(rule.path.length).replace(/^\./, "") || rule.path} /></span><Text text={short(value)} /></span>
                {!rule.frozen && may("operate") && <Button small look="bare" icon="pen" aria-label={`Propose another value of ${path}`} onClick={() => propose(path)}>Propose…</Button>}
              </li>
            ))}
          </ul>
        </section>
        {rule.frozen ? <p class="dim">Frozen: neither the agent nor a proposal can change it. An operator accepts an edited manifest.</p>
          : /\]$/.test(rule.path) && may("operate") && <div class="row"><Button small onClick={() => propose(rule.path)}>Propose to change or remove the rule…</Button></div>}
      </div>
    </Aside>
  );
}
