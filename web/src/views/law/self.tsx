/** What came of the law: how its procedures do, what was got wrong, and how far other agents were of use. */
import type { JSX } from "preact";
import { read, type Reply } from "../../state/app.ts";
import { count, duration } from "../../text.ts";
import { Icon } from "../../ui/icons.tsx";
import { EventLink, Text } from "../../ui/parts.tsx";
import { Show, useLoaded } from "../../ui/states.tsx";

/** The sections; `version` is that of the law, after which they are read again. */
export function Self({ agent: of, version }: { agent: string | undefined; version: number }): JSX.Element {
  const self = useLoaded(() => read("getAgentSelf", { agent: of }), [of, version]);
  return <Show of={self}>{(it) => <Sections it={it} of={of} />}</Show>;
}

function Sections({ it, of }: { it: Reply<"getAgentSelf">; of: string | undefined }): JSX.Element {
  return (
    <>
      {it.procedures.length > 0 && (
        <section>
          <h2 class="row"><Icon name="bolt" />How its procedures do</h2>
          <div class="recs">
            {it.procedures.map((one) => (
              <div class="rec">
                <span><b><Text text={one.name} /></b>: “<Text text={one.when} />” is <Text text={one.steps.join(", then ")} /></span>
                <span class="meta">{one.runs === 0 ? "never used" : <><span>used {one.runs === 1 ? "once" : `${one.runs} times`}, {one.answered} with success</span>{one.failed_step !== undefined && <span>step {one.failed_step} failed last</span>}{one.milliseconds !== undefined && <span>{duration(one.milliseconds)} on average</span>}<EventLink event={one.event} of={of} /></>}</span>
              </div>
            ))}
          </div>
        </section>
      )}
      {it.mistakes.length > 0 && (
        <section>
          <h2 class="row"><Icon name="no" />What it got wrong</h2>
          <div class="recs">{it.mistakes.map((one) => <div class="rec"><span class="first"><Text text={one.says} /> <EventLink event={one.event} of={of} /></span></div>)}</div>
        </section>
      )}
      {it.peers.length > 0 && (
        <section>
          <h2 class="row"><Icon name="agents" />Agents that it knows</h2>
          <div class="recs">
            {it.peers.map((one) => (
              <div class="rec">
                <span><b><Text text={one.agent} /></b> did {one.answered} of {count(one.asked, "request")}</span>
                <span class="meta"><span>trusted {one.trust.toFixed(2)}</span><span>{count(one.claims, "claim")}, {one.contradicted} contradicted</span>{one.milliseconds !== undefined && <span>{duration(one.milliseconds)} on average</span>}<EventLink event={one.event} of={of} /></span>
              </div>
            ))}
          </div>
        </section>
      )}
    </>
  );
}
