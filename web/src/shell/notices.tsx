/** What the page says about its connection, above the work, and short notices at its foot. */
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { connection } from "../state/app.ts";
import { notice, say, shout } from "../ui/say.ts";
import { Icon } from "../ui/icons.tsx";
import { Button, Coded } from "../ui/parts.tsx";

/** The time in seconds until a moment, counted down. */
function useSeconds(until: number | null): number {
  const now = useSignal(Date.now());
  useEffect(() => {
    if (until === null) return;
    now.value = Date.now();
    const timer = setInterval(() => (now.value = Date.now()), 500);
    return () => clearInterval(timer);
  }, [until]);
  return until === null ? 0 : Math.max(0, Math.ceil((until - now.value) / 1_000));
}

/** The bar that says that the connection is lost, or that the server has another page. */
export function ConnectionNotice(): JSX.Element | null {
  const link = connection.link.value;
  const seconds = useSeconds(link.kind === "waiting" ? link.next : null);
  const gone = link.kind === "waiting";
  useEffect(() => {
    if (gone) shout("The connection is lost. What you type is kept and sent later.");
    else if (connection.generation.peek() > 1) say("Connected again. Nothing was missed.");
  }, [gone]);
  if (gone) {
    return (
      <div class="gone">
        <Icon name="wire" />
        <span class="grow"><b>No connection. </b>What you type is kept and sent later. {seconds > 0 ? `Next try in ${seconds} s.` : "Trying now."}</span>
        <Button small onClick={() => connection.tryNow()}>Try now</Button>
      </div>
    );
  }
  if (connection.outdated.value) {
    return (
      <div class="gone new">
        <Icon name="redo" />
        <span class="grow"><b>The server is newer than this page. </b>What you typed is kept.</span>
        <Button small onClick={() => location.reload()}>Reload</Button>
      </div>
    );
  }
  return null;
}

/** The notice at the foot of the page. */
export function Notices(): JSX.Element | null {
  const shown = notice.value;
  if (!shown) return null;
  const { text, action } = shown;
  return (
    <div class="toasts"><div class="toast">
      <span><Coded text={text} /></span>
      {action && <Button small onClick={() => { notice.value = null; action.run(); }}>{action.label}</Button>}
    </div></div>
  );
}
