/** Who talks with whom, drawn. The same stands below as a table. */
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Agent } from "../../api/types.ts";
import { go } from "../../state/route.ts";
import { firstLine, spelled } from "../../text.ts";
import { type Asked, picture } from "./asked.ts";
import { doing, type Status } from "./index.tsx";

interface PictureProps {
  agents: readonly Agent[];
  asked: readonly Asked[];
  chosen: string | undefined;
  nameOf: (id: string) => string;
  states: ReadonlyMap<string, Status>;
}

export function Picture({ agents, asked, chosen, nameOf, states }: PictureProps): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(800);
  useEffect(() => {
    const observer = new ResizeObserver(() => setWidth(box.current?.clientWidth ?? 800));
    if (box.current) observer.observe(box.current);
    return () => observer.disconnect();
  }, []);
  const rows = Math.max(2, agents.length, new Set(asked.filter((it) => !it.fromAgent).map((it) => it.from)).size);
  const height = Math.min(420, 90 * rows + 20);
  const { nodes, edges } = picture(agents.map((it) => it.id), asked, width, height);
  const placeOf = (id: string) => nodes.find((it) => it.id === id)!;
  return (
    <div class="agent-graph" ref={box} style={{ height: `${height}px` }}>
      <svg class="graph" viewBox={`0 0 ${width} ${height}`} width={width} height={height} role="group" aria-label="Who talks with whom">
        {edges.map((edge) => {
          const [a, b] = [placeOf(edge.from), placeOf(edge.to)];
          const bend = a.x === b.x ? 60 : 0;
          const lit = chosen !== undefined && (edge.from === `agent:${chosen}` || edge.to === `agent:${chosen}`);
          return (
            <>
              <path class={lit ? "e lit" : "e"} d={`M${a.x} ${a.y} Q${(a.x + b.x) / 2 + bend} ${(a.y + b.y) / 2} ${b.x} ${b.y}`} />
              <text class="el" x={(a.x + b.x) / 2 + bend / 2} y={(a.y + b.y) / 2 - 6} text-anchor="middle">{edge.times === 1 ? "asked once" : `asked ${edge.times} times`}</text>
            </>
          );
        })}
        {nodes.map((node) => {
          const id = node.id.replace(/^(agent|person):/, "");
          const agent = node.agent ? agents.find((it) => it.id === id) : undefined;
          const name = firstLine(spelled(agent ? nameOf(id) : id), 18);
          const does = agent ? doing(agent, states.get(id))[0] : "asks";
          const open = () => go("agents", id);
          const inner = (
            <>
              <circle cx={node.x} cy={node.y} r={22} />
              <circle class="core" cx={node.x} cy={node.y} r={node.agent ? 6 : 3} />
              <text text-anchor="middle"><tspan x={node.x} y={node.y + 40}>{name}</tspan>{" "}<tspan class="el" x={node.x} y={node.y + 55}>{does}</tspan></text>
            </>
          );
          if (!agent) return <g class="node">{inner}</g>;
          return (
            <g class="node" tabIndex={0} role="button" aria-pressed={id === chosen} aria-label={`${name} ${does}`} onClick={open} onKeyDown={(e) => { if (e.key === "Enter" || e.key === " ") { e.preventDefault(); open(); } }}>
              {inner}
            </g>
          );
        })}
      </svg>
    </div>
  );
}
