/** Law: the proposal that waits, the rules in words, versions with what they changed, and the way back. */
import "./style.css";
import { useSignal } from "@preact/signals";
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import type { LawVersion, Proposal } from "../../api/types.ts";
import { refusal } from "../../api/refusal.ts";
import { onKey } from "../../shell/keys.tsx";
import type { ViewProps } from "../../shell/places.ts";
import { change, connection, detailsOpen, may, read, readAgentStatus, type Reply } from "../../state/app.ts";
import { agent, go } from "../../state/route.ts";
import { count } from "../../text.ts";
import { Icon } from "../../ui/icons.tsx";
import { Aside, Page } from "../../ui/page.tsx";
import { Button, CopyButton, EventLink, Note, Tag, Text } from "../../ui/parts.tsx";
import { notify, shout } from "../../ui/say.ts";
import { Fault, Loading, useLoaded } from "../../ui/states.tsx";
import { author, isOpen, ProposalBody, ProposalCard, standingOf } from "./proposal.tsx";
import { Propose } from "./propose.tsx";
import { Self } from "./self.tsx";
import { changedLine, leaves, origins, type Rule, sections } from "./rules.ts";
import { LawLines, RuleDetails, VersionDetails } from "./version.tsx";

/** All that the view shows, read together so that it fits together. */
interface State {
  law: Reply<"getAgentLaw">;
  versions: LawVersion[];
  proposals: Proposal[];
  /** What an edited manifest would change. */
  offered: string[];
}

async function readLaw(of: string | undefined): Promise<State> {
  const [law, laws, proposals, diff] = await Promise.all([
    read("getAgentLaw", { agent: of }), read("getAgentLaws", { agent: of }), read("getAgentLawProposals", { agent: of }), read("getAgentDiff", { agent: of }),
  ]);
  return { law, versions: [...laws.versions], proposals: [...proposals.proposals], offered: [...(diff.offered ?? [])] };
}

/** Events after which the law is read again. */
const OF_LAW = new Set(["proposed", "tested", "ruled", "rolled-back", "accepted", "retested", "weighed", "born"]);

export default function Law({ id, query }: ViewProps): JSX.Element {
  const of = agent.value;
  const state = useLoaded(() => readLaw(of), [of]);
  const now = state.state.value;
  if (now.kind !== "there") {
    return <Page title="Law" sub="what it goes by"><div class="body scroll" tabIndex={0} role="region" aria-label="Law">{now.kind === "loading" ? <Loading lines={8} /> : <Fault error={now.why} again={state.again} />}</div></Page>;
  }
  return <Loaded id={id} query={query} of={of} state={now.value} again={state.again} />;
}

