/** Small parts that every view uses. Text always becomes text: nothing here takes HTML. */
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import type { Because } from "../api/types.ts";
import { fullTime, pieces, plainReason, spelled } from "../text.ts";
import { agent, go, route } from "../state/route.ts";
import { detailsOpen, shownEvent } from "../state/app.ts";
import { Icon, type IconName, Sign } from "./icons.tsx";

type ButtonProps = Omit<JSX.IntrinsicElements["button"], "icon" | "size"> & {
  icon?: IconName | undefined;
  /** `main` is the one action that a view is about, `warn` takes something away, `bare` has no frame. */
  look?: "main" | "warn" | "bare" | undefined;
  small?: boolean | undefined;
};

/** A button with a verb on it. */
export function Button({ icon, look, small, children, class: more, ...rest }: ButtonProps): JSX.Element {
  return (
    <button type="button" {...rest} class={`b ${look ?? ""} ${small ? "small" : ""} ${more ?? ""}`}>
      {icon && <Icon name={icon} small />}
      {children}
    </button>
  );
}

/** A button that is an icon; the label is its name for everybody. */
export function IconButton({ icon, label, small, look = "bare", class: more, ...rest }: ButtonProps & { icon: IconName; label: string }): JSX.Element {
  return (
    <button type="button" title={label} {...rest} aria-label={label} class={`b icon ${look} ${small ? "small" : ""} ${more ?? ""}`}>
      <Icon name={icon} />
    </button>
  );
}

/** Text of somebody else: hidden characters are spelled out, and its direction of writing stays inside. */
export function Text({ text }: { text: string }): JSX.Element {
  return (
    <bdi>
      {pieces(text).map((it) => (it.hidden ? <span class="hid" title="a character that cannot be seen">{it.text}</span> : it.text))}
    </bdi>
  );
}

/** Text in which `this` is code. */
export function Coded({ text }: { text: string }): JSX.Element {
  return <>{text.split(/(`[^`]+`)/).map((part) => (/^`[^`]+`$/.test(part) ? <code><Text text={part.slice(1, -1)} /></code> : part && <Text text={part} />))}</>;
}

/** The number of an event of the journal. The first click opens the details, the second goes to the journal. */
export function EventLink({ event, of }: { event: number; of?: string | undefined }): JSX.Element {
  const from = of ?? agent.value;
  const shown = shownEvent.value;
  const on = shown?.event === event && shown.agent === from;
  const open = () => {
    if (on || route.peek().place === "journal") go("journal", event, { agent: from });
    else {
      shownEvent.value = { event, agent: from };
      detailsOpen.value = true;
    }
  };
  return (
    <button type="button" class="ev" aria-pressed={on} aria-label={`Event ${event}`} title={on ? `Event ${event}: to the journal` : `Event ${event}: why`} onClick={open}>
      {event}
    </button>
  );
}

export type Tone = "need" | "good" | "bad" | "think" | "accent" | "line";
export function Tag({ tone, children, title }: { tone?: Tone | undefined; children: ComponentChildren; title?: string }): JSX.Element {
  return <span class={`tag ${tone ?? ""}`} title={title}>{children}</span>;
}

/** A sentence in a box: for your information, needs you, or did not work. */
export function Note({ tone, icon, children }: { tone?: "need" | "bad" | undefined; icon: IconName; children: ComponentChildren }): JSX.Element {
  return <div class={`note ${tone ?? ""}`}><Icon name={icon} /><div class="grow">{children}</div></div>;
}

/** A share from 0 to 1 as a bar. */
export function Bar({ share, label }: { share: number; label: string }): JSX.Element {
  return <span class="bar" role="img" aria-label={label}><i style={{ width: `${Math.max(0, Math.min(1, share)) * 100}%` }} /></span>;
}

const MIX = ["--accent", "--think", "--need", "--good", "--edge"];
/** What a number is made of, as a bar of parts with their names. */
export function Mix({ parts }: { parts: [name: string, share: number][] }): JSX.Element {
  const label = parts.map(([name, share]) => `${name} ${Math.round(share)}`).join(", ");
  return <span class="mix" role="img" aria-label={label} title={label}>{parts.map(([, share], at) => <i style={{ width: `${share}%`, background: `var(${MIX[at % MIX.length]})` }} />)}</span>;
}

