/** Wire: the calls on all protocols as they go by. What they carry, and credentials, are not in them. */
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { baseUrl } from "../../api/client.ts";
import type { Refusal } from "../../api/refusal.ts";
import type { WireFrame } from "../../api/types.ts";
import type { ViewProps } from "../../shell/places.ts";
import { onKey } from "../../shell/keys.tsx";
import { connection, detailsOpen, displayName, may, read } from "../../state/app.ts";
import { address, go } from "../../state/route.ts";
import { count, fullTime, grouped, size, spelled } from "../../text.ts";
import { Button, CopyButton, Facts, Field, IconButton, Note, Tag, Text } from "../../ui/parts.tsx";
import { Aside, Page } from "../../ui/page.tsx";
import { Empty, Fault, Loading } from "../../ui/states.tsx";
import { VirtualList } from "../../ui/virtual.tsx";
import { rowHeight, useRowKeys } from "../tasks/rows.ts";
import { asCurl, type Call, failed, KEPT, past, wireName } from "./frames.ts";
import "./style.css";

/** `14:31:58.204`. */
function exact(at: string): string {
  const date = new Date(at);
  return Number.isNaN(date.getTime()) ? "" : `${date.toLocaleTimeString("en-GB")}.${String(date.getMilliseconds()).padStart(3, "0")}`;
}
const took = (ms: number): string => (ms < 10 ? `${ms.toFixed(1)} ms` : `${grouped(ms)} ms`);

export default function Wire({ id, query }: ViewProps): JSX.Element {
  const calls = useSignal<readonly Call[]>([]);
  const ready = useSignal(false);
  const fault = useSignal<Refusal | null>(null);
  const held = useSignal(false);
  /** While the pointer is over the list, the rows stay where they are: what comes waits, so that a click meets its row. */
  const pointed = useSignal(false);
  const waitingCalls = useRef<Call[]>([]);
  const more = useSignal(0);
  const words = useSignal(query.get("find") ?? "");
  const off = useSignal<ReadonlySet<string>>(new Set());
  const onlyFailed = useSignal(false);
  const own = useSignal(false);
  const turn = useSignal(0);

  // Frames are gathered and drawn once a frame of the screen, at most.
  useEffect(() => {
    let frame = 0;
    let session = 0;
    const put = () => {
      frame = 0;
      if (held.peek() || pointed.peek()) {
        more.value = waitingCalls.current.length;
        return;
      }
      const fresh = waitingCalls.current.splice(0);
      more.value = 0;
      if (fresh.length > 0) calls.value = [...fresh.reverse(), ...calls.peek()].slice(0, KEPT);
    };
    const end = connection.follow("followWire", () => {
      session += 1;
      return {};
    }, (frames: WireFrame[]) => {
      for (const it of frames) waitingCalls.current.push({ ...it, key: `${session}-${it.number}` });
      if (waitingCalls.current.length > KEPT) waitingCalls.current.splice(0, waitingCalls.current.length - KEPT);
      if (frame === 0) frame = requestAnimationFrame(put);
    }, { opened: () => { ready.value = true; fault.value = null; }, failed: (why) => { ready.value = true; fault.value = why; } });
    // What was there before comes from the audit trail, if it may be read.
    read("getAudit", { limit: 300 }).then((given) => {
      const known = new Set(calls.peek().map((it) => it.request).filter(Boolean));
      const before = past(given).filter((it) => !known.has(it.request)).sort((a, b) => (a.at < b.at ? 1 : -1));
      calls.value = [...calls.peek(), ...before].slice(0, KEPT);
    }, () => undefined);
    const releases = [held, pointed].map((it) => it.subscribe((on) => { if (!on && waitingCalls.current.length > 0) put(); }));
    return () => {
      end();
      for (const release of releases) release();
      cancelAnimationFrame(frame);
    };
  }, [turn.value]);

  const wires = [...new Set(calls.value.map((it) => it.wire))].sort();
  const filter = words.value.trim().toLowerCase();
  const rows = calls.value.filter((it) =>
    !off.value.has(it.wire) && (!onlyFailed.value || failed(it.outcome)) && (own.value || it.wire !== "workspace") &&
    (filter === "" || `${it.operation} ${it.caller} ${it.request} ${it.outcome} ${wireName(it.wire)}`.toLowerCase().includes(filter)));
  const at = rows.findIndex((it) => it.key === id);
  const chosen = calls.value.find((it) => it.key === id);
  useRowKeys(rows.length, at, (next) => go("wire", rows[next]!.key, {}, true));
  useEffect(() => onKey((key) => {
    if (key !== "h") return false;
    held.value = !held.peek();
    return true;
  }), []);
  useEffect(() => { if (id !== undefined) detailsOpen.value = true; }, [id]);
  const toggle = (wire: string) => {
    const now = new Set(off.value);
    if (!now.delete(wire)) now.add(wire);
    off.value = now;
  };
  const denied = connection.me.value !== null && !may("operate");
  return (
    <Page
      title="Wire"
      sub="calls as they go by; content and credentials are left out"
      actions={!denied && (
        <>
          <Field label="Filter calls" icon="find" type="search" placeholder="Filter" size={14} class="hide-s" value={words.value} onInput={(e) => (words.value = e.currentTarget.value)} />
          <IconButton icon="no" label="Empty the list" class="hide-s" onClick={() => { calls.value = []; waitingCalls.current = []; more.value = 0; }} />
          <Button small icon={held.value ? "play" : "pause"} aria-pressed={held.value} onClick={() => (held.value = !held.value)}>{held.value ? (more.value > 0 ? `Go on, ${grouped(more.value)} new` : "Go on") : "Hold"}</Button>
        </>
      )}
      aside={chosen ? <CallDetails call={chosen} /> : undefined}
    >
      {denied ? <div class="body scroll pad"><Note icon="lock"><b>You may not see the calls of all callers. </b>That needs the permission <code>operate</code>, which an administrator gives.</Note></div>
        : fault.value ? <div class="body scroll"><Fault error={fault.value} again={() => { fault.value = null; turn.value += 1; }} /></div>
        : !ready.value ? <div class="body"><Loading lines={6} /></div>
        : (
          <>
            <div class="filters chips" role="group" aria-label="Wires">
              {wires.filter((it) => it !== "workspace").map((it) => <Button small aria-pressed={!off.value.has(it)} onClick={() => toggle(it)}><Text text={wireName(it)} /></Button>)}
              <Button small aria-pressed={own.value} onClick={() => (own.value = !own.value)}>This page’s own</Button>
              <Button small aria-pressed={onlyFailed.value} onClick={() => (onlyFailed.value = !onlyFailed.value)}>Only what failed</Button>
              {pointed.value && !held.value && more.value > 0 && <span class="wnew" role="status" title="Rows do not move under the pointer; they come when it points elsewhere">{grouped(more.value)} new</span>}
            </div>
            {rows.length === 0 ? (
              <div class="body scroll">
                {calls.value.length === 0 ? <Empty title="Nothing has gone by yet.">Each call on any protocol stands here the moment it has ended.</Empty>
                  : !own.value && calls.value.every((it) => it.wire === "workspace") ? <Empty title="Only this page has called so far.">{count(calls.value.length, "call")} of its own went by. Those of other programs stand here as they come. <Button small onClick={() => (own.value = true)}>Show its own</Button></Empty>
                  : <Empty title="Nothing matches.">{count(calls.value.length, "call")} went by; the filter leaves none of them.</Empty>}
              </div>
            ) : (
              <>
                <div class="wrow thead" aria-hidden="true"><span class="hide-s">When</span><span>Wire</span><span>What</span><span class="hide-s">Who</span><span class="hide-s">Ended</span><span class="hide-s r">Size</span><span class="hide-s r">Took</span></div>
                <div class="wlist" onPointerEnter={(e) => { if (e.pointerType === "mouse") pointed.value = true; }} onPointerLeave={() => (pointed.value = false)}>
                <VirtualList
                  items={rows} rowHeight={rowHeight()} label="Calls" keyOf={(it) => it.key} reveal={at}
                  row={(it) => (
                    <a class="wrow" href={address("wire", it.key)} aria-current={it.key === id ? "true" : undefined}>
                      <span class="hide-s num dim">{exact(it.at)}</span>
                      <span><Tag tone={failed(it.outcome) ? "bad" : undefined}><Text text={wireName(it.wire)} /></Tag></span>
                      <span class="clip mono" title={spelled(it.operation)}><Text text={it.operation} /></span>
                      <span class="hide-s clip"><Text text={displayName(it.caller) || "—"} /></span>
                      <span class="hide-s">{failed(it.outcome) ? <span class="badly"><Text text={it.outcome} /></span> : <span class="dim"><Text text={it.outcome} /></span>}</span>
                      <span class="hide-s r dim num">{it.bytes > 0 ? size(it.bytes) : ""}</span>
                      <span class="hide-s r dim num">{took(it.milliseconds)}</span>
                    </a>
                  )}
                />
                </div>
              </>
            )}
          </>
        )}
    </Page>
  );
}

