/** More that can be done with a conversation: rename it, save it, put it away. */
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { refusal } from "../../api/refusal.ts";
import { change, read } from "../../state/app.ts";
import type { Chat as OpenChat } from "../../state/chat.ts";
import { go } from "../../state/route.ts";
import { readSessions } from "../../state/sessions.ts";
import { Icon } from "../../ui/icons.tsx";
import { Button, Dialog } from "../../ui/parts.tsx";
import { notify } from "../../ui/say.ts";

export default function More({ chat, title, close }: { chat: OpenChat; title: string; close: () => void }): JSX.Element {
  const name = useSignal(title);
  const rename = async () => {
    close();
    try {
      await change("patchSessionsById", { id: chat.id, agent: chat.agent, title: name.value.trim() });
      readSessions();
    } catch (error) {
      notify(refusal(error).message);
    }
  };
  const save = async (format: "markdown" | "json") => {
    close();
    try {
      const content = await read("getSessionsByIdExport", { id: chat.id, agent: chat.agent, format });
      download(`${title.replace(/[^\w -]+/g, "").trim() || "conversation"}.${format === "json" ? "json" : "md"}`, typeof content === "string" ? content : JSON.stringify(content, null, 2));
    } catch (error) {
      notify(refusal(error).message);
    }
  };
  const archive = async () => {
    close();
    try {
      await change("patchSessionsById", { id: chat.id, agent: chat.agent, archived: true });
      readSessions();
      go("chat");
      notify("Put away.", "Undo", () => void change("patchSessionsById", { id: chat.id, agent: chat.agent, archived: false }).then(readSessions));
    } catch (error) {
      notify(refusal(error).message);
    }
  };
  return (
    <Dialog label="More" close={close}>
      <form class="dlg" onSubmit={(e) => { e.preventDefault(); void rename(); }}>
        <h2 class="t5">This conversation</h2>
        <div class="row"><label class="field grow"><input aria-label="Title" value={name.value} onInput={(e) => (name.value = e.currentTarget.value)} /></label><button class="b" type="submit" disabled={name.value.trim() === "" || name.value === title}>Rename</button></div>
        <div class="row wrap">
          <Button icon="save" onClick={() => void save("markdown")}>Save as Markdown</Button>
          <Button icon="save" onClick={() => void save("json")}>Save as JSON</Button>
          <Button onClick={() => void archive()}><Icon name="files" small />Put away</Button>
          <Button look="bare" onClick={close}>Close</Button>
        </div>
      </form>
    </Dialog>
  );
}

/** Has the browser save a text as a file. */
function download(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
