/** Links to this conversation: what they allow, until when, those that are in use, and the way to take them back. */
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { baseUrl } from "../../api/client.ts";
import { refusal } from "../../api/refusal.ts";
import type { Capability } from "../../api/types.ts";
import { change, may, read } from "../../state/app.ts";
import { agent } from "../../state/route.ts";
import { dayAndTime } from "../../text.ts";
import { Icon } from "../../ui/icons.tsx";
import { Button, CopyButton, Dialog, Note, Text } from "../../ui/parts.tsx";
import { notify } from "../../ui/say.ts";
import { useLoaded } from "../../ui/states.tsx";

const TIMES: [string, string][] = [["10m", "10 minutes"], ["1d", "1 day"], ["7d", "7 days"]];
type Allowed = "look" | "answer" | "talk";
const WORDS: Record<Allowed, string> = { look: "look, and change nothing", answer: "look, and answer its questions", talk: "take part in your name: write, and answer" };
const allows = (it: Capability): string => (it.read_only ? "may look" : it.permissions.length > 1 ? "may take part" : "may look and answer");

export default function Share({ id, title, close }: { id: string; title: string; close: () => void }): JSX.Element {
  const allowed = useSignal<Allowed>("look");
  const time = useSignal("10m");
  const made = useSignal<string | null>(null);
  const problem = useSignal<string | null>(null);
  const links = useLoaded(async () => (await read("getCapabilities", {})).capabilities.filter((it) => it.session === id), [id]);
  const run = async (work: () => Promise<void>) => {
    problem.value = null;
    try {
      await work();
    } catch (error) {
      problem.value = refusal(error).message;
    }
    links.again();
  };
  const make = () => run(async () => {
    const rights = allowed.value === "look" ? { read_only: true, permissions: [] } : allowed.value === "answer" ? { permissions: ["approve"] } : {};
    const capability = await change("postCapabilities", { session: id, ...rights, note: title.slice(0, 60), for: time.value });
    const url = baseUrl();
    const to = `/chat/${id}${agent.peek() ? `?agent=${agent.peek()}` : ""}`;
    url.hash = `token=${encodeURIComponent(capability.token ?? "")}&to=${encodeURIComponent(to)}`;
    made.value = url.href;
  });
  const end = (it: Capability) => run(async () => {
    await change("deleteCapabilitiesById", { id: it.id });
    made.value = null;
    notify("The link is ended. Pages that were opened with it are closed.");
  });
  const state = links.state.value;
  return (
    <Dialog label="Share" close={close}>
      <div class="dlg">
        <h2 class="t5">Share this conversation</h2>
        {problem.value && <Note tone="bad" icon="no"><Text text={problem.value} /></Note>}
        {made.value === null ? (
          <>
            <fieldset class="stack tight plainset">
              <legend class="soft">With the link one may</legend>
              {(["look", ...(may("approve") ? ["answer"] : []), "talk"] as Allowed[]).map((it) => <label class="tick"><input type="radio" name="may" checked={allowed.value === it} onChange={() => (allowed.value = it)} />{WORDS[it]}</label>)}
            </fieldset>
            <label class="row"><span class="soft">It ends after</span><select class="select" aria-label="It ends after" value={time.value} onChange={(e) => (time.value = e.currentTarget.value)}>{TIMES.map(([value, text]) => <option value={value}>{text}</option>)}</select></label>
            <p class="dim t2"><Icon name="lock" small /> This conversation and nothing else: no files, no memory, no other conversation.</p>
            <div class="row"><Button look="main" icon="link" onClick={() => void make()}>Make the link</Button><Button look="bare" onClick={close}>Close</Button></div>
          </>
        ) : (
          <>
            <div class="row"><label class="field grow"><input readOnly aria-label="Link" value={made.value} onFocus={(e) => e.currentTarget.select()} /></label><CopyButton text={made.value} label="Copy the link" small={false} /></div>
            <p class="dim t2"><Icon name="lock" small /> Who has the link has these rights until it ends. It is shown once.</p>
            <div class="row"><Button look="main" onClick={close}>Done</Button><Button look="bare" onClick={() => (made.value = null)}>Another link</Button></div>
          </>
        )}
        {state.kind === "there" && state.value.length > 0 && (
          <div>
            <h3 class="sect">In use</h3>
            <ul class="stack tight">
              {state.value.map((it) => (
                <li class="row"><Icon name="link" small /><span class="grow">{allows(it)}{it.expires && <>, until {dayAndTime(it.expires)}</>}<span class="dim">, {it.last_used ? <>last used {dayAndTime(it.last_used)}</> : "not used yet"}</span></span><Button small look="warn" onClick={() => void end(it)}>End it</Button></li>
              ))}
            </ul>
          </div>
        )}
      </div>
    </Dialog>
  );
}
