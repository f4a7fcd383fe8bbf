/** A link to this conversation: what it allows, until when, and the way to take it back. */
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { baseUrl } from "../../api/client.ts";
import { refusal } from "../../api/refusal.ts";
import { change } from "../../state/app.ts";
import { agent } from "../../state/route.ts";
import { Icon } from "../../ui/icons.tsx";
import { Button, CopyButton, Dialog, Note, Text } from "../../ui/parts.tsx";
import { notify } from "../../ui/say.ts";

const TIMES: [string, string][] = [["10m", "10 minutes"], ["1d", "1 day"], ["7d", "7 days"]];

export function Share({ id, title, close }: { id: string; title: string; close: () => void }): JSX.Element {
  const allowed = useSignal<"look" | "answer">("look");
  const time = useSignal("10m");
  const made = useSignal<{ id: string; url: string } | null>(null);
  const problem = useSignal<string | null>(null);
  const make = async () => {
    problem.value = null;
    try {
      const wanted = allowed.value === "look" ? { read_only: true } : { permissions: ["approve"] };
      const capability = await change("postCapabilities", { ...wanted, note: `page: ${title}`.slice(0, 120), for: time.value });
      const url = baseUrl();
      const to = `/chat/${id}${agent.peek() ? `?agent=${agent.peek()}` : ""}`;
      url.hash = `token=${encodeURIComponent(capability.token ?? "")}&to=${encodeURIComponent(to)}`;
      made.value = { id: capability.id, url: url.href };
    } catch (error) {
      problem.value = refusal(error).message;
    }
  };
  const end = async () => {
    const link = made.peek();
    if (!link) return;
    try {
      await change("deleteCapabilitiesById", { id: link.id });
      notify("The link is ended. Pages that were opened with it are closed.");
      close();
    } catch (error) {
      problem.value = refusal(error).message;
    }
  };
  return (
    <Dialog label="Share" close={close}>
      <div class="dlg">
        <h2 class="t5">A link to this conversation</h2>
        {problem.value && <Note tone="bad" icon="no"><Text text={problem.value} /></Note>}
        {made.value === null ? (
          <>
            <fieldset class="stack tight plainset">
              <legend class="soft">With the link one may</legend>
              <label class="tick"><input type="radio" name="may" checked={allowed.value === "look"} onChange={() => (allowed.value = "look")} />look: read what you can read, change nothing</label>
              <label class="tick"><input type="radio" name="may" checked={allowed.value === "answer"} onChange={() => (allowed.value = "answer")} />look, and answer its questions</label>
            </fieldset>
            <fieldset class="row wrap plainset">
              <legend class="soft">It ends after</legend>
              {TIMES.map(([value, text]) => <label class="tick"><input type="radio" name="ends" checked={time.value === value} onChange={() => (time.value = value)} />{text}</label>)}
            </fieldset>
            <p class="dim t2">You can end it at any time, here or under Settings.</p>
            <div class="row"><Button look="main" icon="link" onClick={() => void make()}>Make the link</Button><Button look="bare" onClick={close}>Cancel</Button></div>
          </>
        ) : (
          <>
            <div class="row"><label class="field grow"><input readOnly aria-label="Link" value={made.value.url} onFocus={(e) => e.currentTarget.select()} /></label><CopyButton text={made.value.url} label="Copy the link" small={false} /></div>
            <p class="dim t2"><Icon name="lock" small /> Who has the link has these rights until it ends. It is shown once.</p>
            <div class="row"><Button look="main" onClick={close}>Done</Button><Button look="warn" onClick={() => void end()}>End it</Button></div>
          </>
        )}
      </div>
    </Dialog>
  );
}
