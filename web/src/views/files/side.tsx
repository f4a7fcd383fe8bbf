/** The left of Files: the tree, what the agent changed, or what a search found. */
import type { Signal } from "@preact/signals";
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import type { FileHit, FileNode } from "../../api/types.ts";
import { refusal } from "../../api/refusal.ts";
import { displayName, read, type Reply, waiting } from "../../state/app.ts";
import { address, agent, go } from "../../state/route.ts";
import { count, dayAndTime, firstLine, spelled, withoutEscapes } from "../../text.ts";
import { Icon } from "../../ui/icons.tsx";
import { Button, Field, Tabs, Text, When } from "../../ui/parts.tsx";
import { VirtualList } from "../../ui/virtual.tsx";
import { Empty, Fault, Loading, type Loading as Loads, Show } from "../../ui/states.tsx";
import { fileName, shortPath, type TreeRow, treeRows } from "./paths.ts";
import type { AgentChange, Open } from "./state.ts";

const KINDS = ["Files", "Changes"] as const;
export const OPERATIONS: Record<string, string> = { created: "made", modified: "changed", deleted: "deleted", moved: "moved" };

interface SideProps {
  tree: Loads<Reply<"getFilesTree">>;
  changes: Loads<AgentChange[]>;
  words: Signal<string>;
  open: Open;
  shown: string | undefined;
  change: string | undefined;
  touched: ReadonlyMap<string, number>;
  newFile: Signal<boolean>;
}

export function Side({ tree, changes, words, open, shown, change, touched, newFile }: SideProps): JSX.Element {
  const kind = useSignal<(typeof KINDS)[number]>(change ? "Changes" : "Files");
  const searching = words.value.trim() !== "";
  return (
    <div class="side">
      <div class="only-phone sidefind"><Field label="Search in files" icon="find" type="search" placeholder="Search in files" class="grow" value={words.value} onInput={(e) => (words.value = e.currentTarget.value)} /></div>
      {searching ? <Found words={words.value.trim()} clear={() => (words.value = "")} /> : (
        <>
          <Tabs label="What is listed" tabs={KINDS} chosen={kind.value} choose={(it) => (kind.value = it)} />
          {newFile.value && <NewFile done={() => (newFile.value = false)} />}
          {kind.value === "Files" ? (
            <Show of={tree} lines={6}>
              {(it) => <Tree nodes={it.children} incomplete={it.incomplete === true} open={open} shown={shown} changes={changes} touched={touched} />}
            </Show>
          ) : <Show of={changes} lines={4}>{(all) => <Changes all={all} chosen={change} />}</Show>}
        </>
      )}
    </div>
  );
}

/** Asks for the path of a new file. It is written when it is saved first. */
function NewFile({ done }: { done: () => void }): JSX.Element {
  const path = useSignal("");
  const begin = () => {
    const wanted = shortPath(path.value.trim());
    if (wanted === "") return;
    done();
    go("files", wanted, { new: "1" });
  };
  return (
    <form class="newfile" onSubmit={(e) => { e.preventDefault(); begin(); }}>
      <Field label="Path of the new file" placeholder="notes/today.md" autoFocus value={path.value} onInput={(e) => (path.value = e.currentTarget.value)} onKeyDown={(e) => e.key === "Escape" && done()} />
      <div class="row"><Button small look="main" onClick={begin} disabled={path.value.trim() === ""}>Begin</Button><Button small look="bare" onClick={done}>Leave it</Button></div>
    </form>
  );
}

function Tree({ nodes, incomplete, open, shown, changes, touched }: { nodes: readonly FileNode[]; incomplete: boolean; open: Open; shown: string | undefined; changes: Loads<AgentChange[]>; touched: ReadonlyMap<string, number> }): JSX.Element {
  const folders = open.folders.value;
  const rows = treeRows(nodes, folders);
  const byAgent = new Set(changes.state.value.kind === "there" ? changes.state.value.value.map((it) => shortPath(it.path)) : []);
  const asked = new Set(waiting.value.map((it) => pathOf(it.input)).filter((it) => it !== ""));
  if (rows.length === 0) return <Empty title="The folder is empty.">Ask the agent to make something, or begin a file yourself.</Empty>;
  const tall = matchMedia("(max-width: 700px)").matches;
  const toggle = (row: TreeRow) => {
    const now = new Set(folders);
    if (row.open) now.delete(row.path);
    else now.add(row.path);
    open.folders.value = now;
  };
  const mark = (row: TreeRow): [string, string] | null => {
    const within = (set: ReadonlySet<string>) => (row.type === "directory" && !row.open ? [...set].some((it) => it.startsWith(`${row.path}/`)) : set.has(row.path));
    if (within(asked)) return ["?", "a change waits for you"];
    if (open.files.value.some((it) => it.path === row.path && it.dirty.value)) return ["•", "not saved"];
    if (within(byAgent)) return ["M", "changed by an agent"];
    return null;
  };
  const keys = (e: KeyboardEvent, row: TreeRow) => {
    if (row.type === "directory" && ((e.key === "ArrowRight" && !row.open) || (e.key === "ArrowLeft" && row.open))) {
      e.preventDefault();
      toggle(row);
    } else if (e.key === "ArrowDown" || e.key === "ArrowUp") {
      const all = [...document.querySelectorAll<HTMLElement>(".side .row-key")];
      const next = all[all.indexOf(e.currentTarget as HTMLElement) + (e.key === "ArrowDown" ? 1 : -1)];
      e.preventDefault();
      next?.focus();
    }
  };
  return (
    <nav class="tree" aria-label="Files of the project">
      <VirtualList
        items={rows} rowHeight={tall ? 40 : 26} label="Files of the project" keyOf={(row) => row.path} reveal={rows.findIndex((it) => it.path === shown)}
        row={(row) => {
          const note = mark(row);
          const fresh = Date.now() - (touched.get(row.path) ?? 0) < 4_000;
          const inner = (
            <>
              {row.type === "directory" ? <span class={row.open ? "fold open" : "fold"}><Icon name="right" small /></span> : <Icon name={row.type === "link" ? "link" : "file"} small />}
              <span class="clip"><Text text={row.name} /></span>
              {note && <span class={note[0] === "?" ? "mk need" : "mk"} title={note[1]}><span aria-hidden="true">{note[0]}</span><span class="hush">{note[1]}</span></span>}
            </>
          );
          const style = { paddingLeft: `${8 + row.depth * 14}px` };
          if (row.type === "directory") return <button type="button" class="go row-key" style={style} aria-expanded={row.open} onClick={() => toggle(row)} onKeyDown={(e) => keys(e, row)}>{inner}</button>;
          if (row.type === "special") return <span class="go dim" style={style} title="no file that can be opened">{inner}</span>;
          return <a class={`go row-key ${fresh ? "fresh-file" : ""}`} style={style} href={address("files", row.path)} aria-current={row.path === shown ? "true" : undefined} title={spelled(row.path)} onKeyDown={(e) => keys(e, row)}>{inner}</a>;
        }}
        before={incomplete ? <p class="dim t2 treenote">Not all is listed: the folder has too many files.</p> : undefined}
      />
    </nav>
  );
}

