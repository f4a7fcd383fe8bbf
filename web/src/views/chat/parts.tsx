/** The parts of a conversation: what a person said, what the agent did, asked and answered. */
import type { ComponentChildren, JSX } from "preact";
import { agentName, connection, myName } from "../../state/app.ts";
import type { Chat } from "../../state/chat.ts";
import type { AnswerPart, Attachment, Live, Part, UserPart } from "../../state/conversation.ts";
import { clock, size } from "../../text.ts";
import { Icon } from "../../ui/icons.tsx";
import { Button, CopyButton, EventLink, Face, IconButton, Note, Text, When } from "../../ui/parts.tsx";
import { Markdown } from "../../ui/markdown.tsx";
import { QuestionCard } from "../questions/card.tsx";
import { Output, Seconds, Steps } from "./steps.tsx";

/** What can be done with a message. */
export interface Deeds {
  edit: (part: UserPart) => void;
  branch: (part: Part) => void;
  retry: (part: AnswerPart) => void;
}

function Message({ who, at, person, first, last = false, children, tools }: { last?: boolean; who: string; at: string | number; person: boolean; first: boolean; children: ComponentChildren; tools?: ComponentChildren }): JSX.Element {
  return (
    <article class={first ? "msg" : "msg next"} aria-label={`${who}, ${clock(at)}`}>
      {first && <Face name={who} person={person} />}
      {first && <div class="by"><b><Text text={who} /></b><When at={at} show={clock} /></div>}
      {children}
      {tools && <div class={person ? "tools top" : last ? "tools last" : "tools"}>{tools}</div>}
    </article>
  );
}

function Attachments({ list }: { list: readonly Attachment[] }): JSX.Element | null {
  if (list.length === 0) return null;
  return (
    <ul class="clips">
      {list.map((it) => (
        <li class="tag line"><Icon name="file" small /><Text text={it.name ?? "attachment"} />{it.content !== undefined && <span class="dim">{size(it.content.length)}</span>}</li>
      ))}
    </ul>
  );
}

export function PartView({ part, chat, deeds }: { part: Part; chat: Chat; deeds: Deeds }): JSX.Element {
  const name = agentName.value;
  switch (part.kind) {
    case "user":
      return <Said part={part} chat={chat} deeds={deeds} />;
    case "steps":
      return <Message who={name} at={part.at} person={false} first={part.first}><Steps steps={part.steps} task={part.task} /></Message>;
    case "question":
      return <Message who={name} at={part.at} person={false} first={part.first}><QuestionCard asked={part.asked} decision={part.decision} /></Message>;
    case "note":
      return <Message who={name} at={part.at} person={false} first={false}><Note tone={part.tone === "bad" ? "bad" : undefined} icon={part.tone === "bad" ? "no" : "pause"}><Text text={part.text} /> <EventLink event={part.event} of={chat.agent} /></Note></Message>;
    case "answer":
      return (
        <Message
          who={name} at={part.at} person={false} first={part.first} last={chat.conversation.parts.at(-1) === part}
          tools={part.end !== "" && <><CopyButton text={part.text} label="Copy the answer" /><IconButton small icon="branch" label="Branch from here" onClick={() => deeds.branch(part)} /><IconButton small icon="redo" label="Ask again" onClick={() => deeds.retry(part)} /><EventLink event={part.event} of={chat.agent} /></>}
        >
          <Answer part={part} deeds={deeds} />
        </Message>
      );
  }
}

function Answer({ part, deeds }: { part: AnswerPart; deeds: Deeds }): JSX.Element {
  if (part.end === "failed" || part.end === "rejected") {
    return (
      <>
        <Note tone="bad" icon="no"><b><Text text={part.text || "The request failed."} /> </b>Your message is kept.</Note>
        <div class="row"><Button small onClick={() => deeds.retry(part)}>Try again</Button></div>
      </>
    );
  }
  if (part.output) return <Output text={part.text} />;
  return <Markdown text={part.text} class={part.end === "canceled" ? "dim" : ""} cite />;
}

function Said({ part, chat, deeds }: { part: UserPart; chat: Chat; deeds: Deeds }): JSX.Element {
  const live = connection.link.value.kind === "live";
  return (
    <Message
      who={myName.value || "You"} at={part.at} person first
      tools={part.state === "sent" && <><IconButton small icon="pen" label="Edit and send again" onClick={() => deeds.edit(part)} /><IconButton small icon="branch" label="Branch from here" onClick={() => deeds.branch(part)} /><CopyButton text={part.text} label="Copy the message" /><EventLink event={part.event} of={chat.agent} /></>}
    >
      <Attachments list={part.attachments} />
      <div class="prose said" dir="auto"><Text text={part.text} /></div>
      {part.state === "kept" && <div class="dim t2">{live ? "On its way." : "Kept here, and sent when the connection is back."}</div>}
      {part.state === "refused" && (
        <Note tone="bad" icon="no">
          <b><Text text={part.problem ?? "The server refused it."} /> </b>It is kept here.
          <div class="row"><Button small onClick={() => chat.resend(part.key)}>Send again</Button><Button small look="bare" onClick={() => chat.discard(part.key)}>Throw away</Button></div>
        </Note>
      )}
    </Message>
  );
}

/** What is being thought and written at the moment; it stands below the log and grows. */
export function LivePart({ live, first }: { live: Live; first: boolean }): JSX.Element {
  return (
    <Message who={agentName.value} at={live.began} person={false} first={first}>
      {live.thought !== "" && (
        <div class="trail"><div class="stepw">
          <div class={live.text === "" ? "step on" : "step"}><Icon name="bolt" /><span class="clip"><b>{live.text === "" ? "Thinking" : "Thought"} </b></span><span class="dur">{live.text === "" && <Seconds since={live.began} />}</span></div>
          {live.text === "" && <div class="inner"><div class="thoughts caret" dir="auto"><Text text={live.thought.slice(-4_000)} /></div></div>}
        </div></div>
      )}
      {live.text !== "" && <Markdown text={live.text} growing class="growing" />}
    </Message>
  );
}

/** What the agent does while there is nothing to show of it yet. */
export function Working({ state, progress, first, since }: { state: string; progress: string; first: boolean; since: number }): JSX.Element {
  return (
    <Message who={agentName.value} at={since} person={false} first={first}>
      <div class="trail"><div class="step on"><Icon name="bolt" /><span class="clip"><b>{state === "executing" ? "Working" : "Thinking"} </b><span class="dim"><Text text={progress} /></span></span><span class="dur"><Seconds since={since} /></span></div></div>
    </Message>
  );
}
