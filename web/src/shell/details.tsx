/** The details of one event: why, what the model was shown, and the event as the journal has it. */
import { useSignal } from "@preact/signals";
import type { ComponentChildren, JSX } from "preact";
import { read } from "../state/app.ts";
import { address } from "../state/route.ts";
import { fullTime, readable } from "../text.ts";
import { Coded, CopyButton, Tabs, Text, WhyList } from "../ui/parts.tsx";
import { CloseDetails } from "../ui/page.tsx";
import { Show, useLoaded } from "../ui/states.tsx";

const TABS = ["Why", "Recalled", "Seen", "Raw"] as const;

interface EventProps {
  event: number;
  agent: string | undefined;
  /** Stands below the reasons. */
  extra?: ComponentChildren;
  /** The place shows it by itself, so there is nothing to close but the sheet of narrow windows. */
  own?: boolean;
}

/** An event of the journal, for the pane on the right. */
export function EventDetails({ event, agent, extra }: EventProps): JSX.Element {
  const tab = useSignal<(typeof TABS)[number]>("Why");
  const entry = useLoaded(() => read("getJournalByEvent", { event, agent }), [event, agent]);
  return (
    <>
      <Tabs label="Details" tabs={TABS} chosen={tab.value} choose={(it) => (tab.value = it)} end={<CloseDetails />} />
      <div class="scroll grow pad stack loose" tabIndex={0} role="tabpanel" aria-label={tab.value}>
        <Show of={entry}>
          {(it) =>
            tab.value === "Why" ? (
              <>
                <div>
                  <h2 class="sect">Event {it.event}, {fullTime(it.at)}</h2>
                  <p><Coded text={readable(it.text)} /></p>
                </div>
                <div>
                  <h2 class="sect">Why</h2>
                  {it.why.length > 0 ? <WhyList items={it.why} of={agent} /> : <p class="dim">The journal gives no reason for this event: it came from outside.</p>}
                </div>
                <a href={address("journal", it.event, { agent })}>What it changed, and what it knew then</a>
                {extra}
              </>
            ) : tab.value === "Recalled" ? <Recalled task={it.turn} agent={agent} /> : tab.value === "Seen" ? <Seen event={event} agent={agent} /> : (
              <>
                <div class="row"><span class="dim grow">As the journal has it</span><CopyButton text={() => JSON.stringify(it.data, null, 2)} label="Copy the event" /></div>
                <pre class="code"><Text text={JSON.stringify(it.data, null, 2)} /></pre>
              </>
            )
          }
        </Show>
      </div>
    </>
  );
}

/** What the agent remembered for the request that an event belongs to. */
function Recalled({ task, agent }: { task: string | undefined; agent: string | undefined }): JSX.Element {
  const found = useLoaded(async () => (task ? await read("getMemoryContext", { task_id: task, agent }) : null), [task, agent]);
  return (
    <Show of={found}>
      {(it) => {
        const records = [...(it?.previous_conversations ?? []), ...(it?.code_references ?? [])];
        if (records.length === 0) return <p class="dim">Nothing in its memory has to do with this request.</p>;
        return (
          <ul class="recs">
            {records.map((record) => (
              <li><a class="rec" href={address("memory", record.id, { agent })}><p><Text text={readable(record.content)} /></p><span class="meta"><Text text={[record.source, record.layer, record.score === undefined ? undefined : `score ${record.score.toFixed(2)}`].filter(Boolean).join(" · ")} /></span></a></li>
            ))}
          </ul>
        );
      }}
    </Show>
  );
}

/** What the model was shown for the thought of an event. */
function Seen({ event, agent }: { event: number; agent: string | undefined }): JSX.Element {
  const prompt = useLoaded(() => read("getJournalByEventPrompt", { event, agent }).catch((why) => {
    if (why.code === "not_found" || why.status === 404) return null;
    throw why;
  }), [event, agent]);
  return (
    <Show of={prompt}>
      {(it) => it === null ? <p class="dim">No model was asked for this event.</p> : (
        <>
          <p class="dim">All that the model was shown for this thought, and nothing else.</p>
          {it.system && <div><h2 class="sect">Instructions</h2><pre class="code"><Text text={it.system} /></pre></div>}
          {it.messages.map((message) => (
            <div>
              <h2 class="sect"><Text text={String(message["role"] ?? "message")} /></h2>
              <pre class="code"><Text text={typeof message["content"] === "string" ? message["content"] : JSON.stringify(message["content"] ?? message, null, 2)} /></pre>
            </div>
          ))}
          {it.tools.length > 0 && <p class="dim">Skills it could choose from: <Text text={it.tools.map((tool) => String(tool["name"] ?? tool["id"] ?? "")).filter(Boolean).join(", ")} /></p>}
        </>
      )}
    </Show>
  );
}
