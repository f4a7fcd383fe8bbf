/** The frame of a place: its heading, its work, and the details beside it. */
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { detailsOpen, shownEvent, waiting } from "../state/app.ts";
import { route } from "../state/route.ts";
import { spelled } from "../text.ts";
import { ConnectionNotice } from "../shell/notices.tsx";
import { EventDetails } from "../shell/details.tsx";
import { IconButton, Text } from "./parts.tsx";

export interface PageProps {
  title: string;
  /** A few words beside the title. */
  sub?: ComponentChildren;
  /** Buttons at the right of the heading. */
  actions?: ComponentChildren;
  /** The details of this place. An event that was clicked stands there instead, until it is closed. */
  aside?: ComponentChildren;
  asideLabel?: string;
  children: ComponentChildren;
}

/** A place. The view gives the work as children; each child scrolls by itself (`body scroll`). */
export function Page({ title, sub, actions, aside, asideLabel = "Details", children }: PageProps): JSX.Element {
  const heading = useRef<HTMLHeadingElement>(null);
  const { place } = route.value;
  useEffect(() => {
    const number = waiting.value.length;
    document.title = `${number > 0 ? `(${number}) ` : ""}${spelled(title)} · Monas`;
  });
  useEffect(() => {
    // Focus goes to the place that was gone to, unless something in it has taken it (the composer).
    const on = document.activeElement;
    if (on === null || on === document.body || !on.isConnected || on.closest("nav")) heading.current?.focus({ preventScroll: true });
  }, [place]);
  const event = place === "journal" ? null : shownEvent.value;
  const open = detailsOpen.value;
  const hasAside = event !== null || (aside !== undefined && aside !== null && aside !== false);
  const panel = useRef<HTMLElement>(null);
  useEffect(() => {
    if (!open || !matchMedia("(max-width: 1240px)").matches) return;
    const back = document.activeElement as HTMLElement | null;
    panel.current?.querySelector<HTMLElement>(".only-narrow")?.focus();
    return () => { if (back?.isConnected) back.focus(); };
  }, [open]);
  return (
    <>
      <main class="work" id="main" tabIndex={-1}>
        <header class="head">
          <h1 tabIndex={-1} ref={heading}><Text text={title} /></h1>
          {sub && <span class="dim hide-s clip">{sub}</span>}
          <span class="grow" />
          {actions}
          {hasAside && <IconButton icon="side" label="Details" class="only-narrow" onClick={() => (detailsOpen.value = true)} />}
        </header>
        <ConnectionNotice />
        {children}
      </main>
      {hasAside && (
        <aside class={open ? "aside open" : "aside"} aria-label={event ? `Event ${event.event}` : asideLabel} ref={panel}>
          {event ? <EventDetails event={event.event} agent={event.agent} /> : aside}
        </aside>
      )}
    </>
  );
}

/** The details of a place under one title. */
export function Aside({ title, children }: { title: string; children: ComponentChildren }): JSX.Element {
  return (
    <>
      <div class="tabs"><h2 class="row t3 clip"><Text text={title} /></h2><CloseDetails /></div>
      <div class="scroll grow pad" tabIndex={0} role="region" aria-label={title}>{children}</div>
    </>
  );
}

/** Closes the details: the event that was clicked, and the sheet on narrow windows. */
export function CloseDetails(): JSX.Element {
  const close = () => {
    shownEvent.value = null;
    detailsOpen.value = false;
  };
  return <IconButton icon="no" label="Close details" class={`end ${shownEvent.value ? "" : "only-narrow"}`} onClick={close} />;
}
