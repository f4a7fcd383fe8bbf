/** The tabs of the open files and changes. */
import type { JSX } from "preact";
import { displayName, waiting } from "../../state/app.ts";
import { address, go } from "../../state/route.ts";
import { dayAndTime, spelled } from "../../text.ts";
import { Icon } from "../../ui/icons.tsx";
import { IconButton, Tag, Text } from "../../ui/parts.tsx";
import { notify } from "../../ui/say.ts";
import { fileName, shortPath } from "./paths.ts";
import type { AgentChange, Open, OpenFile } from "./state.ts";

interface TabsProps {
  open: Open;
  shown: string | undefined;
  change: string | undefined;
  changes: readonly AgentChange[];
}

/** Links rather than a tablist: each tab has an address of its own, and a button that closes it. */
export function Tabs({ open, shown, change, changes }: TabsProps): JSX.Element {
  const files = open.files.value;
  const ids = open.changes.value;
  const next = (without: string) => {
    const left = files.filter((it) => it.path !== without);
    const at = Math.max(0, files.findIndex((it) => it.path === without) - 1);
    return left[Math.min(at, left.length - 1)]?.path;
  };
  const close = (file: OpenFile) => {
    const before = open.files.peek();
    open.files.value = before.filter((it) => it !== file);
    if (file.path === shown) go("files", next(file.path), {}, true);
    if (file.dirty.peek()) notify(`Closed ${spelled(fileName(file.path))} without saving it.`, "Open it again", () => {
      if (!open.files.peek().includes(file)) open.files.value = [...open.files.peek(), file];
      go("files", file.path);
    });
  };
  const closeChange = (id: string) => {
    open.changes.value = ids.filter((it) => it !== id);
    if (id === change) go("files", files.at(-1)?.path, {}, true);
  };
  const asked = (path: string) => waiting.value.some((it) => shortPath(String((it.input as { path?: unknown } | undefined)?.path ?? "")) === path);
  return (
    <nav class="etabs" aria-label="Open files">
      {files.map((file) => {
        const last = changes.find((it) => shortPath(it.path) === file.path);
        return (
          <div class={file.path === shown ? "etab on" : "etab"}>
            <a href={address("files", file.path)} aria-current={file.path === shown ? "true" : undefined} title={spelled(file.path)}>
              <Icon name="file" small /><span class="clip"><Text text={fileName(file.path)} /></span>
              {asked(file.path) ? <Tag tone="need">asks</Tag> : last ? <Tag tone="think" title={`changed for ${spelled(displayName(last.by))} by ${spelled(last.skill)}`}><Text text={dayAndTime(last.at)} /></Tag> : null}
              {file.dirty.value && <span class="unsaved" title="not saved"><span class="hush">not saved</span></span>}
            </a>
            <IconButton icon="no" small label={`Close ${spelled(fileName(file.path))}`} onClick={() => close(file)} />
          </div>
        );
      })}
      {ids.map((id) => {
        const it = changes.find((one) => one.id === id);
        return (
          <div class={id === change ? "etab on" : "etab"}>
            <a href={address("files", undefined, { change: id })} aria-current={id === change ? "true" : undefined}>
              <Icon name="undo" small /><span class="clip">{it ? <Text text={fileName(shortPath(it.path))} /> : "A change"}</span><Tag>change</Tag>
            </a>
            <IconButton icon="no" small label={`Close the change ${it ? spelled(fileName(shortPath(it.path))) : ""}`} onClick={() => closeChange(id)} />
          </div>
        );
      })}
    </nav>
  );
}
