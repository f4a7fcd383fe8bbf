/** Files: the tree with what changes in it, the open files in an editor, what the agent changed, and a search. */
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { ViewProps } from "../../shell/places.ts";
import { onKey } from "../../shell/keys.tsx";
import { connection, may, read } from "../../state/app.ts";
import { agent, go } from "../../state/route.ts";
import { Button, Field, IconButton } from "../../ui/parts.tsx";
import { Page } from "../../ui/page.tsx";
import { Empty, Fault, useLoaded } from "../../ui/states.tsx";
import { ChangeView } from "./change.tsx";
import { Side } from "./side.tsx";
import { Tabs } from "./tabs.tsx";
import { EditorPane } from "./editor.tsx";
import { shortPath } from "./paths.ts";
import { type AgentChange, fileOf, openOf } from "./state.ts";
import "./style.css";

export default function Files({ id, query }: ViewProps): JSX.Element {
  const from = agent.value;
  const open = openOf(from);
  const shown = id === undefined ? undefined : shortPath(id);
  const changeId = query.get("change") ?? undefined;
  const tree = useLoaded(() => read("getFilesTree", { agent: from }), [from]);
  const changes = useLoaded(async () => [...(await read("getFilesChanges", { agent: from, limit: 200 })).changes] as AgentChange[], [from]);
  const words = useSignal(query.get("find") ?? "");
  const choosing = useSignal(shown === undefined && changeId === undefined);
  const follow = useSignal(false);
  const touched = useSignal<ReadonlyMap<string, number>>(new Map());

  // What changes in the folder: the tree, the list of changes and the open files follow.
  const pending = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => {
    const again = () => {
      clearTimeout(pending.current);
      pending.current = setTimeout(() => {
        tree.again();
        changes.again();
      }, 250);
    };
    let often: ReturnType<typeof setInterval> | undefined;
    const end = connection.follow("followFiles", () => ({ agent: from }), (batch) => {
      const now = new Map(touched.peek());
      for (const it of batch) {
        const path = shortPath(it.path);
        now.set(path, Date.now());
        void open.files.peek().find((file) => file.path === path)?.load();
        if (follow.peek() && it.operation !== "deleted") go("files", path, {}, true);
      }
      touched.value = now;
      again();
    }, {
      opened: (handle) => { if (handle) for (const file of open.files.peek()) void file.load(); },
      // A server that cannot watch the folder: it is looked at now and then.
      failed: () => { often ??= setInterval(() => { if (!document.hidden) again(); }, 5_000); },
    });
    return () => {
      clearInterval(often);
      clearTimeout(pending.current);
      end();
    };
  }, [from]);

  // The address names what is in front; opening it adds its tab.
  useEffect(() => {
    if (shown !== undefined) fileOf(from, shown, query.get("new") === "1");
    if (changeId !== undefined && !open.changes.peek().includes(changeId)) open.changes.value = [...open.changes.peek(), changeId];
    if (shown !== undefined || changeId !== undefined) choosing.value = false;
  }, [from, shown, changeId]);

  // The folders around the file in front are open.
  useEffect(() => {
    if (shown === undefined || !shown.includes("/")) return;
    const parts = shown.split("/").slice(0, -1);
    const all = parts.map((_, at) => parts.slice(0, at + 1).join("/"));
    if (all.every((it) => open.folders.peek().has(it))) return;
    open.folders.value = new Set([...open.folders.peek(), ...all]);
  }, [shown, from]);

  useEffect(() => onKey((key) => {
    if (key !== "j" && key !== "k") return false;
    const rows = [...document.querySelectorAll<HTMLElement>(".side .row-key")];
    if (rows.length === 0) return false;
    const at = rows.indexOf(document.activeElement as HTMLElement);
    const next = at < 0 ? 0 : Math.max(0, Math.min(rows.length - 1, at + (key === "j" ? 1 : -1)));
    rows[next]!.focus();
    return true;
  }), []);

  const file = open.files.value.find((it) => it.path === shown);
  const change = changes.state.value.kind === "there" ? changes.state.value.value.find((it) => it.id === changeId) : undefined;
  const newFile = useSignal(false);
  const failed = tree.state.value.kind === "failed" ? tree.state.value.why : null;

  return (
    <Page
      title="Files"
      sub="/project"
      actions={
        <>
          <Field label="Search in files" icon="find" type="search" placeholder="Search in files" size={18} class="hide-s" value={words.value} onInput={(e) => { words.value = e.currentTarget.value; choosing.value = true; }} />
          {may("write_files") && <IconButton icon="plus" label="New file…" onClick={() => { newFile.value = true; choosing.value = true; }} />}
          <IconButton icon="eye" label="Open what the agent changes" aria-pressed={follow.value} onClick={() => (follow.value = !follow.value)} />
          <IconButton icon="files" label={choosing.value ? "Show the open file" : "Choose a file"} class="only-phone" onClick={() => (choosing.value = !choosing.value)} />
        </>
      }
    >
      {failed ? <div class="body scroll"><Fault error={failed} again={tree.again} /></div> : (
        <div class={`cols c-f body ${choosing.value ? "choosing" : ""}`}>
          <Side tree={tree} changes={changes} words={words} open={open} shown={shown} change={changeId} touched={touched.value} newFile={newFile} />
          <div class="edit">
            <Tabs open={open} shown={shown} change={changeId} changes={changes.state.value.kind === "there" ? changes.state.value.value : []} />
            {file ? <EditorPane file={file} line={Number(query.get("line")) || undefined} last={lastChange(changes.state.value.kind === "there" ? changes.state.value.value : [], file.path)} />
              : changeId !== undefined ? <ChangeView id={changeId} change={change} changes={changes} />
              : (
                <div class="scroll" tabIndex={0} role="region" aria-label="Open file">
                  <Empty title="No file is open.">Choose one from the list. What the agent changes is marked there, and can be taken back under Changes.</Empty>
                  <div class="only-phone pad"><Button onClick={() => (choosing.value = true)}>Choose a file</Button></div>
                </div>
              )}
          </div>
        </div>
      )}
    </Page>
  );
}

function lastChange(changes: readonly AgentChange[], path: string): AgentChange | undefined {
  return changes.find((it) => shortPath(it.path) === path);
}
