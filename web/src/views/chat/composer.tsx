/** Where one writes: text, files and pictures; what is typed is kept until it is sent. */
import { useSignal } from "@preact/signals";
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { Attachment } from "../../state/conversation.ts";
import { agentName } from "../../state/app.ts";
import { size } from "../../text.ts";
import { Icon } from "../../ui/icons.tsx";
import { Button, IconButton, Text } from "../../ui/parts.tsx";
import { notify } from "../../ui/say.ts";

/** The largest file that is attached; the server takes no more. */
const LARGEST = 4_000_000;

export interface ComposerProps {
  /** Under this name the draft is kept. */
  name: string;
  send: (text: string, attachments: Attachment[]) => void;
  stop: (() => void) | null;
  /** Stands at the left of the buttons: agent and model. */
  tags: ComponentChildren;
  /** Text to begin with, for an edit; the number changes with each. */
  given: { text: string; attachments: Attachment[]; number: number } | null;
  autoFocus: boolean;
}

const draftKey = (name: string) => `monas.draft.${name}`;

export function Composer({ name, send, stop, tags, given, autoFocus }: ComposerProps): JSX.Element {
  const text = useSignal(kept(name));
  const attached = useSignal<Attachment[]>([]);
  const over = useSignal(false);
  const input = useRef<HTMLTextAreaElement>(null);
  const files = useRef<HTMLInputElement>(null);

  useEffect(() => {
    text.value = kept(name);
    attached.value = [];
    if (autoFocus && matchMedia("(hover: hover)").matches && !document.querySelector("dialog[open]")) input.current?.focus();
  }, [name]);
  useEffect(() => {
    if (!given) return;
    text.value = given.text;
    attached.value = given.attachments;
    input.current?.focus();
  }, [given?.number]);

  const type = (value: string) => {
    text.value = value;
    try {
      if (value === "") sessionStorage.removeItem(draftKey(name));
      else sessionStorage.setItem(draftKey(name), value);
    } catch {
      /* not kept over a reload */
    }
  };
  const submit = () => {
    const words = text.peek().trim();
    if (words === "" && attached.peek().length === 0) return;
    send(words === "" ? "Look at what is attached." : words, attached.peek());
    type("");
    attached.value = [];
    input.current?.focus();
  };
  const attach = async (list: Iterable<File>) => {
    for (const file of list) {
      if (file.size > LARGEST) {
        notify(`${file.name} is too large: ${size(file.size)}. At most ${size(LARGEST)}.`);
        continue;
      }
      const read = await readFile(file);
      attached.value = [...attached.peek(), read];
    }
  };
  const key = (e: KeyboardEvent) => {
    if (e.key === "Enter" && !e.shiftKey && !e.isComposing) {
      e.preventDefault();
      submit();
    }
  };
  return (
    <form
      class={over.value ? "compose over" : "compose"} onSubmit={(e) => { e.preventDefault(); submit(); }}
      onDragOver={(e) => { e.preventDefault(); over.value = true; }} onDragLeave={() => (over.value = false)}
      onDrop={(e) => { e.preventDefault(); over.value = false; void attach(e.dataTransfer?.files ?? []); }}
      onPaste={(e) => { const list = [...(e.clipboardData?.files ?? [])]; if (list.length > 0) { e.preventDefault(); void attach(list); } }}
    >
      <div class="in">
        {attached.value.length > 0 && (
          <ul class="clips">
            {attached.value.map((it, at) => (
              <li class="tag line"><Icon name="file" small /><Text text={it.name} /><IconButton icon="no" small label={`Remove ${it.name}`} onClick={() => (attached.value = attached.value.filter((_, other) => other !== at))} /></li>
            ))}
          </ul>
        )}
        <textarea
          ref={input} rows={1} data-composer placeholder={`Ask ${agentName.value}`} aria-label={`Message to ${agentName.value}`} dir="auto"
          value={text.value} onInput={(e) => type(e.currentTarget.value)} onKeyDown={key}
        />
        <div>
          <IconButton icon="clip" label="Attach a file or a picture" onClick={() => files.current?.click()} />
          <input type="file" multiple hidden ref={files} aria-label="Files to attach" onChange={(e) => { void attach([...(e.currentTarget.files ?? [])]); e.currentTarget.value = ""; }} />
          {tags}
          <span class="grow" />
          {stop && <Button look="bare" icon="stop" onClick={stop}>Stop</Button>}
          <button type="submit" class="b main icon" aria-label="Send" title="Send (Enter)" disabled={text.value.trim() === "" && attached.value.length === 0}><Icon name="up" /></button>
        </div>
      </div>
    </form>
  );
}

function kept(name: string): string {
  try {
    return sessionStorage.getItem(draftKey(name)) ?? "";
  } catch {
    return "";
  }
}

const TEXT = /^(text\/|application\/(json|xml|x-yaml|toml|javascript|x-sh|sql))/;

/** Text as text, all else as base64. */
async function readFile(file: File): Promise<Attachment> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  const media_type = file.type || "application/octet-stream";
  if (TEXT.test(media_type) || file.type === "") {
    try {
      return { name: file.name, media_type: file.type || "text/plain", content: new TextDecoder("utf-8", { fatal: true }).decode(bytes) };
    } catch {
      /* it is not text */
    }
  }
  let binary = "";
  for (let at = 0; at < bytes.length; at += 0x8000) binary += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return { name: file.name, media_type, data: btoa(binary) };
}
