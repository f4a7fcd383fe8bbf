/** People and their roles, sign-in links, API keys, and secrets that agents use. */
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import type { ApiKey, SecretName, User } from "../../api/types.ts";
import { change, connection, displayName, may, read } from "../../state/app.ts";
import { count, dayAndTime, shortTime } from "../../text.ts";
import { Button, Field, Tag, Text } from "../../ui/parts.tsx";
import { notify } from "../../ui/say.ts";
import { Show, useLoaded } from "../../ui/states.tsx";
import { Ask, endsIn, Option, Refused, Section, Select, ShownOnce, TIMES, useAction } from "./bits.tsx";

const ROLES = [["viewer", "viewer: reads and talks"], ["user", "user: works and approves"], ["operator", "operator: runs the server"], ["admin", "admin: people and keys"]] as const;
type Role = User["role"];
const isMe = (name: string) => displayName(name) === displayName(connection.me.value?.caller ?? "");

export function PeopleSection(): JSX.Element {
  const users = useLoaded(async () => [...(await read("getUsers", {})).users] as User[], []);
  const action = useAction();
  const open = useSignal(false);
  const name = useSignal("");
  const role = useSignal<Role>("user");
  const how = useSignal<"link" | "key">("link");
  const once = useSignal<{ what: string; text: string } | null>(null);
  const add = async () => {
    const wanted = name.value.trim();
    const done = await action.run(() => change("postUsers", { name: wanted, role: role.value, ...(how.value === "key" ? { key: true } : {}) }));
    if (!done) return;
    if (done.link) once.value = { what: `The link that signs ${done.user.name} in, once, ${endsIn(done.link.expires)}.`, text: done.link.url };
    else if (done.key?.secret) once.value = { what: `The key of ${done.user.name}.`, text: done.key.secret };
    name.value = "";
    open.value = false;
    users.again();
  };
  const link = async (user: User) => {
    const done = await action.run(() => change("postUsersByNameLink", { name: user.name }));
    if (done) once.value = { what: `A link that signs ${user.name} in, once, ${endsIn(done.expires)}. An earlier one has ended.`, text: done.url };
  };
  const setRole = async (user: User, wanted: Role) => {
    const before = user.role;
    if (await action.run(() => change("putUsersByName", { name: user.name, role: wanted }))) {
      notify(`${user.name} is ${wanted} from now on.`, "Undo", () => void setRole({ ...user, role: wanted }, before));
    }
    users.again();
  };
  const remove = async (user: User) => {
    if (await action.run(() => change("deleteUsersByName", { name: user.name }))) notify(`${user.name} is removed; its keys and open connections have ended.`);
    users.again();
  };
  return (
    <Section name="people" title="People" about="A person signs in with a link that counts once; programs have keys. There are no passwords.">
      <div class="card">
        <Show of={users} lines={3}>
          {(all) => (
            <>
              {all.length === 0 && <div class="empty">Only you, at this machine. Add a person, and hand over the link.</div>}
              {all.map((it) => (
                <Option title={<><Text text={it.name} /> {isMe(it.name) && <span class="dim">you</span>}</>} about={<>{count(it.keys, "key")}, since {shortTime(it.created)}</>}>
                  <Select label={`Role of ${it.name}`} options={ROLES} value={it.role} disabled={action.working.value || isMe(it.name)} change={(value) => void setRole(it, value)} />
                  <Button small disabled={action.working.value} aria-label={`Sign-in link for ${it.name}`} onClick={() => void link(it)}>Sign-in link</Button>
                  {!isMe(it.name) && <Ask verb="Remove" sure="Remove, with all keys" label={it.name} disabled={action.working.value} act={() => void remove(it)} />}
                </Option>
              ))}
              {once.value && <ShownOnce what={<Text text={once.value.what} />} text={once.value.text} done={() => (once.value = null)} />}
              {open.value ? (
                <form class="setform" onSubmit={(e) => { e.preventDefault(); if (name.value.trim() !== "") void add(); }}>
                  <div class="formgrid">
                    <span>Name</span><Field label="Name" placeholder="ada" value={name.value} onInput={(e) => (name.value = e.currentTarget.value)} />
                    <span>Role</span><Select label="Role" options={ROLES} value={role.value} change={(value) => (role.value = value)} />
                    <span>Comes in</span><Select label="Comes in" options={[["link", "with a link, in a browser"], ["key", "with a key, as a program"]]} value={how.value} change={(value) => (how.value = value)} />
                  </div>
                  <div class="row"><button type="submit" class="b main small" disabled={action.working.value || name.value.trim() === ""}>Add</button><Button small look="bare" onClick={() => (open.value = false)}>Leave it</Button></div>
                </form>
              ) : <div class="opt"><Button small icon="plus" onClick={() => (open.value = true)}>Add a person…</Button></div>}
              <Refused of={action} />
            </>
          )}
        </Show>
      </div>
    </Section>
  );
}

