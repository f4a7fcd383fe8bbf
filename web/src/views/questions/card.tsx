/** The question: what the agent asks, the exact change or command, for what a yes counts, and the buttons. */
import type { JSX } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import { hasHidden, clock, dayAndTime } from "../../text.ts";
import { connection, may, prefer, preferences, shownEvent, detailsOpen } from "../../state/app.ts";
import type { Asked, Decision } from "../../state/conversation.ts";
import { onKey } from "../../shell/keys.tsx";
import { Icon } from "../../ui/icons.tsx";
import { Button, Coded, CopyButton, EventLink, Facts, Note, Text } from "../../ui/parts.tsx";
import { say } from "../../ui/say.ts";
import { DiffView } from "./diff-view.tsx";
import { type Draft, draftOf, type Scope } from "./draft.ts";
import { byWhom, decisionKinds, decisionWords, titleOf } from "./words.ts";

/** A key answers only a card that has been there so long. */
const SETTLED = 600;

export function QuestionCard({ asked, decision }: { asked: Asked; decision: Decision | null }): JSX.Element {
  const draft = draftOf(asked);
  const name = useId();
  const box = useRef<HTMLDivElement>(null);
  const body = useRef<HTMLDivElement>(null);
  const since = useRef(performance.now());
  const seenEnd = useRef(false);
  const mayAnswer = may("approve");
  const open = decision === null && mayAnswer;

  const lookEnd = () => {
    const element = body.current;
    if (element && element.scrollHeight - element.scrollTop - element.clientHeight < 8) seenEnd.current = true;
  };
  useEffect(lookEnd);
  useEffect(() => {
    if (!open) return;
    return onKey((key) => {
      const element = box.current;
      if (!element?.isConnected) return false;
      const cards = [...document.querySelectorAll<HTMLElement>(".ask.open")];
      const mine = element.contains(document.activeElement) || cards.length === 1;
      if (!mine || !"aerxy".includes(key)) return false;
      const ready = performance.now() - since.current > SETTLED && seenEnd.current && isInSight(element);
      if (key === "y") showWhy(asked);
      else if (key === "x") toggleHunk(element, draft);
      else if (!ready) say("Read it to its end first.");
      else if (key === "a") void approve(draft);
      else if (key === "e") void edit(draft, element);
      else if (key === "r") draft.stage.value = "rejecting";
      return true;
    });
  }, [open, asked.id]);

  const how = decision === null ? (mayAnswer ? "open" : "look") : decision.decision === "approve" || decision.decision === "answered" ? "done yes" : decision.decision === "reject" ? "done no" : "done late";
  const icon = decision === null ? "ask" : decision.decision === "approve" || decision.decision === "answered" ? "ok" : "no";
  return (
    <div class={`ask ${how}`} role="group" aria-labelledby={name} data-question={asked.id} tabIndex={-1} ref={box}>
      <header>
        <Icon name={icon} />
        <div class="grow">
          <h2 id={name}><Coded text={titleOf(asked)} /></h2>
          <div class="sub">
            {decision ? (
              <>
                <span><Text text={decisionWords(decision, asked)} />.</span>
                <span><Text text={[byWhom(decision.by), decision.at === undefined ? "" : dayAndTime(decision.at), decision.wire ? `over ${decision.wire}` : ""].filter(Boolean).join(", ")} /></span>
              </>
            ) : (
              <>
                {asked.question === undefined && <span><Text text={asked.skill} /></span>}
                <span>asked at {clock(asked.at)}</span>
                {asked.until !== undefined && <span>waits until {dayAndTime(asked.until)}</span>}
              </>
            )}
            {(decision?.event ?? asked.event) !== undefined && <EventLink event={(decision?.event ?? asked.event)!} of={asked.agent} />}
          </div>
        </div>
        {draft.diff?.from && draft.diff.to && <Button small look="bare" class="hide-s" onClick={() => prefer({ diff: preferences.peek().diff === "side" ? "unified" : "side" })}>{preferences.value.diff === "side" ? "Under each other" : "Side by side"}</Button>}
      </header>
      {draft.odd && (
        <Note tone="bad" icon="eye"><b>There is a character in it that cannot be seen. </b>It is spelled out below. A yes to it counts just this once.</Note>
      )}
      {asked.notes.map((note) => <p class="asknote"><Icon name="eye" small /><Text text={note} /></p>)}
      <div class="askbody scroll" ref={body} onScroll={lookEnd} tabIndex={0} role="group" aria-label="What it would do"><Body asked={asked} draft={draft} open={open} /></div>
      {open && <Foot asked={asked} draft={draft} />}
      {decision === null && !mayAnswer && <Note icon="lock"><b>You may look, not decide. </b>A person who may approve can answer.</Note>}
    </div>
  );
}

