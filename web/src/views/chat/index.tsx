/** Chat: one conversation with an agent, followed live, and the page that begins one. */
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { refusal } from "../../api/refusal.ts";
import { onKey } from "../../shell/keys.tsx";
import type { ViewProps } from "../../shell/places.ts";
import { modelWords } from "../../shell/status.tsx";
import { agents, agentName, may, mayChange, onlySession } from "../../state/app.ts";
import { type Chat as OpenChat, chatOf } from "../../state/chat.ts";
import type { AnswerPart, Attachment, Part, UserPart } from "../../state/conversation.ts";
import { address, agent, go } from "../../state/route.ts";
import { lastSession, sessions } from "../../state/sessions.ts";
import { Icon } from "../../ui/icons.tsx";
import { later } from "../../ui/later.tsx";
import { Button, IconButton, Text } from "../../ui/parts.tsx";
import { Page } from "../../ui/page.tsx";
import { Fault, Loading } from "../../ui/states.tsx";
import { notify, say } from "../../ui/say.ts";
import { type LogHandle, VirtualLog } from "../../ui/virtual.tsx";
import { ChatAside } from "./aside.tsx";
import { Composer } from "./composer.tsx";
import { Guide } from "./guide.tsx";
import { LivePart, PartView, Working } from "./parts.tsx";
import { Tokens } from "./tokens.tsx";
import { Welcome } from "./welcome.tsx";

const Share = later(() => import("./share.tsx"));
const More = later(() => import("./more.tsx"));

/** What the composer of a new conversation begins with, when it branches from another one. */
let carried: { text: string; attachments: Attachment[]; number: number } | null = null;

export default function Chat({ id, query }: ViewProps): JSX.Element {
  return id === undefined ? <Begin /> : <Conversation key={`${agent.value ?? ""}/${id}`} id={id} message={query.get("message") ?? undefined} />;
}

/** The first screen: it works at once, and nothing has to be chosen before. */
function Begin(): JSX.Element {
  const begin = (text: string, attachments: Attachment[] = []) => {
    const id = crypto.randomUUID();
    carried = null;
    chatOf(id, agent.peek(), false).send(text, attachments);
    go("chat", id);
  };
  return (
    <Page title="New conversation">
      <div class="body scroll" tabIndex={0} role="region" aria-label="How to begin"><Welcome begin={begin} /></div>
      <Composer name={`new.${agent.value ?? ""}`} send={begin} stop={null} tags={<Tags />} given={carried} autoFocus />
    </Page>
  );
}

/** The agent and the model that answer, beside the composer. */
function Tags(): JSX.Element {
  return (
    <>
      {agents.value.length > 1 && (
        <select
          class="tag line hide-s" aria-label="Agent" value={agent.value ?? "default"}
          onChange={(e) => go("chat", undefined, { agent: e.currentTarget.value === "default" ? "" : e.currentTarget.value })}
        >
          {agents.value.map((it) => <option value={it.id}>{it.name || it.id}</option>)}
        </select>
      )}
      {modelWords() !== "" && <a class="tag line hide-s quiet" href={address("settings", "model")} title="The model that answers"><Text text={modelWords()} /></a>}
    </>
  );
}

const estimate = (part: Part): number => {
  if (part.kind === "question") return part.decision ? 240 : 380;
  if (part.kind === "steps") return 34 + 28 * Math.min(6, part.steps.length);
  const text = part.kind === "note" ? part.text : part.text;
  return 56 + 23 * Math.ceil(text.length / 90) + 12 * (text.match(/\n/g)?.length ?? 0);
};

