/** How many tokens of a model a request took, from the thoughts in the journal. */
import type { JSX } from "preact";
import { read } from "../../state/app.ts";
import { count, grouped } from "../../text.ts";
import { useLoaded } from "../../ui/states.tsx";

/** A line below the last answer; nothing where no model was asked. */
export function Tokens({ task, since, agent }: { task: string; since: number; agent: string | undefined }): JSX.Element | null {
  const used = useLoaded(async () => {
    const { events } = await read("getJournal", { agent, after: Math.max(0, since - 1), limit: 200 });
    const thoughts = events.filter((it) => it.turn === task && typeof it.data["tokens"] === "number" && it.data["tokens"] > 0);
    return { thoughts: thoughts.length, tokens: thoughts.reduce((sum, it) => sum + Number(it.data["tokens"]), 0) };
  }, [task, since, agent]);
  const now = used.state.value;
  if (now.kind !== "there" || now.value.tokens === 0) return null;
  return <p class="spent dim t2">{grouped(now.value.tokens)} tokens in {count(now.value.thoughts, "thought")}</p>;
}