/** The path that the input of a call names. */
function pathOf(input: unknown): string {
  const path = (input as { path?: unknown } | null | undefined)?.path;
  return typeof path === "string" ? shortPath(path) : "";
}

function Changes({ all, chosen }: { all: readonly AgentChange[]; chosen: string | undefined }): JSX.Element {
  if (all.length === 0) return <Empty title="Nothing to take back.">What the agent changes in files stands here, with the difference, and can be taken back.</Empty>;
  return (
    <div class="scroll grow" tabIndex={0} role="region" aria-label="Changes of the agent">
      <ul class="list">
        {all.map((it) => (
          <li>
            <a class="rec row-key" href={address("files", undefined, { change: it.id })} aria-current={it.id === chosen ? "true" : undefined}>
              <p class="clip"><Text text={fileName(shortPath(it.path))} /></p>
              <span class="meta"><span class="clip">{OPERATIONS[it.operation] ?? it.operation} for <Text text={displayName(it.by)} /></span><When at={it.at} show={dayAndTime} /></span>
            </a>
          </li>
        ))}
      </ul>
    </div>
  );
}

type Finding = { kind: "asking" } | { kind: "found"; hits: readonly FileHit[]; incomplete: boolean } | { kind: "failed"; why: unknown };

function Found({ words, clear }: { words: string; clear: () => void }): JSX.Element {
  const state = useSignal<Finding>({ kind: "asking" });
  const from = agent.value;
  const ask = () => {
    read("getFilesSearch", { agent: from, query: words, limit: 200 }).then(
      (it) => { state.value = { kind: "found", hits: [...it.results], incomplete: it.incomplete }; },
      (error) => { state.value = { kind: "failed", why: refusal(error) }; },
    );
  };
  useEffect(() => {
    const timer = setTimeout(ask, 200);
    return () => clearTimeout(timer);
  }, [words, from]);
  const now = state.value;
  if (now.kind === "asking") return <Loading lines={4} />;
  if (now.kind === "failed") return <Fault error={now.why} again={ask} />;
  if (now.hits.length === 0) return <Empty title="Nothing found."><>No file has <code><Text text={words} /></code> in it. <Button small look="bare" onClick={clear}>Show the files again</Button></></Empty>;
  const groups = new Map<string, FileHit[]>();
  for (const hit of now.hits) groups.set(hit.path, [...(groups.get(hit.path) ?? []), hit]);
  return (
    <>
      <div class="row foundhead t2"><span class="dim grow clip" role="status">{count(now.hits.length, "line")} in {count(groups.size, "file")}{now.incomplete ? ", and more" : ""}</span><Button small look="bare" onClick={clear}>Clear</Button></div>
      <div class="scroll grow" tabIndex={0} role="region" aria-label="What was found">
        {[...groups].map(([path, hits]) => (
          <section class="found">
            <h2 class="t2 clip" title={spelled(shortPath(path))}><Text text={shortPath(path)} /></h2>
            {hits.map((hit) => (
              <a class="go row-key" href={address("files", shortPath(path), { line: String(hit.line || 1) })}>
                <span class="n">{hit.line || ""}</span>
                <code class="clip"><Marked text={firstLine(withoutEscapes(hit.content), 200)} words={words} /></code>
              </a>
            ))}
          </section>
        ))}
      </div>
    </>
  );
}

/** A text with the words that were looked for marked in it. */
function Marked({ text, words }: { text: string; words: string }): JSX.Element {
  const at = text.toLowerCase().indexOf(words.toLowerCase());
  if (at < 0) return <Text text={text} />;
  return <><Text text={text.slice(Math.max(0, at - 24), at)} /><mark><Text text={text.slice(at, at + words.length)} /></mark><Text text={text.slice(at + words.length)} /></>;
}