/** The exact change, the exact command, or the input as it is. */
function Body({ asked, draft, open }: { asked: Asked; draft: Draft; open: boolean }): JSX.Element {
  const edited = draft.edited.value;
  if (edited !== null && open) {
    return (
      <div class="diff">
        <textarea
          aria-label={asked.input["command"] !== undefined ? "The command to run instead" : "The text to write instead"} spellcheck={false} dir="auto" data-edit={asked.id}
          value={edited} rows={Math.min(24, Math.max(4, edited.split("\n").length + 1))} onInput={(e) => (draft.edited.value = e.currentTarget.value)}
        />
      </div>
    );
  }
  if (draft.diff) {
    const parts = open && draft.canTakeParts;
    const diff = decisionKinds.get(asked.id) === "edited" ? (draft.editedDiff ?? draft.diff) : draft.diff;
    return <DiffView diff={diff} odd={draft.odd} {...(open && draft.canEditParts ? { edits: draft.edits.value, edit: (at: number, text?: string | null) => draft.editPart(at, text) } : {})} {...(parts ? { taken: draft.taken.value, toggle: (at: number) => draft.toggle(at) } : decisionKinds.get(asked.id) === "part" ? { taken: draft.taken.value } : {})} />;
  }
  const { input, preview } = asked;
  if (typeof input["command"] === "string") {
    const command = input["command"];
    // Behind the command the preview says where it runs and what the sandbox allows.
    const about = preview.includes("\n\n") ? preview.slice(preview.lastIndexOf("\n\n") + 2) : "";
    return (
      <>
        <div class="cmd"><pre class="code"><Text text={command} /></pre><CopyButton text={command} label="Copy the command" /></div>
        {about !== "" && <p class="allows"><Icon name="lock" small /><span><Text text={about.replaceAll("\n", " ")} /></span></p>}
      </>
    );
  }
  if (asked.question !== undefined) return <></>;
  if (preview.trim() !== "") return <pre class="code"><Text text={preview} /></pre>;
  const entries = Object.entries(input);
  if (entries.length === 0) return <p class="pad dim">It is called without an input.</p>;
  return <div class="pad"><Facts facts={entries.map(([key, value]) => [key, typeof value === "string" ? <pre class="code"><Text text={value} /></pre> : <code><Text text={JSON.stringify(value)} /></code>])} /></div>;
}