function CallDetails({ call }: { call: Call }): JSX.Element {
  const curl = asCurl(call, baseUrl().href);
  return (
    <Aside title={call.operation || "Call"}>
      <div class="stack loose">
        <Facts facts={[
          ["Wire", <><Text text={wireName(call.wire)} />{call.version && <span class="dim">, version <Text text={call.version} /></span>}</>],
          ["What", <code><Text text={call.operation} /></code>],
          ["Who", <Text text={call.caller || "—"} />],
          ["Ended", failed(call.outcome) ? <Tag tone="bad"><Text text={call.outcome} /></Tag> : <Tag tone="good"><Text text={call.outcome || "—"} /></Tag>],
          ["When", fullTime(call.at)],
          ["Took", took(call.milliseconds)],
          ...(call.bytes > 0 ? [["Size", size(call.bytes)] as [string, JSX.Element | string]] : []),
          ["Request", <span class="row"><code class="clip"><Text text={call.request || "—"} /></code>{call.request && <CopyButton text={call.request} label="Copy the id of the request" />}</span>],
        ]} />
        <div>
          <h2 class="sect">The same with curl</h2>
          {curl === null ? <p class="dim">This wire is a socket or a binary protocol: curl does not speak it.</p> : (
            <>
              <div class="curl"><pre class="code"><Text text={curl} /></pre><CopyButton text={curl} label="Copy as curl" /></div>
              <p class="dim t2">Your token and what the call carried are not in it: set <code>TOKEN</code>, for instance to what <code>monas token</code> prints, and write the body.</p>
            </>
          )}
        </div>
        <p class="dim t2">The log and the audit trail have this call under the same id.</p>
      </div>
    </Aside>
  );
}
