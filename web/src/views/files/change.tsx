/** One change of the agent: what it did to the file, and the button that takes it back. */
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { refusal, type Refusal } from "../../api/refusal.ts";
import { change as call, displayName, may } from "../../state/app.ts";
import { address, agent } from "../../state/route.ts";
import { fullTime, spelled } from "../../text.ts";
import { Button, EventLink, Note, Text } from "../../ui/parts.tsx";
import { notify } from "../../ui/say.ts";
import { Empty, Fault, Loading, type Loading as Loads } from "../../ui/states.tsx";
import { DiffView } from "./diff.tsx";
import { diffCounts } from "./lines.ts";
import { OPERATIONS } from "./side.tsx";
import { shortPath } from "./paths.ts";
import { type AgentChange, openOf } from "./state.ts";

export function ChangeView({ id, change, changes }: { id: string; change: AgentChange | undefined; changes: Loads<AgentChange[]> }): JSX.Element {
  const working = useSignal(false);
  const fault = useSignal<Refusal | null>(null);
  const state = changes.state.value;
  const takeBack = async (which: string, path: string) => {
    working.value = true;
    fault.value = null;
    try {
      const undone = await call("postFilesUndo", { agent: agent.peek(), change: which });
      changes.again();
      void openOf(agent.peek()).files.peek().find((it) => it.path === shortPath(path))?.load();
      notify(`Taken back: ${spelled(shortPath(undone.path))} is as it was.`, "Do it again", () => void takeBack(undone.id, path));
    } catch (error) {
      fault.value = refusal(error);
    }
    working.value = false;
  };
  const body = () => {
    if (state.kind === "loading") return <Loading />;
    if (state.kind === "failed") return <Fault error={state.why} again={changes.again} />;
    if (!change) return <Empty title="This change was taken back, or is kept no longer.">The list on the left has what can be taken back.</Empty>;
    const path = shortPath(change.path);
    const counts = change.diff ? diffCounts(change.diff) : null;
    return (
      <>
        <div class="pad stack">
          <h2 class="t5"><a class="quiet" href={address("files", path)}><Text text={path} /></a></h2>
          <p class="soft">
            {OPERATIONS[change.operation] ?? change.operation} by <code><Text text={change.skill} /></code> for <Text text={displayName(change.by)} />, {fullTime(change.at)}
            {change.from && <>, from <code><Text text={shortPath(change.from)} /></code></>}
            {counts && <span class="num">, +{counts.added} −{counts.removed}</span>} {change.event !== undefined && <EventLink event={change.event} />}
          </p>
          {fault.value && <Note tone="bad" icon="no"><b><Text text={fault.value.message} /> </b>{fault.value.code === "changed_since" ? "The lines were changed since, so nothing was done." : "Nothing was changed."}</Note>}
          {may("write_files") && (
            <div class="row">
              <Button icon="undo" disabled={working.value} onClick={() => void takeBack(change.id, change.path)}>Take back</Button>
              <span class="dim t2">Only these lines. If they were changed since, nothing is done, and it is said.</span>
            </div>
          )}
        </div>
        {change.diff ? <DiffView diff={change.diff} /> : <p class="dim pad">{change.too_long ? "The difference is too long to be shown." : "The server does not tell the difference of this change. Open the file to see how it is now."}</p>}
      </>
    );
  };
  return <div class="scroll" tabIndex={0} role="region" aria-label="Change" key={id}>{body()}</div>;
}