function Foot({ asked, draft }: { asked: Asked; draft: Draft }): JSX.Element {
  const stage = draft.stage.value;
  const problem = draft.problem.value;
  const live = connection.link.value.kind === "live";
  const busy = stage === "sending" || stage === "sent" || !live;
  const problemNote = problem && <Note tone="bad" icon="no"><Text text={problem} /></Note>;
  if (asked.question !== undefined) {
    const submit = (e: Event) => {
      e.preventDefault();
      if (draft.answer.value.trim() !== "") void draft.say();
    };
    return (
      <footer>
        {problemNote}
        <form class="why-no" onSubmit={submit}>
          <label class="field"><input aria-label="Your answer" placeholder="Your answer" value={draft.answer.value} onInput={(e) => (draft.answer.value = e.currentTarget.value)} /></label>
          <button class="b main" type="submit" disabled={busy || draft.answer.value.trim() === ""}>Answer</button>
        </form>
      </footer>
    );
  }
  if (stage === "rejecting") {
    const submit = (e: Event) => {
      e.preventDefault();
      void draft.reject();
    };
    return (
      <footer>
        {problemNote}
        <form class="why-no" onSubmit={submit} onKeyDown={(e) => { if (e.key === "Escape") { e.stopPropagation(); draft.stage.value = "asked"; } }}>
          <label class="field"><input autoFocus ref={focusOnce} aria-label="Why not" placeholder="Why not? The agent is told." value={draft.reason.value} onInput={(e) => (draft.reason.value = e.currentTarget.value)} /></label>
          <button class="b warn" type="submit" disabled={!live}>Reject</button>
          <Button look="bare" onClick={() => (draft.stage.value = "asked")}>Back</Button>
        </form>
      </footer>
    );
  }
  const edited = draft.isEdited;
  const partial = draft.isPartial;
  const label = edited ? "Approve as edited" : partial ? `Approve ${draft.taken.value.size} of ${draft.parts}` : draft.odd ? "Approve it as it is" : "Approve";
  const none = partial && draft.taken.value.size === 0;
  const once = edited || partial || draft.odd;
  const scope = once ? "once" : draft.scope.value;
  const oddEdit = edited && [draft.edited.value ?? "", ...draft.edits.value.values()].some(hasHidden);
  const choice = (value: Scope, text: string) => (
    <label><input type="radio" name={`scope-${asked.id}`} value={value} checked={scope === value} disabled={once && value !== "once"} onChange={() => (draft.scope.value = value)} />{text}</label>
  );
  return (
    <footer>
      {problemNote}
      {oddEdit && <Note tone="bad" icon="eye">There is a character in your text that cannot be seen.</Note>}
      <fieldset class="scope">
        <legend>Counts</legend>
        {choice("once", "just this once")}
        {choice("conversation", "in this conversation")}
        {draft.field !== undefined && (
          <span class="pre">
            {choice("prefix", `whenever the ${draft.field} begins with`)}
            <input type="text" aria-label="begins with" spellcheck={false} disabled={once} value={draft.prefix.value} onFocus={() => (draft.scope.value = "prefix")} onInput={(e) => (draft.prefix.value = e.currentTarget.value)} />
          </span>
        )}
      </fieldset>
      <div class="row">
        <Button look={draft.odd && !edited ? undefined : "main"} icon="ok" disabled={busy || none} onClick={() => void approve(draft)}>{label}</Button>
        <Button icon="pen" disabled={busy} onClick={(e) => { if (edited) [draft.edited.value, draft.edits.value] = [null, new Map()]; else void edit(draft, e.currentTarget.closest(".ask")!); }}>{edited ? "Undo edits" : "Edit first"}</Button>
        <Button look="warn" disabled={busy} onClick={() => (draft.stage.value = "rejecting")}>Reject…</Button>
        {preferences.value.letters && <span class="end dim t2 hide-s row"><kbd>A</kbd>approve<kbd>E</kbd>edit<kbd>R</kbd>reject</span>}
      </div>
    </footer>
  );
}

const focusOnce = (element: HTMLInputElement | null): void => {
  if (element && !element.dataset["focused"]) {
    element.dataset["focused"] = "";
    element.focus();
  }
};

async function approve(draft: Draft): Promise<void> {
  if (draft.isPartial && draft.taken.peek().size === 0) return;
  if (draft.isEdited) decisionKinds.set(draft.asked.id, "edited");
  else if (draft.isPartial) decisionKinds.set(draft.asked.id, "part");
  else decisionKinds.delete(draft.asked.id);
  await draft.approve();
}

async function edit(draft: Draft, element: Element): Promise<void> {
  await draft.beginEdit();
  requestAnimationFrame(() => element.querySelector<HTMLElement>("[data-edit]")?.focus());
}

function showWhy(asked: Asked): void {
  if (asked.event === undefined) return;
  shownEvent.value = { event: asked.event, agent: asked.agent };
  detailsOpen.value = true;
}

/** Takes the part that has the focus, or leaves it out; without a focus, the first one gets it. */
function toggleHunk(element: HTMLElement, draft: Draft): void {
  const on = document.activeElement as HTMLElement | null;
  const hunk = on?.dataset["hunk"];
  if (hunk !== undefined && element.contains(on)) draft.toggle(Number(hunk));
  else element.querySelector<HTMLElement>("[data-hunk]")?.focus();
}

function isInSight(element: HTMLElement): boolean {
  const { top, bottom } = element.getBoundingClientRect();
  return bottom > 0 && top < innerHeight;
}