function Loaded({ id, query, of, state, again }: { id: string | undefined; query: URLSearchParams; of: string | undefined; state: State; again: () => void }): JSX.Element {
  const { law, versions, proposals } = state;
  const newest = law.version;
  const shown = useMemo(() => sections(law.law, law.text), [law]);
  const rules = useMemo(() => shown.flatMap((it) => it.rules), [shown]);
  const from = useLoaded(() => origins(async (version) => (await read("getAgentLaw", { agent: of, version })).law, versions, shown), [of, law.hash, versions.length]);
  const origin = from.state.value.kind === "there" ? from.state.value.value : undefined;
  const reflecting = useSignal(false);
  const live = useRef(again);
  live.current = again;

  // The law changes by events: proposals of the agent itself and of other people appear by themselves.
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let last = Number.MAX_SAFE_INTEGER;
    const stop = connection.follow("followJournal", () => ({ agent: of, after: last === Number.MAX_SAFE_INTEGER ? Math.max(law.event, ...proposals.flatMap((it) => it.events)) : last }), (records) => {
      const more = records.filter((it) => last === Number.MAX_SAFE_INTEGER || it.event > last);
      last = records.at(-1)?.event ?? last;
      if (!more.some((it) => OF_LAW.has(it.kind))) return;
      clearTimeout(timer);
      timer = setTimeout(() => live.current(), 200);
      // What happens outside of requests reaches the status bar by this alone.
      void readAgentStatus();
    }, { failed: () => {} });
    return () => { clearTimeout(timer); stop(); };
  }, [of]);

  const open = (to: string) => {
    go("law", to);
    detailsOpen.value = true;
  };
  const propose = (path: string) => {
    go("law", undefined, { propose: path || "1" });
    detailsOpen.value = true;
  };
  const undo = async (to: number, why: string): Promise<void> => {
    try {
      const before = newest;
      const done = await change("postAgentLawRollback", { agent: of, version: to, why });
      notify(`Undone. The law is version ${done.to}, which says what version ${to} said.`, "Take that back", () => void undo(before, `back to version ${before}`));
      go("law", `v${done.to}`, {}, true);
      again();
    } catch (error) {
      shout(refusal(error).message);
      notify(`${refusal(error).message} The law is as it was.`);
    }
  };
  const reflect = async () => {
    reflecting.value = true;
    try {
      const found = await change("postAgentLawReflect", { agent: of });
      notify(found.proposals.length === 0 ? "It looked through its journal: nothing speaks for a change." : `It proposes ${count(found.proposals.length, "change")}.`);
      again();
    } catch (error) {
      notify(`${refusal(error).message} The law is as it was.`);
    }
    reflecting.value = false;
  };

  const rule = rules.find((it) => it.path === id);
  useEffect(() => {
    if (rule) document.querySelector('.rule[aria-pressed="true"]')?.scrollIntoView({ block: "nearest" });
  }, [rule?.path]);
  const opened = /^p\d+$/.test(id ?? "") ? id!.slice(1) : undefined;
  useEffect(() => {
    if (opened) document.getElementById(`proposal-${opened}`)?.scrollIntoView({ block: "center" });
  }, [opened, proposals.length]);
  const latest = useRef({ at: -1 });
  latest.current.at = rule ? rules.indexOf(rule) : -1;
  useEffect(() => onKey((key) => {
    if (key !== "j" && key !== "k") return false;
    const next = rules[Math.max(0, Math.min(rules.length - 1, latest.current.at + (key === "j" ? 1 : -1)))];
    if (next) go("law", next.path, {}, true);
    return true;
  }), [rules]);

  const waiting = proposals.filter(isOpen);
  const earlier = proposals.filter((it) => !isOpen(it)).toReversed();
  const wanted = query.get("propose");
  const instead = proposals.find((it) => it.proposal !== undefined && String(it.proposal) === query.get("instead"));
  const named = /^p(\d+)$/.exec(id ?? "");
  const proposal = named ? proposals.find((it) => it.proposal === Number(named[1])) : /^x\d+$/.test(id ?? "") ? proposals.find((it) => it.proposal === undefined && `x${it.events[0]}` === id) : undefined;
  const version = versions.find((it) => `v${it.version}` === id) ?? versions.at(-1);

  let aside: ComponentChildren;
  if (wanted !== null || instead) {
    aside = (
      <Propose
        key={`${wanted} ${instead?.proposal}`} agent={of} law={law.law} path={instead?.target ?? (wanted === "1" ? "" : (wanted ?? ""))} instead={instead}
        places={rules.filter((it) => !it.frozen).flatMap((it) => leaves(it.path, it.value).map(([path]) => path))}
        close={() => { go("law", undefined, {}, true); detailsOpen.value = false; }}
        done={(number) => { again(); if (number !== undefined) { go("law", `p${number}`, {}, true); detailsOpen.value = false; } }}
      />
    );
  } else if (rule) aside = <RuleDetails rule={rule} agent={of} from={origin ? versions.find((it) => it.version === origin.get(rule.path)) : undefined} propose={propose} />;
  else if (proposal && !isOpen(proposal)) {
    const standing = standingOf(proposal.standing);
    aside = (
      <Aside title={proposal.proposal === undefined ? "A refused proposal" : `Proposal ${proposal.proposal}`}>
        <div class="stack loose">
          <div class="row wrap"><Tag tone={standing.tone}>{standing.says}</Tag><span class="dim">proposed by <Text text={author(proposal.by)} /></span>{proposal.events.map((event) => <EventLink event={event} of={of} />)}</div>
          <p class="first"><Text text={proposal.says} />.</p>
          <ProposalBody it={proposal} agent={of} />
          {proposal.standing === "adopted" && proposal.version !== undefined && proposal.version === newest && may("operate") && <div class="row"><Button icon="undo" onClick={() => void undo(proposal.version! - 1, `proposal ${proposal.proposal} is undone`)}>Undo</Button></div>}
        </div>
      </Aside>
    );
  } else if (version) aside = <VersionDetails key={version.version} agent={of} version={version} newest={newest} undo={undo} />;

  const list = (
    <div class="vers">
      {versions.toReversed().map((it) => (
        <button type="button" class="ver" aria-pressed={!rule && !proposal && wanted === null && !instead && it.version === version?.version} onClick={() => open(`v${it.version}`)}>
          <b>v{it.version}</b><span class="why3 first"><Text text={it.why} /></span><span /><span class="dim t1">{it.version === newest ? "in force · " : ""}<Text text={author(it.by)} /></span>
        </button>
      ))}
    </div>
  );

  return (
    <Page
      title="Law" sub="what it goes by; it can propose, and nothing frozen can change" aside={aside} asideLabel="Details of the law"
      actions={
        <>
          <span class="hide-m"><CopyButton text={() => JSON.stringify(law.law, null, 2)} label="Copy as data" /></span>
          {may("operate") && <Button small disabled={reflecting.value} title="Has it look through its journal for a change that speaks for itself" onClick={() => void reflect()}>{reflecting.value ? "It reflects" : <><span class="hide-s">Have it reflect</span><span class="only-phone">Reflect</span></>}</Button>}
          {may("operate") && <Button small icon="plus" onClick={() => propose("")}>Propose…</Button>}
        </>
      }
    >
      <div class="cols c-l body">
        <div class="scroll law-vers" tabIndex={0} role="region" aria-label="Versions"><h2 class="group">Versions</h2><div class="list">{list}</div></div>
        <div class="scroll law-rules" tabIndex={0} role="region" aria-label="Rules">
          <div class="pad stack loose law-main">
            {state.offered.length > 0 && <Offered lines={state.offered} agent={of} done={again} />}
            {waiting.map((it) => (
              <ProposalCard
                key={it.proposal} it={it} agent={of} changed={again} undo={(to, why) => void undo(to, why)}
                edit={(which) => { go("law", undefined, { instead: String(which.proposal) }); detailsOpen.value = true; }}
              />
            ))}
            {shown.map((section) => (
              <section>
                <h2 class="row"><Icon name={section.icon} />{section.title}{section.hint && <span class="dim t2 hint">{section.hint}</span>}</h2>
                <div>{section.rules.map((it) => <RuleRow rule={it} pressed={it === rule} since={origin?.get(it.path)} waiting={waiting} open={() => open(it.path)} />)}</div>
              </section>
            ))}
            <Self agent={of} version={newest} />
            {earlier.length > 0 && (
              <section>
                <h2 class="row"><Icon name="book" />Earlier proposals</h2>
                <div class="recs">
                  {earlier.map((it) => {
                    const standing = standingOf(it.standing);
                    const to = it.proposal === undefined ? `x${it.events[0]}` : `p${it.proposal}`;
                    return (
                      <button type="button" class="rec past" aria-pressed={to === id} onClick={() => open(to)}>
                        <span class="row"><span class="from-to grow"><Text text={it.lines?.[0] ?? it.target} /></span><Tag tone={standing.tone}>{standing.says}</Tag></span>
                        <span class="meta"><Text text={it.justification} /><span>· <Text text={author(it.by)} /></span></span>
                      </button>
                    );
                  })}
                </div>
              </section>
            )}
            <section class="only-phone"><h2 class="sect">Versions</h2>{list}</section>
          </div>
        </div>
      </div>
    </Page>
  );
}

