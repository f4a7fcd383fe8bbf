/** Settings: who you are, the model, what you allowed, links, people, keys, secrets, the look, and an export of everything. */
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { baseUrl } from "../../api/client.ts";
import type { ViewProps } from "../../shell/places.ts";
import { connection, displayName, may, prefer, preferences, status } from "../../state/app.ts";
import { address, go } from "../../state/route.ts";
import { count, fullTime, size } from "../../text.ts";
import { Button, Note, Tag, Text } from "../../ui/parts.tsx";
import { Page } from "../../ui/page.tsx";
import { notify } from "../../ui/say.ts";
import { download } from "../tasks/parts.tsx";
import { useRowKeys } from "../tasks/rows.ts";
import { GrantsSection, LinksSection } from "./access.tsx";
import { Choice, endsIn, Option, Section } from "./bits.tsx";
import { gather } from "./export.ts";
import { ModelSection } from "./model.tsx";
import { KeysSection, PeopleSection, SecretsSection } from "./people.tsx";
import "./style.css";

export default function Settings({ id }: ViewProps): JSX.Element {
  const admin = may("admin");
  const servers = toolServers(status.value);
  const places: [name: string, label: string, part: () => JSX.Element][] = [
    ["you", "You", () => <YouSection />],
    ["model", "Model", () => <ModelSection />],
    ["allowed", "What you allowed", () => <GrantsSection />],
    ["links", "Links", () => <LinksSection />],
    ...(admin ? [["people", "People", () => <PeopleSection />] as [string, string, () => JSX.Element]] : []),
    ["keys", "Keys", () => <KeysSection />],
    ...(admin ? [["secrets", "Secrets", () => <SecretsSection />] as [string, string, () => JSX.Element]] : []),
    ...(servers.length > 0 ? [["tools", "Tool servers", () => <ToolServers servers={servers} />] as [string, string, () => JSX.Element]] : []),
    ["look", "Look and keys", () => <LookSection />],
    ["export", "Export", () => <ExportSection />],
  ];
  const at = places.findIndex(([name]) => name === id);
  useRowKeys(places.length, at, (next) => go("settings", places[next]![0], {}, true));
  // The address names a section: it is brought into sight.
  useEffect(() => {
    if (id === undefined) return;
    const heading = document.getElementById(`set-${id}-h`);
    const sheet = heading?.closest(".sheet");
    if (!heading || !sheet) return;
    heading.focus({ preventScroll: true });
    // What stands above is still being read, and grows: it stays in sight until the reader moves.
    const show = () => heading.scrollIntoView({ block: "start", behavior: "auto" });
    const observer = new ResizeObserver(show);
    observer.observe(sheet);
    const end = () => observer.disconnect();
    const timer = setTimeout(end, 3_000);
    const moves = ["wheel", "keydown", "touchstart", "pointerdown"] as const;
    for (const move of moves) addEventListener(move, end, { once: true, passive: true });
    return () => {
      end();
      clearTimeout(timer);
      for (const move of moves) removeEventListener(move, end);
    };
  }, [id, admin]);
  return (
    <Page title="Settings">
      <div class="body scroll setroot" tabIndex={0} role="region" aria-label="Settings">
        <nav class="setnav" aria-label="Sections">{places.map(([name, label]) => <a class="go" href={address("settings", name)} aria-current={name === id ? "true" : undefined}>{label}</a>)}</nav>
        <div class="sheet">{places.map(([name, , Part]) => <Part key={name} />)}</div>
      </div>
    </Page>
  );
}

function YouSection(): JSX.Element {
  const me = connection.me.value;
  const hello = connection.hello.value;
  const about = status.value;
  return (
    <Section name="you" title="You">
      <div class="card">
        <Option title={<Text text={displayName(me?.caller ?? "")} />} about={<>{me?.role ? <>role {me.role}: </> : "may "}<Text text={me?.permissions.map((it) => it.replaceAll("_", " ")).join(", ") || "nothing beyond talking"} /></>}>
          {me?.expires && <Tag>{endsIn(me.expires)}</Tag>}
          {hello && !hello.open && <Button small onClick={() => connection.signOut()}>Sign out</Button>}
        </Option>
        <Option title={<>Monas <Text text={about?.version ?? hello?.version ?? ""} /></>} about={about ? <>{count(about.agents.length, "agent")}, running since {fullTime(about.started)}, page <code><Text text={hello?.build.slice(0, 8) ?? ""} /></code></> : "The server does not tell more about itself."}>
          <a class="b small" href={new URL("connect", baseUrl()).href}>Addresses and commands</a>
        </Option>
        {hello?.open && <div class="optnote"><Note icon="lock">This server asks for no credentials: all who reach its address come in as you did.</Note></div>}
      </div>
    </Section>
  );
}