/** Names and values. */
export function Facts({ facts }: { facts: [string, ComponentChildren][] }): JSX.Element {
  return <dl class="kv">{facts.map(([name, value]) => [<dt>{name}</dt>, <dd>{value}</dd>])}</dl>;
}

/** A time, with the whole of it in the tooltip. */
export function When({ at, show }: { at: number | string; show: (at: number | string) => string }): JSX.Element {
  const date = new Date(at);
  return <time dateTime={Number.isNaN(date.getTime()) ? undefined : date.toISOString()} title={fullTime(at)}>{show(at)}</time>;
}

/** Copies a text, and says so on the button. */
export function CopyButton({ text, label = "Copy", small = true }: { text: string | (() => string); label?: string; small?: boolean }): JSX.Element {
  const [done, setDone] = useState(false);
  const copy = () => {
    void navigator.clipboard?.writeText(typeof text === "string" ? text : text()).then(() => {
      setDone(true);
      setTimeout(() => setDone(false), 1_500);
    });
  };
  return <IconButton icon={done ? "ok" : "copy"} label={done ? "Copied" : label} small={small} onClick={copy} />;
}

/** Sentences with the events that they cite; the last one is the point. */
export function WhyList({ items, of }: { items: readonly Because[]; of?: string | undefined }): JSX.Element {
  return (
    <ol class="why">
      {items.map((it, at) => (
        <li class={at === items.length - 1 ? "key" : ""}>
          <span title={spelled(it.says)}><Coded text={plainReason(it.says)} /> <EventLink event={it.event} of={of} /></span>
        </li>
      ))}
    </ol>
  );
}

export interface FieldProps {
  label: string;
  icon?: IconName;
  value: string;
  placeholder?: string;
  type?: "text" | "search" | "password" | "number" | "url";
  size?: number;
  class?: string;
  disabled?: boolean;
  autoFocus?: boolean;
  onInput?: (e: InputEvent & { currentTarget: HTMLInputElement }) => void;
  onKeyDown?: (e: KeyboardEvent & { currentTarget: HTMLInputElement }) => void;
}

/** A field with a label that is read out; `icon` stands in front. */
export function Field({ label, icon, class: more, ...rest }: FieldProps): JSX.Element {
  return <label class={`field ${more ?? ""}`}>{icon && <Icon name={icon} small />}<input {...({ "aria-label": label, autocomplete: "off", spellcheck: false, ...rest } as JSX.IntrinsicElements["input"])} /></label>;
}

/** A dialog over the page, for the few things that need one. Focus returns to where it was. */
export function Dialog({ label, class: more, close, children }: { label: string; class?: string; close: () => void; children: ComponentChildren }): JSX.Element {
  const box = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const back = document.activeElement as HTMLElement | null;
    box.current?.showModal();
    return () => back?.isConnected ? back.focus() : undefined;
  }, []);
  return (
    <dialog ref={box} class={more} aria-label={label} onClose={close} onCancel={close} onClick={(e) => e.target === box.current && close()}>
      {children}
    </dialog>
  );
}

/** Chosen one of a few, as tabs of the details. */
export function Tabs<T extends string>({ label, tabs, chosen, choose, end }: { label: string; tabs: readonly T[]; chosen: T; choose: (tab: T) => void; end?: ComponentChildren }): JSX.Element {
  const id = useId();
  const move = (e: KeyboardEvent) => {
    const step = e.key === "ArrowRight" ? 1 : e.key === "ArrowLeft" ? -1 : 0;
    if (step === 0) return;
    e.preventDefault();
    const next = tabs[(tabs.indexOf(chosen) + step + tabs.length) % tabs.length]!;
    choose(next);
    document.getElementById(`${id}-${next}`)?.focus();
  };
  return (
    <div class="tabs">
      <div role="tablist" aria-label={label} onKeyDown={move}>
        {tabs.map((tab) => (
          <button type="button" role="tab" id={`${id}-${tab}`} aria-selected={tab === chosen} tabIndex={tab === chosen ? 0 : -1} onClick={() => choose(tab)}>{tab}</button>
        ))}
      </div>
      {end && <span class="end">{end}</span>}
    </div>
  );
}

/** The face of a speaker: the first letter of a person, the sign of an agent. */
export function Face({ name, person }: { name: string; person: boolean }): JSX.Element {
  return <div class="face">{person ? <span class="ini" aria-hidden="true">{(name[0] ?? "?").toUpperCase()}</span> : <Sign size={22} clear={2} mood="calm" />}</div>;
}
