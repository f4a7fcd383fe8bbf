/** The editor of one open file, with what happened to it: unsaved, changed meanwhile, deleted, refused. */
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { connection, may } from "../../state/app.ts";
import { shortTime, size, spelled } from "../../text.ts";
import { Button, CopyButton, Note, Text } from "../../ui/parts.tsx";
import { notify, shout } from "../../ui/say.ts";
import { Fault, Loading } from "../../ui/states.tsx";
import { addedLines } from "./lines.ts";
import type { CodeEditor } from "./code.ts";
import type { AgentChange, OpenFile } from "./state.ts";

export function EditorPane({ file, line, last }: { file: OpenFile; line: number | undefined; last: AgentChange | undefined }): JSX.Element {
  const host = useRef<HTMLDivElement>(null);
  const editor = useRef<CodeEditor | null>(null);
  const ready = useSignal(0);
  const fault = useSignal<unknown>(null);
  const comparing = useSignal(false);
  const showing = useRef(file);
  showing.current = file;

  const save = () => {
    const it = showing.current;
    if (!it.dirty.peek() || !may("write_files")) return;
    void it.save().then((done) => {
      if (done) {
        comparing.value = false;
        editor.current?.compare(null);
        notify(`Saved ${spelled(it.path)}.`);
      } else if (it.newer.peek()) shout("The file changed meanwhile. Nothing was saved; your text is kept.");
      else if (it.fault.peek()) shout("The file was not saved. Your text is kept.");
    });
  };
  const begin = () => {
    fault.value = null;
    import("./code.ts").then(
      ({ CodeEditor }) => {
        if (!host.current || editor.current) return;
        editor.current = new CodeEditor(host.current, { readOnly: () => !may("write_files"), save });
        ready.value += 1;
      },
      (error) => { fault.value = error; },
    );
  };
  useEffect(() => {
    begin();
    return () => {
      editor.current?.destroy();
      editor.current = null;
    };
  }, []);

  const there = file.state.value === "there";
  const turn = file.turn.value;
  const loaded = ready.value;
  useEffect(() => {
    if (!editor.current || !there) return;
    comparing.value = false;
    editor.current.show(file);
    if (line) editor.current.goTo(line);
  }, [file, there, turn, loaded]);
  useEffect(() => {
    if (editor.current && there && line) editor.current.goTo(line);
  }, [line]);
  const diff = last?.diff;
  useEffect(() => {
    if (editor.current && there) editor.current.mark(diff ? addedLines(diff) : []);
  }, [diff, file, turn, loaded, there]);

  const newer = file.newer.value;
  const refused = file.fault.value;
  const compare = () => {
    comparing.value = !comparing.value;
    editor.current?.compare(comparing.value && newer?.text != null ? newer.text : null);
  };
  const keepMine = () => {
    comparing.value = false;
    editor.current?.compare(null);
    file.keepMine();
    save();
  };
  const mayWrite = may("write_files");
  return (
    <div class="pane">
      {newer && (
        <div class="clash" role="group" aria-label="The file changed meanwhile">
          <Note tone="need" icon="files">
            <b>{newer.text === null ? "This file was deleted meanwhile. " : "This file changed meanwhile. "}</b>
            {file.dirty.value ? "Nothing was overwritten; your text is kept here." : "Your text is kept here."}
            <div class="row wrap">
              {newer.text !== null && <Button small aria-pressed={comparing.value} onClick={compare}>{comparing.value ? "Hide the difference" : "Show the difference"}</Button>}
              {newer.text !== null && <Button small onClick={() => { editor.current?.compare(null); file.takeTheirs(); }}>Take theirs</Button>}
              {mayWrite && <Button small look="warn" onClick={keepMine}>{newer.text === null ? "Write it again" : "Save mine over it"}</Button>}
            </div>
          </Note>
        </div>
      )}
      {refused && (
        <div class="clash">
          <Note tone="bad" icon="no">
            <b><Text text={refused.message} /> </b>Not saved; your text is kept here.{refused.hint && <> <Text text={refused.hint} /></>}
            <div class="row"><Button small onClick={save}>Try again</Button></div>
          </Note>
        </div>
      )}
      {file.state.value === "loading" && <Loading lines={8} />}
      {file.state.value === "failed" && <Fault error={file.why.value} again={() => void file.load()} />}
      {fault.value !== null && <Fault error={fault.value} kept="The file was not opened." again={begin} />}
      <div class="code-host" ref={host} hidden={!there || fault.value !== null} />
      {there && (
        <div class="efoot t1">
          <span class="clip dim"><Text text={file.path} /></span>
          <span class="grow" />
          {!mayWrite && <span class="dim">you may read it, not change it</span>}
          <span class="dim num hide-s">{size(new Blob([file.base]).size)}{last ? `, agent ${shortTime(last.at)}` : ""}</span>
          <CopyButton text={() => file.text} label="Copy the text" />
          {mayWrite && (
            <Button small look={file.dirty.value ? "main" : undefined} icon="save" disabled={!file.dirty.value || file.saving.value || connection.link.value.kind !== "live"} onClick={save} title="Save (Ctrl S)">
              {file.saving.value ? "Saving" : file.dirty.value ? "Save" : "Saved"}
            </Button>
          )}
        </div>
      )}
    </div>
  );
}
