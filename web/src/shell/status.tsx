/** The status bar: the connection, the law, the last event, the model. */
import type { JSX } from "preact";
import { agentStatus, connection, status } from "../state/app.ts";
import { agent } from "../state/route.ts";
import { duration, grouped } from "../text.ts";
import { Sign } from "../ui/icons.tsx";
import { EventLink, Text } from "../ui/parts.tsx";
import { openKeys } from "./keys.tsx";
import { openPalette } from "./palette.tsx";

/** The model that answers for the chosen agent, in a few words. */
export function modelWords(): string {
  if (status.value === null) return "";
  const { models } = status.value;
  const mine = models.find((it) => it.agent === (agent.value ?? "default")) ?? models[0];
  return mine?.model ? mine.model : "no model: rules answer";
}

export function StatusBar(): JSX.Element {
  const link = connection.link.value;
  const delay = connection.delay.value;
  const live = link.kind === "live";
  const now = agentStatus.value;
  const words = live ? `Cap'n Web${delay === null ? "" : `, ${duration(delay)}`}` : link.kind === "waiting" ? "no connection" : "connecting";
  const version = Array.isArray(now?.law) ? now.law[1] : undefined;
  return (
    <footer class="foot">
      <button type="button" title={live ? "The connection to the server" : "Try to connect now"} onClick={() => connection.tryNow()}>
        <Sign size={10} clear={3} mood={live ? "accent" : "need"} /><span>{words}</span>
      </button>
      {typeof version === "number" && <span>law v{version}</span>}
      {now && <span class="num" title={`${grouped(now.event)} events`}>event <EventLink event={now.event} /></span>}
      {modelWords() !== "" && <span class="clip"><Text text={modelWords()} /></span>}
      <span class="grow" />
      <button type="button" onClick={() => openPalette()}><kbd>{isMac ? "⌘K" : "Ctrl K"}</kbd> anything</button>
      <button type="button" onClick={openKeys}><kbd>?</kbd> keys</button>
    </footer>
  );
}

const isMac = /mac|iphone|ipad/i.test(navigator.platform);
