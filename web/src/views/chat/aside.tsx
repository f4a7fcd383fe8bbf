/** Beside the conversation: why it asks or answered so, what it recalled, what the model was shown, and the files that changed. */
import type { JSX } from "preact";
import type { Chat } from "../../state/chat.ts";
import { address } from "../../state/route.ts";
import { EventDetails } from "../../shell/details.tsx";
import { EventLink, Text } from "../../ui/parts.tsx";
import { Aside } from "../../ui/page.tsx";
import { agentStatus, may } from "../../state/app.ts";
import { Icon } from "../../ui/icons.tsx";

/** The event that matters most at the moment: what waits, else the last answer. */
function mainEvent(chat: Chat): number | null {
  const { parts, restored } = chat.conversation;
  if (!restored) return null;
  const waits = parts.findLast((it) => it.kind === "question" && it.decision === null);
  const last = waits ?? parts.findLast((it) => it.kind === "answer" || it.kind === "question");
  return last && last.event > 0 ? last.event : null;
}

export function ChatAside({ chat }: { chat: Chat; version: number }): JSX.Element {
  const event = mainEvent(chat);
  const files = [...chat.conversation.files].reverse();
  const plan = plansOf(chat);
  const extra = (
    <>
      {plan.length > 0 && (
        <div>
          <h2 class="sect">Plan</h2>
          <ul class="plan">{plan.map((it) => <li class={it.state}><Icon name={it.state === "done" ? "ok" : it.state === "now" ? "bolt" : "clock"} small /><Text text={it.text} /></li>)}</ul>
        </div>
      )}
      {files.length > 0 && (
        <div>
          <h2 class="sect">Changed in this conversation</h2>
          <ul class="stack tight">
            {files.map(([path, it]) => <li class="row"><Icon name="file" small /><a class="grow quiet clip" href={address("files", path, { agent: chat.agent })}><Text text={path} /></a><span class="dim t2"><Text text={it.operation} /></span><EventLink event={it.event} of={chat.agent} /></li>)}
          </ul>
        </div>
      )}
    </>
  );
  if (event === null || !may("operate")) return <Aside title="Why"><p class="dim">When the agent asks, acts or answers, the reasons stand here, each with the event of the journal that it rests on.</p><div class="stack loose">{extra}</div></Aside>;
  return <EventDetails event={event} agent={chat.agent} extra={extra} own />;
}

/** The plan of the present request, if the agent made one. */
function plansOf(chat: Chat): { text: string; state: "done" | "now" | "later" }[] {
  const plans = agentStatus.value?.plans ?? [];
  const mine = plans.find((it) => it["task"] === chat.conversation.task || it["conversation"] === chat.id);
  const steps = mine?.["steps"];
  if (!Array.isArray(steps)) return [];
  return steps.map((step: any) => {
    const done = step?.done === true || step?.state === "done";
    const now = step?.state === "now" || step?.state === "running";
    return { text: typeof step === "string" ? step : String(step?.text ?? step?.what ?? step?.says ?? ""), state: done ? "done" : now ? "now" : "later" } as const;
  });
}
