/** One task: what was asked, what came of it, and what it does at the moment. */
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { refusal, type Refusal } from "../../api/refusal.ts";
import type { Fields } from "../../api/types.ts";
import { change, connection, read, waiting } from "../../state/app.ts";
import { address, agent } from "../../state/route.ts";
import { fullTime, withoutEscapes } from "../../text.ts";
import { Button, CopyButton, Facts, Note, Tag, Text } from "../../ui/parts.tsx";
import { Aside } from "../../ui/page.tsx";
import { notify, say } from "../../ui/say.ts";
import { Show, useLoaded } from "../../ui/states.tsx";
import { after, stateOf, type Task, textOf, titleOf } from "./model.ts";
import { ArtifactView } from "./parts.tsx";

export function TaskDetails({ id, known, changed }: { id: string; known: Task | undefined; changed: (task: Task) => void }): JSX.Element {
  const from = agent.value;
  const task = useLoaded(async () => (await read("getTasksById", { id, agent: from })) as unknown as Task, [id, from]);
  const fault = useSignal<Refusal | null>(null);
  const working = useSignal(false);
  const latest = useRef<Task | null>(null);
  const now = task.state.value.kind === "there" ? task.state.value.value : null;
  latest.current = now;
  const over = now ? stateOf(now).over : true;

  // While it goes on, its events are followed; what comes in one batch is drawn once.
  useEffect(() => {
    if (over) return;
    return connection.follow("followTask", () => ({ id, agent: from }), (events: Fields[]) => {
      const before = latest.current;
      if (!before) return;
      let next = before;
      for (const event of events) next = after(next, event);
      if (next === before) return;
      latest.current = next;
      task.put(next);
      changed(next);
      if (next.status.state !== before.status.state) say(`The task ${stateOf(next).words}.`);
    }, { failed: () => task.again() });
  }, [id, from, over]);

  const cancel = async () => {
    working.value = true;
    fault.value = null;
    try {
      const reply = await change("postTasksByIdCancel", { id, agent: from });
      const next = { ...(latest.current ?? (reply as unknown as Task)), status: reply.status as Task["status"] };
      task.put(next);
      changed(next);
      notify("Cancelled. What was done stays done.");
    } catch (error) {
      fault.value = refusal(error);
    }
    working.value = false;
  };
  const question = waiting.value.find((it) => it.task === id);
  return (
    <Aside title={now ? titleOf(now) : known ? titleOf(known) : id}>
      <Show of={task}>
        {(it) => {
          const state = stateOf(it);
          const said = textOf(it.status.message);
          return (
            <div class="stack loose">
              <div class="stack">
                <div class="row wrap">
                  <Tag tone={state.tone}>{state.words}</Tag>
                  {question && <a class="b small" href={address("questions", question.id)}>Answer it</a>}
                  {it.contextId && <a class="b small bare" href={address("chat", it.contextId)}>Open the conversation</a>}
                  <span class="grow" />
                  {!state.over && <Button small look="warn" icon="stop" disabled={working.value} onClick={() => void cancel()}>Cancel</Button>}
                </div>
                {fault.value && <Note tone="bad" icon="no"><b><Text text={fault.value.message} /> </b>The task goes on as before.</Note>}
                {it.status.state === "TASK_STATE_FAILED" || it.status.state === "TASK_STATE_REJECTED"
                  ? <Note tone="bad" icon="no"><Text text={withoutEscapes(said) || "It gave no reason."} /></Note>
                  : said !== "" && <pre class="code"><Text text={withoutEscapes(said)} /></pre>}
              </div>
              <Facts facts={[
                ["Task", <span class="row"><code class="clip"><Text text={it.id} /></code><CopyButton text={it.id} label="Copy the id" /></span>],
                ["Changed", it.status.timestamp ? fullTime(it.status.timestamp) : "—"],
                ["Talk", <code><Text text={it.contextId || "—"} /></code>],
              ]} />
              {(it.artifacts?.length ?? 0) > 0 && (
                <div><h2 class="sect">What it made</h2><div class="stack">{it.artifacts!.map((one) => <ArtifactView key={one.artifactId} artifact={one} />)}</div></div>
              )}
              {(it.history?.length ?? 0) > 0 && (
                <div>
                  <h2 class="sect">What was said</h2>
                  <ol class="stack said">{it.history!.map((message) => <li><span class="dim t1">{message.role === "ROLE_USER" ? "asked" : "agent"}</span><p><Text text={withoutEscapes(textOf(message))} /></p></li>)}</ol>
                </div>
              )}
            </div>
          );
        }}
      </Show>
    </Aside>
  );
}
