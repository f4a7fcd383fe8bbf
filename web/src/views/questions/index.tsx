/** Questions: all that waits for a person, of all agents, each with the whole of what would be done, and why. */
import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import type { Waiting } from "../../api/types.ts";
import type { ViewProps } from "../../shell/places.ts";
import { onKey } from "../../shell/keys.tsx";
import { agents, answered, change, displayName, may, myName, questionsKnown, read, waiting } from "../../state/app.ts";
import type { Asked, Decision } from "../../state/conversation.ts";
import { address, go } from "../../state/route.ts";
import { sessions } from "../../state/sessions.ts";
import { clock, count } from "../../text.ts";
import { Button, Coded, Dialog, Tag, Text, WhyList } from "../../ui/parts.tsx";
import { Page } from "../../ui/page.tsx";
import { Empty, Loading, Show, useLoaded } from "../../ui/states.tsx";
import { notify } from "../../ui/say.ts";
import { QuestionCard } from "./card.tsx";
import { kindOf, titleOf } from "./words.ts";

/** What was waiting since the page was opened, so that an answered question can still be read. */
const known = new Map<string, Waiting>();

export function askedOf(it: Waiting): Asked {
  const input = (it.input ?? {}) as Record<string, unknown>;
  return {
    id: it.id, agent: it.agent === "default" ? undefined : it.agent, skill: it.skill ?? "question", input, preview: it.preview ?? "", notes: it.notes ?? [], at: it.at, until: it.until, event: it.event,
    question: it.question, conversation: it.conversation, task: it.task, operation: it.preview?.startsWith("--- /dev/null") ? "create" : undefined,
  };
}

const rejectingAll = signal(false);

export default function Questions({ id }: ViewProps): JSX.Element {
  const open = waiting.value;
  for (const it of open) known.set(it.id, it);
  const chosen = (id && (open.find((it) => it.id === id) ?? known.get(id))) || open[0];
  // The address names what is shown, so that it stays in sight with its answer when it waits no more.
  useEffect(() => { if (!id && chosen) go("questions", chosen.id, {}, true); }, [id, chosen?.id]);
  useEffect(() => onKey((key) => {
    if (key !== "j" && key !== "k") return false;
    const at = open.findIndex((it) => it.id === chosen?.id);
    const next = open[(at + (key === "j" ? 1 : -1) + open.length) % open.length];
    if (next) go("questions", next.id, {}, true);
    return true;
  }), [open, chosen?.id]);
  const sub = open.length > 0 ? `${open.length === 1 ? "1 waits" : `${open.length} wait`} for you; none of them has begun` : undefined;
  const at = open.findIndex((it) => it.id === chosen?.id);
  return (
    <Page
      title="Questions" sub={sub}
      actions={
        <>
          {open.length > 1 && may("approve") && <Button small look="bare" class="hide-s" onClick={() => (rejectingAll.value = true)}>Reject all…</Button>}
          {open.length > 1 && <Button small class="only-phone" onClick={() => go("questions", open[(at + 1) % open.length]!.id)}>Next of {open.length}</Button>}
        </>
      }
    >
      {!questionsKnown.value ? <Loading /> : !chosen ? (
        <Empty title="Nothing waits for you.">When an agent needs a yes, it stands here and in the conversation. Questions outlive a restart of the server and a closed window.</Empty>
      ) : (
        <div class="cols c-q body">
          <div class="scroll hide-s" tabIndex={0} role="region" aria-label="What waits">
            <ul class="list">{open.map((it) => <li key={it.id}><Row it={it} current={it.id === chosen.id} /></li>)}</ul>
            {open.length === 0 && <p class="dim t2 pad">Nothing else waits for you.</p>}
            <p class="dim t2 pad">Questions outlive a restart of the server and a closed window. Answer here, in a terminal, or over any protocol.</p>
          </div>
          <div class="scroll pad stack loose" tabIndex={0} role="region" aria-label="Question"><One key={chosen.id} it={chosen} /></div>
        </div>
      )}
      {rejectingAll.value && <RejectAll open={open} />}
    </Page>
  );
}

function Row({ it, current }: { it: Waiting; current: boolean }): JSX.Element {
  const asked = askedOf(it);
  const talk = sessions.value.find((session) => session.session_id === it.conversation)?.title;
  const of = agents.value.length > 1 ? agents.value.find((agent) => agent.id === it.agent)?.name : undefined;
  const by = displayName(it.by);
  return (
    <a class="rec" href={address("questions", it.id)} aria-current={current ? "true" : undefined}>
      <p><Coded text={titleOf(asked)} /></p>
      <span class="meta"><Tag tone="need">{kindOf(asked)}</Tag><span class="clip"><Text text={[talk, of, by === myName.value ? undefined : `for ${by}`, clock(it.at)].filter(Boolean).join(" · ")} /></span></span>
    </a>
  );
}

/** One question with its reason. */
function One({ it }: { it: Waiting }): JSX.Element {
  const asked = askedOf(it);
  const done = answered.value.get(it.id);
  const gone = !waiting.value.some((other) => other.id === it.id);
  const decision: Decision | null = done ? { ...done, at: done.at } : gone ? { decision: "answered", by: "", answer: "it waits no more" } : null;
  const why = useLoaded(async () => {
    if (it.event === undefined) return [];
    try {
      return (await read("getJournalByEvent", { event: it.event, agent: asked.agent })).why;
    } catch {
      return [];
    }
  }, [it.id]);
  return (
    <>
      <QuestionCard asked={asked} decision={decision} />
      <Show of={why}>{(items) => items.length === 0 ? null : <div><h2 class="sect">Why it asks</h2><WhyList items={items} of={asked.agent} /></div>}</Show>
      {it.conversation && <p><a class="quiet" href={address("chat", it.conversation, { agent: asked.agent })}>See it in the conversation</a></p>}
    </>
  );
}

/** Rejects all that waits, with one reason. */
function RejectAll({ open }: { open: Waiting[] }): JSX.Element {
  const close = () => { rejectingAll.value = false; };
  const submit = async (e: SubmitEvent) => {
    e.preventDefault();
    const reason = String(new FormData(e.currentTarget as HTMLFormElement).get("why") ?? "").trim();
    close();
    let done = 0;
    for (const it of open) {
      try {
        await change("postApprovalsById", { id: it.id, agent: it.agent, decision: "reject", ...(reason ? { reason } : {}) });
        done++;
      } catch {
        /* answered in the meantime */
      }
    }
    notify(`${count(done, "question was", "questions were")} rejected.`);
  };
  return (
    <Dialog label="Reject all" close={close}>
      <form class="dlg" onSubmit={(e) => void submit(e)}>
        <h2 class="t5">Reject all {open.length}?</h2>
        <p class="soft">Nothing of it is done. The agent is told why.</p>
        <label class="field"><input name="why" aria-label="Why not" placeholder="Why not? The agent is told." autoFocus /></label>
        <div class="row"><button class="b warn" type="submit">Reject all</button><Button look="bare" onClick={close}>Back</Button></div>
      </form>
    </Dialog>
  );
}
