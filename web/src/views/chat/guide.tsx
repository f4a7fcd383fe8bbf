/** What one may do next, in the first conversations: the short way from a first change to why the agent asked. */
import type { JSX } from "preact";
import type { Chat } from "../../state/chat.ts";
import { mayChange } from "../../state/app.ts";
import { address } from "../../state/route.ts";
import { sessions } from "../../state/sessions.ts";
import { Icon } from "../../ui/icons.tsx";
import { Button } from "../../ui/parts.tsx";

const WHY = "why did you ask me?";

/** Shown below the last answer, while the reader has few conversations. */
export function Guide({ chat, idle }: { chat: Chat; idle: boolean }): JSX.Element | null {
  if (!idle || !mayChange.value || sessions.value.length > 3) return null;
  const { parts } = chat.conversation;
  const last = parts.at(-1);
  if (last?.kind !== "answer" || parts.length > 40) return null;
  const said = parts.filter((it) => it.kind === "user").map((it) => it.text.toLowerCase());
  const asked = parts.some((it) => it.kind === "question" && it.decision !== null) && !said.includes(WHY);
  const kept = parts.slice(-3).some((it) => it.kind === "steps" && it.steps.some((step) => step.tool === "remember" && step.state === "done"));
  if (!asked && !kept) return null;
  return (
    <div class="guide">
      {asked && <Button small icon="book" onClick={() => chat.send(WHY)}>{WHY}</Button>}
      {kept && <a class="b small" href={address("memory", undefined, { agent: chat.agent })}><Icon name="mem" small />See how it is kept</a>}
    </div>
  );
}