export function KeysSection(): JSX.Element {
  const keys = useLoaded(async () => [...(await read("getKeys", {})).keys] as ApiKey[], []);
  const action = useAction();
  const open = useSignal(false);
  const name = useSignal("");
  const user = useSignal("");
  const scope = useSignal<"" | "read-only" | "read_files">("");
  const time = useSignal<(typeof TIMES)[number][0]>("30d");
  const once = useSignal<string | null>(null);
  const make = async () => {
    const done = await action.run(() => change("postKeys", { for: time.value, ...(user.value.trim() ? { user: user.value.trim() } : {}), ...(name.value.trim() ? { name: name.value.trim() } : {}), ...(scope.value ? { scopes: [scope.value] } : {}) }));
    if (!done) return;
    once.value = done.secret;
    name.value = "";
    open.value = false;
    keys.again();
  };
  const revoke = async (it: ApiKey) => {
    if (await action.run(() => change("deleteKeysById", { id: it.id }))) notify("Revoked, also for what is open with it.");
    keys.again();
  };
  return (
    <Section name="keys" title="Keys" about="For programs, on every protocol. A key reaches no further than you do.">
      <div class="card">
        <Show of={keys} lines={2}>
          {(all) => (
            <>
              {all.length === 0 && <div class="empty">No keys.</div>}
              {all.map((it) => (
                <Option title={<Text text={it.name || it.id} />} about={<>{!isMe(it.user) && <>of <Text text={it.user} />, </>}{it.scopes.length === 0 ? "as much as its user" : <>only <Text text={it.scopes.join(", ")} /></>}, {it.last_used ? `last used ${dayAndTime(it.last_used)}` : "not used yet"}</>}>
                  <Tag>{endsIn(it.expires)}</Tag>
                  <Ask verb="Revoke" sure="Revoke for good" label={it.name || it.id} disabled={action.working.value} act={() => void revoke(it)} />
                </Option>
              ))}
              {once.value !== null && <ShownOnce what="The key is made." text={once.value} done={() => (once.value = null)} />}
              {open.value ? (
                <form class="setform" onSubmit={(e) => { e.preventDefault(); void make(); }}>
                  <div class="formgrid">
                    <span>Name</span><Field label="Name of the key" placeholder="what it is for" value={name.value} onInput={(e) => (name.value = e.currentTarget.value)} />
                    {may("admin") && <><span>User</span><Field label="User of the key" placeholder={displayName(connection.me.value?.caller ?? "")} value={user.value} onInput={(e) => (user.value = e.currentTarget.value)} /></>}
                    <span>Allows</span><Select label="What the key allows" options={[["", "as much as you may"], ["read-only", "what changes nothing"], ["read_files", "reading files"]]} value={scope.value} change={(value) => (scope.value = value)} />
                    <span>Lasts</span><Select label="How long the key lasts" options={TIMES} value={time.value} change={(value) => (time.value = value)} />
                  </div>
                  <div class="row"><button type="submit" class="b main small" disabled={action.working.value}>Make the key</button><Button small look="bare" onClick={() => (open.value = false)}>Leave it</Button></div>
                </form>
              ) : <div class="opt"><Button small icon="plus" onClick={() => (open.value = true)}>Make a key…</Button></div>}
              <Refused of={action} />
            </>
          )}
        </Show>
      </div>
    </Section>
  );
}

export function SecretsSection(): JSX.Element {
  const secrets = useLoaded(async () => [...(await read("getSecrets", {})).secrets] as SecretName[], []);
  const action = useAction();
  const editing = useSignal<string | null>(null);
  const name = useSignal("");
  const value = useSignal("");
  const keep = async () => {
    const wanted = (editing.value === "" ? name.value : editing.value ?? "").trim();
    const done = await action.run(() => change("putSecretsByName", { name: wanted, value: value.value }));
    value.value = "";
    if (!done) return;
    notify(`${wanted} is kept, sealed.`);
    name.value = "";
    editing.value = null;
    secrets.again();
  };
  const remove = async (it: SecretName) => {
    if (await action.run(() => change("deleteSecretsByName", { name: it.name }))) notify(`${it.name} is removed. What uses it fails until there is another.`);
    secrets.again();
  };
  return (
    <Section name="secrets" title="Secrets" about={<>Keys of models and tool servers, used by name as <code>secret:NAME</code>. Values are sealed and never shown.</>}>
      <div class="card">
        <Show of={secrets} lines={2}>
          {(all) => (
            <>
              {all.length === 0 && <div class="empty">No secrets are kept.</div>}
              {all.map((it) => (
                <Option title={<code><Text text={it.name} /></code>} about={<>changed {dayAndTime(it.changed)}</>}>
                  <Button small aria-label={`Change ${it.name}`} onClick={() => { editing.value = it.name; value.value = ""; }}>Change…</Button>
                  <Ask verb="Remove" sure="Remove for good" label={it.name} disabled={action.working.value} act={() => void remove(it)} />
                </Option>
              ))}
              {editing.value !== null ? (
                <form class="setform" onSubmit={(e) => { e.preventDefault(); if (value.value !== "" && (editing.value !== "" || name.value.trim() !== "")) void keep(); }}>
                  <div class="formgrid">
                    <span>Name</span>{editing.value === "" ? <Field label="Name of the secret" placeholder="openai" value={name.value} onInput={(e) => (name.value = e.currentTarget.value)} /> : <code><Text text={editing.value} /></code>}
                    <span>Value</span><Field label="Value of the secret" type="password" value={value.value} onInput={(e) => (value.value = e.currentTarget.value)} />
                  </div>
                  <div class="row"><button type="submit" class="b main small" disabled={action.working.value || value.value === ""}>Keep it</button><Button small look="bare" onClick={() => { editing.value = null; value.value = ""; }}>Leave it</Button></div>
                </form>
              ) : <div class="opt"><Button small icon="plus" onClick={() => (editing.value = "")}>Add a secret…</Button></div>}
              <Refused of={action} />
            </>
          )}
        </Show>
      </div>
    </Section>
  );
}