function Conversation({ id, message }: { id: string; message: string | undefined }): JSX.Element {
  const chat = chatOf(id, agent.value);
  const version = chat.version.value;
  const { conversation } = chat;
  const parts = chat.parts();
  const log = useRef<LogHandle | null>(null);
  const pinned = useSignal(true);
  const given = useSignal<{ text: string; attachments: Attachment[]; number: number } | null>(null);
  const dialog = useSignal<"share" | "rename" | "more" | null>(null);
  const session = sessions.value.find((it) => it.session_id === id);
  const title = session?.title || firstWords(parts) || "Conversation";
  const busy = conversation.state !== "idle" && conversation.state !== "error" && conversation.task !== undefined;

  useEffect(() => { lastSession.value = { id, agent: agent.peek() }; }, [id]);
  useSpoken(conversation.state, conversation.restored);

  // A message that was searched for is brought into sight once it is there.
  const revealed = useRef<string | null>(null);
  useEffect(() => {
    if (!message || revealed.current === message || !conversation.restored) return;
    const key = conversation.keyOf(message);
    if (!key) return;
    revealed.current = message;
    log.current?.reveal(key);
    requestAnimationFrame(() => requestAnimationFrame(() => document.querySelector(`[data-key="${CSS.escape(key)}"]`)?.classList.add("found")));
  }, [message, version]);

  const stop = () => {
    chat.stop().then(
      () => notify("Stopped. What was under way is finished, nothing new is begun."),
      (error) => notify(refusal(error).message),
    );
  };
  const escaped = useRef(0);
  useEffect(() => onKey((key) => {
    if (key === "Escape" && busy) {
      if (Date.now() - escaped.current < 800) stop();
      escaped.current = Date.now();
      return true;
    }
    if (key === "j" || key === "k") {
      jump(log.current, chat, key === "j" ? 1 : -1);
      return true;
    }
    return false;
  }), [busy, id]);

  const deeds = {
    edit: (part: UserPart) => { given.value = { text: part.text, attachments: part.attachments, number: (given.peek()?.number ?? 0) + 1 }; },
    retry: (part: AnswerPart) => {
      const at = chat.conversation.parts.indexOf(part);
      const asked = chat.conversation.parts.slice(0, at).findLast((it) => it.kind === "user") as UserPart | undefined;
      if (asked) chat.send(asked.text, asked.attachments);
    },
    branch: (part: Part) => {
      const upTo = chat.conversation.parts.slice(0, chat.conversation.parts.indexOf(part) + (part.kind === "user" ? 0 : 1));
      carried = {
        text: part.kind === "user" ? part.text : "",
        attachments: upTo.length === 0 ? [] : [{ name: "conversation so far.md", media_type: "text/markdown", content: transcript(upTo, agentName.peek()) }],
        number: Date.now(),
      };
      go("chat");
    },
  };

  const last = parts.at(-1);
  const asked = last && (parts.findLast((it) => it.kind === "user" && it.task === last.task) as UserPart | undefined);
  const first = !last || last.kind === "user" || last.kind === "note";
  const quiet = last?.kind === "steps" && last.steps.some((it) => it.state === "running");
  const tail = (
    <>
      {conversation.live && <LivePart live={conversation.live} first={first} />}
      {asked?.task && !busy && !conversation.live && last?.kind === "answer" && may("operate") && <Tokens key={asked.task} task={asked.task} since={asked.event} agent={chat.agent} />}
      <Guide chat={chat} idle={!busy && !conversation.live} />
      {!conversation.live && busy && conversation.state !== "awaiting_approval" && !quiet && <Working state={conversation.state} progress={conversation.progress} first={first} since={Date.parse(last?.at ?? "") || Date.now()} />}
    </>
  );
  const fault = chat.fault.value;
  const close = () => { dialog.value = null; };
  return (
    <Page
      title={title} aside={<ChatAside chat={chat} version={version} />}
      actions={onlySession.value === undefined && (
        <>
          <IconButton icon="link" label="Share this conversation" onClick={() => (dialog.value = "share")} />
          <IconButton icon="more" label="More" aria-haspopup="dialog" onClick={() => (dialog.value = "more")} />
        </>
      )}
    >
      {fault && parts.length === 0 ? <div class="body"><Fault error={new Error(fault)} kept="Nothing was changed." /></div> : !conversation.restored && parts.length === 0 ? <div class="body"><Loading lines={4} /></div> : (
        <VirtualLog
          items={parts} version={version} label="Conversation" estimate={estimate} tail={tail} handle={log} onPinned={(on) => (pinned.value = on)}
          render={(part) => <PartView part={part} chat={chat} deeds={deeds} />}
        />
      )}
      <div class="newest">{!pinned.value && <Button small icon="down" class="fresh" onClick={() => log.current?.toEnd()}>Newest</Button>}</div>
      {!mayChange.value ? <div class="looking"><Icon name="eye" small /> You may look at this conversation, not write in it.</div> : <Composer name={id} send={(text, attachments) => { chat.send(text, attachments); log.current?.toEnd(); }} stop={busy ? stop : null} tags={<Tags />} given={given.value} autoFocus />}
      {dialog.value === "share" && <Share id={id} title={title} close={close} failed={close} />}
      {dialog.value === "more" && <More chat={chat} title={title} close={close} failed={close} />}
    </Page>
  );
}

/** Goes to the next or the previous thing that the reader said, seen from the top of the window. */
function jump(log: LogHandle | null, chat: OpenChat, step: 1 | -1): void {
  const parts = chat.parts();
  const seen = log?.first() ?? 0;
  const keys = parts.map((it, at) => [it, at] as const).filter(([it]) => it.kind === "user");
  const to = step === 1 ? keys.find(([, at]) => at > seen) : keys.findLast(([, at]) => at < seen);
  if (to) log?.reveal(to[0].key, "start");
  else if (step === 1) log?.toEnd();
}

const firstWords = (parts: readonly Part[]): string => {
  const said = parts.find((it) => it.kind === "user") as UserPart | undefined;
  return said ? said.text.split("\n", 1)[0]!.slice(0, 60) : "";
};

/** Says what the agent does, one sentence at each change, never a token. */
function useSpoken(state: string, restored: boolean): void {
  const before = useRef(state);
  useEffect(() => {
    if (before.current === state || !restored) {
      before.current = state;
      return;
    }
    const name = agentName.peek();
    if (state === "thinking" && before.current === "idle") say(`${name} is thinking.`);
    if (state === "awaiting_approval") say(`${name} asks you something.`);
    if (state === "idle") say("The answer is complete.");
    before.current = state;
  }, [state, restored]);
}

/** A conversation as Markdown, for a branch of it. */
export function transcript(parts: readonly Part[], name: string): string {
  const said: string[] = [];
  for (const part of parts) {
    if (part.kind === "user") said.push(`**Person:** ${part.text}`);
    else if (part.kind === "answer") said.push(`**${name}:** ${part.text}`);
  }
  return said.join("\n\n");
}