function RuleRow({ rule, pressed, since, waiting, open }: { rule: Rule; pressed: boolean; since: number | undefined; waiting: readonly Proposal[]; open: () => void }): JSX.Element {
  const place = rule.path.replace(/\[(\d+)\]/g, ".$1");
  const proposed = waiting.flatMap((it) => it.lines ?? []).map(changedLine).find((it) => it.place === place || it.place.startsWith(`${place}.`));
  return (
    <button type="button" class="rule" aria-pressed={pressed} onClick={open}>
      {rule.frozen ? <Icon name="lock" small /> : <span />}
      <span><span class="says"><Text text={rule.says} />{since !== undefined && since > 1 && <> <Tag tone="accent">since v{since}</Tag></>}</span><span class="path"><Text text={rule.path} /></span></span>
      <span class="row">{rule.short !== undefined && <Tag><Text text={rule.short} /></Tag>}{proposed?.now !== undefined && <Tag tone="need"><Text text={proposed.now.slice(0, 24)} />?</Tag>}</span>
    </button>
  );
}

/** The manifest or the law file was edited: what it would change, and the way to accept it. */
function Offered({ lines, agent: of, done }: { lines: readonly string[]; agent: string | undefined; done: () => void }): JSX.Element {
  const why = useSignal("");
  const refused = useSignal("");
  const accept = async (e: Event) => {
    e.preventDefault();
    try {
      const changed = await change("postAgentLawAccept", { agent: of, why: why.value.trim() });
      notify(`Accepted. The law is version ${changed.to}.`);
      done();
    } catch (error) {
      refused.value = refusal(error).message;
    }
  };
  return (
    <div class="ask" role="group" aria-labelledby="offered">
      <header><Icon name="file" /><div class="grow"><h2 id="offered">The manifest or the law file was edited</h2><div class="sub">It would change this. The agent keeps its law until an operator accepts.</div></div></header>
      <div class="prop"><LawLines lines={lines} title="What the files say" /></div>
      <footer>
        {refused.value && <Note tone="bad" icon="no"><b><Text text={refused.value} /></b> The law is as it was.</Note>}
        {may("operate") && <form class="why-no" onSubmit={(e) => void accept(e)}><label class="field"><input aria-label="Why accept it?" placeholder="Why accept it?" value={why.value} onInput={(e) => (why.value = e.currentTarget.value)} /></label><Button look="main" type="submit" disabled={why.value.trim() === ""}>Accept</Button></form>}
      </footer>
    </div>
  );
}
