/** What was allowed in advance, and links that were handed out. */
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { baseUrl } from "../../api/client.ts";
import type { Capability, Grant } from "../../api/types.ts";
import { agentName, change, connection, displayName, may, read } from "../../state/app.ts";
import { address, agent } from "../../state/route.ts";
import { dayAndTime } from "../../text.ts";
import { Button, Field, Tag, Text } from "../../ui/parts.tsx";
import { notify } from "../../ui/say.ts";
import { Show, useLoaded } from "../../ui/states.tsx";
import { endsIn, Option, Refused, Section, Select, ShownOnce, TIMES, useAction } from "./bits.tsx";

/** What a grant allows, in words. */
function allows(grant: Grant): JSX.Element {
  return <><code><Text text={grant.skill} /></code>{grant.prefix ? <> where {grant.field ? <><Text text={grant.field} /> begins with </> : "it begins with "}<code><Text text={grant.prefix} /></code></> : ""}</>;
}

export function GrantsSection(): JSX.Element {
  const from = agent.value;
  const grants = useLoaded(async () => [...(await read("getGrants", { agent: from })).grants] as Grant[], [from]);
  const action = useAction();
  const me = displayName(connection.me.value?.caller ?? "");
  const revoke = async (grant: Grant) => {
    const done = await action.run(() => change("deleteGrantsById", { id: grant.id, agent: from }));
    if (done) notify("Revoked. The next such call asks again.");
    grants.again();
  };
  return (
    <Section name="allowed" title="What you have allowed" about={<>Each of these began as a yes to a question of <Text text={agentName.value} />. Revoke one, and it asks again.</>}>
      <div class="card">
        <Show of={grants} lines={2}>
          {(all) => (
            <>
              {all.length === 0 && <div class="empty">Nothing is allowed in advance. It asks each time.</div>}
              {all.map((it) => (
                <Option title={allows(it)} about={<>{it.conversation ? <a href={address("chat", it.conversation)}>in one conversation</a> : "anywhere"}, {it.until === 0 ? "without an end" : endsIn(it.until)}{displayName(it.by) !== me && <>, for <Text text={displayName(it.by)} /></>}{it.agreed && displayName(it.agreed) !== me && <>, agreed by <Text text={displayName(it.agreed)} /></>}</>}>
                  {may("approve") && <Button small look="warn" disabled={action.working.value} aria-label={`Revoke: ${it.skill} ${it.prefix ?? ""}`} onClick={() => void revoke(it)}>Revoke</Button>}
                </Option>
              ))}
              <Refused of={action} />
            </>
          )}
        </Show>
      </div>
    </Section>
  );
}

/** What a link allows, in words. */
function lends(it: Capability): string {
  const parts = [it.read_only ? "may look, and change nothing" : "may do what you may"];
  if (it.session) parts.push("one conversation");
  if (it.task) parts.push(`one task, ${it.task}`);
  if (it.methods?.length) parts.push(`only ${it.methods.join(", ")}`);
  if (it.permissions.length > 0 && !it.read_only) parts.push(`with ${it.permissions.join(", ")}`);
  return parts.join("; ");
}

const WHAT = [["look", "may look, and change nothing"], ["talk", "may talk and read files"], ["all", "may do what I may"]] as const;

export function LinksSection(): JSX.Element {
  const links = useLoaded(async () => [...(await read("getCapabilities", {})).capabilities] as Capability[], []);
  const action = useAction();
  const open = useSignal(false);
  const note = useSignal("");
  const what = useSignal<(typeof WHAT)[number][0]>("look");
  const time = useSignal<(typeof TIMES)[number][0]>("1h");
  const task = useSignal("");
  const made = useSignal<string | null>(null);
  const make = async () => {
    const done = await action.run(() => change("postCapabilities", {
      for: time.value,
      ...(note.value.trim() ? { note: note.value.trim() } : {}),
      ...(what.value === "look" ? { read_only: true } : what.value === "talk" ? { permissions: ["read_files"] } : {}),
      ...(task.value.trim() ? { task: task.value.trim() } : {}),
    }));
    if (!done) return;
    const base = baseUrl();
    base.hash = `token=${done.token ?? ""}`;
    made.value = done.token ? base.href : null;
    open.value = false;
    note.value = "";
    task.value = "";
    links.again();
  };
  const end = async (it: Capability) => {
    if (await action.run(() => change("deleteCapabilitiesById", { id: it.id }))) notify("Ended, also for what is open with it.");
    links.again();
  };
  return (
    <Section name="links" title="Links that you have handed out" about="A link is a key: all who have it may do what it says, until it ends or you end it.">
      <div class="card">
        <Show of={links} lines={2}>
          {(all) => (
            <>
              {all.length === 0 && <div class="empty">No link is in use.</div>}
              {all.map((it) => (
                <Option title={<Text text={it.note || (it.kind === "session" ? "Lent in a session" : "A link")} />} about={<><Text text={lends(it)} />{it.last_used ? <>; last used {dayAndTime(it.last_used)}</> : "; not used yet"}{it.by && displayName(it.by) !== displayName(connection.me.value?.caller ?? "") && <>; by <Text text={displayName(it.by)} /></>}</>}>
                  <Tag tone={it.expires ? "accent" : undefined}>{endsIn(it.expires)}</Tag>
                  <Button small look="warn" disabled={action.working.value} aria-label={`End it: ${it.note || it.id}`} onClick={() => void end(it)}>End it</Button>
                </Option>
              ))}
              {made.value !== null && <ShownOnce what="The link is made." text={made.value} done={() => (made.value = null)} />}
              {open.value ? (
                <form class="setform" onSubmit={(e) => { e.preventDefault(); void make(); }}>
                  <div class="formgrid">
                    <span>For</span><Field label="For" placeholder="a person, or what it is about" value={note.value} onInput={(e) => (note.value = e.currentTarget.value)} />
                    <span>Allows</span><Select label="Allows" options={WHAT} value={what.value} change={(value) => (what.value = value)} />
                    <span>Lasts</span><Select label="Lasts" options={TIMES} value={time.value} change={(value) => (time.value = value)} />
                    <span>Only task</span><Field label="Only task" placeholder="all of them" value={task.value} onInput={(e) => (task.value = e.currentTarget.value)} />
                  </div>
                  <div class="row"><button type="submit" class="b main small" disabled={action.working.value}>Make the link</button><Button small look="bare" onClick={() => (open.value = false)}>Leave it</Button></div>
                </form>
              ) : <div class="opt"><Button small icon="link" onClick={() => (open.value = true)}>Make a link…</Button></div>}
              <Refused of={action} />
            </>
          )}
        </Show>
      </div>
    </Section>
  );
}