interface ToolServer {
  name: string;
  where: string;
  up: boolean | undefined;
  tools: string[];
  fault: string;
}

/** The tool servers, if the server tells them. */
function toolServers(given: unknown): ToolServer[] {
  const told = given as { tool_servers?: unknown; mcp?: unknown } | null;
  const list = Array.isArray(told?.tool_servers) ? told.tool_servers : Array.isArray(told?.mcp) ? told.mcp : [];
  return (list as Record<string, unknown>[]).map((it) => ({
    name: String(it["name"] ?? ""),
    where: String(it["url"] ?? it["command"] ?? ""),
    up: typeof it["up"] === "boolean" ? it["up"] : undefined,
    tools: Array.isArray(it["tools"]) ? it["tools"].map((tool) => (typeof tool === "string" ? tool : String((tool as { name?: unknown }).name ?? ""))) : [],
    fault: typeof it["fault"] === "string" ? it["fault"] : "",
  }));
}

function ToolServers({ servers }: { servers: readonly ToolServer[] }): JSX.Element {
  return (
    <Section name="tools" title="Tool servers" about="Tools of other servers, over MCP, are skills of the agent.">
      <div class="card">
        {servers.map((it) => (
          <Option title={<Text text={it.name} />} about={<><Text text={it.where} />{it.tools.length > 0 && <>, {count(it.tools.length, "tool")}: <Text text={it.tools.slice(0, 8).join(", ")} /></>}{it.fault && <>, <Text text={it.fault} /></>}</>}>
            {it.up !== undefined && <Tag tone={it.up ? "good" : "bad"}>{it.up ? "up" : "down"}</Tag>}
          </Option>
        ))}
      </div>
    </Section>
  );
}

function LookSection(): JSX.Element {
  const set = preferences.value;
  const onOff = [["on", "On"], ["off", "Off"]] as const;
  const notices = (on: boolean) => {
    if (!on || !("Notification" in window)) return prefer({ notices: false });
    void Notification.requestPermission().then((answer) => {
      prefer({ notices: answer === "granted" });
      if (answer !== "granted") notify("The browser does not allow notices of this page.");
    });
  };
  return (
    <Section name="look" title="Look and keys" about="Kept in this browser.">
      <div class="card">
        <Option title="Colours"><Choice label="Colours" options={[["system", "As the system"], ["light", "Light"], ["dark", "Dark"]]} chosen={set.theme} choose={(theme) => prefer({ theme })} /></Option>
        <Option title="Tell me when it asks" about="a notice of the system, and the number in the tab; no sound"><Choice label="Tell me when it asks" options={onOff} chosen={set.notices ? "on" : "off"} choose={(it) => notices(it === "on")} /></Option>
        <Option title="Single-letter keys" about="A, E, R on a question; J, K in lists; G then a letter to go somewhere"><Choice label="Single-letter keys" options={onOff} chosen={set.letters ? "on" : "off"} choose={(it) => prefer({ letters: it === "on" })} /></Option>
        <Option title="Changes"><Choice label="Changes" options={[["side", "Side by side"], ["unified", "One below the other"]]} chosen={set.diff} choose={(diff) => prefer({ diff })} /></Option>
        <Option title="Reasoning"><Choice label="Reasoning" options={[["folded", "Folded"], ["open", "Open"]]} chosen={set.reasoning} choose={(reasoning) => prefer({ reasoning })} /></Option>
      </div>
    </Section>
  );
}

function ExportSection(): JSX.Element {
  const step = useSignal<string | null>(null);
  const stopped = useRef(false);
  useEffect(() => () => { stopped.current = true; }, []);
  const run = async () => {
    stopped.current = false;
    step.value = "beginning";
    const made = await gather((it) => { step.value = it; }, () => stopped.current);
    step.value = null;
    if (!made) return;
    download(made, `monas-${new Date().toISOString().slice(0, 10)}.json`);
    notify(`Exported ${size(made.size)}.`);
  };
  return (
    <Section name="export" title="Export" about="Conversations, memory, law, journal, tasks, and the lists of links and keys, as far as you may read them. Secrets are not in it.">
      <div class="card">
        <Option title="Everything, as one JSON file" about={step.value === null ? "It is put together here, in the browser." : <span role="status">Reading <Text text={step.value} /></span>}>
          {step.value === null ? <Button small icon="save" onClick={() => void run()}>Export</Button> : <Button small onClick={() => { stopped.current = true; step.value = null; }}>Stop</Button>}
        </Option>
        {may("operate") && <Option title="A copy of all data of the server" about={<>also while it runs: <code>monas backup FOLDER</code></>} />}
      </div>
    </Section>
  );
}
