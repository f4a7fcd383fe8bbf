/** What every section of the settings is made of. */
import { useSignal, type Signal } from "@preact/signals";
import type { ComponentChildren, JSX } from "preact";
import { refusal, type Refusal } from "../../api/refusal.ts";
import type { IconName } from "../../ui/icons.tsx";
import { Button, CopyButton, Note, Text } from "../../ui/parts.tsx";

/** A section with its heading; `name` is its part of the address. */
export function Section({ name, title, about, children }: { name: string; title: string; about?: ComponentChildren; children: ComponentChildren }): JSX.Element {
  return <section class="set" id={`set-${name}`} aria-labelledby={`set-${name}-h`}><h2 id={`set-${name}-h`} tabIndex={-1}>{title}</h2>{about && <p>{about}</p>}{children}</section>;
}

/** A line of a card: what it is, some words about it, and what one can do. */
export function Option({ title, about, children }: { title: ComponentChildren; about?: ComponentChildren; children?: ComponentChildren }): JSX.Element {
  return <div class="opt"><div class="grow"><b>{title}</b>{about !== undefined && about !== "" && <span>{about}</span>}</div>{children}</div>;
}

/** Something that is being done, with why it was refused. */
export interface Action {
  working: Signal<boolean>;
  fault: Signal<Refusal | null>;
  run: <T>(work: () => Promise<T>) => Promise<T | undefined>;
}

export function useAction(): Action {
  const working = useSignal(false);
  const fault = useSignal<Refusal | null>(null);
  return {
    working,
    fault,
    run: async (work) => {
      working.value = true;
      fault.value = null;
      try {
        return await work();
      } catch (error) {
        fault.value = refusal(error);
        return undefined;
      } finally {
        working.value = false;
      }
    },
  };
}

/** Why an action was refused. */
export function Refused({ of, kept = "Nothing was changed." }: { of: Action; kept?: string }): JSX.Element | null {
  const why = of.fault.value;
  if (!why) return null;
  return <div class="optnote"><Note tone="bad" icon="no"><b><Text text={why.message} /> </b>{kept}{why.hint && <> <Text text={why.hint} /></>}</Note></div>;
}

/** A button for what cannot be undone: the first press asks. */
export function Ask({ verb, sure, label, icon, disabled, act }: { verb: string; sure: string; label: string; icon?: IconName; disabled?: boolean; act: () => void }): JSX.Element {
  const asking = useSignal(false);
  if (!asking.value) return <Button small look="warn" icon={icon} disabled={disabled} aria-label={`${verb}… ${label}`} onClick={() => (asking.value = true)}>{verb}…</Button>;
  return (
    <span class="row">
      <Button small look="warn" disabled={disabled} aria-label={`${sure} ${label}`} onClick={() => { asking.value = false; act(); }}>{sure}</Button>
      <Button small look="bare" onClick={() => (asking.value = false)}>Leave it</Button>
    </span>
  );
}

/** Something that is shown once and not kept. */
export function ShownOnce({ what, text, done }: { what: ComponentChildren; text: string; done: () => void }): JSX.Element {
  return (
    <div class="optnote">
      <Note icon="lock">
        <b>{what} </b>It is shown here once and kept nowhere.
        <div class="row once"><code class="clip grow"><Text text={text} /></code><CopyButton text={text} /><Button small look="bare" onClick={done}>I have it</Button></div>
      </Note>
    </div>
  );
}

/** One of a few. */
export function Choice<T extends string>({ label, options, chosen, choose }: { label: string; options: readonly (readonly [T, string])[]; chosen: T; choose: (value: T) => void }): JSX.Element {
  return <div class="chips" role="group" aria-label={label}>{options.map(([value, words]) => <Button small aria-pressed={value === chosen} onClick={() => choose(value)}>{words}</Button>)}</div>;
}

/** A list to choose from. */
export function Select<T extends string>({ label, options, value, change, disabled }: { label: string; options: readonly (readonly [T, string])[]; value: T; change: (value: T) => void; disabled?: boolean }): JSX.Element {
  return (
    <select class="select" aria-label={label} value={value} disabled={disabled} onChange={(e) => change(e.currentTarget.value as T)}>
      {options.map(([it, words]) => <option value={it} selected={it === value}>{words}</option>)}
    </select>
  );
}

/** How long something lasts, as the server reads it. */
export const TIMES = [["10m", "10 minutes"], ["1h", "an hour"], ["1d", "a day"], ["7d", "a week"], ["30d", "30 days"]] as const;

/** `ends in 9 min`, `ends on 20 Nov`, `ended`. */
export function endsIn(at: number | string | undefined): string {
  if (at === undefined || at === 0 || at === "") return "without an end";
  const left = new Date(at).getTime() - Date.now();
  if (Number.isNaN(left)) return "";
  if (left <= 0) return "ended";
  if (left < 3_600_000) return `ends in ${Math.max(1, Math.round(left / 60_000))} min`;
  if (left < 86_400_000) return `ends in ${Math.round(left / 3_600_000)} h`;
  return `ends on ${new Date(at).toLocaleDateString("en-GB", { day: "numeric", month: "short", year: left > 300 * 86_400_000 ? "numeric" : undefined })}`;
}
