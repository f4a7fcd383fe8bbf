/**
 * The graph of what records say, around a topic: places by d3-force, drawn by us. The same graph always looks the same,
 * and beside it stands the same as a list.
 */
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { SimulationLinkDatum, SimulationNodeDatum } from "d3-force";
import { read } from "../../state/app.ts";
import { count, firstLine, spelled } from "../../text.ts";
import { Tag, Text } from "../../ui/parts.tsx";
import { Empty, Show, useLoaded } from "../../ui/states.tsx";

/** Something that records mention. */
interface Entity {
  name: string;
  kind: string;
  mentions: number;
}
/** What connects two of them. */
interface Relation {
  from: string;
  to: string;
  type: string;
  weight: number;
  sources: string[];
}
interface Placed extends Entity {
  x: number;
  y: number;
  r: number;
}
interface Picture {
  nodes: Placed[];
  edges: Relation[];
}

/** Most nodes: more cannot be read in this room. */
const MOST = 36;

/** Finds the places. The simulation starts from the same places each time, so its result is the same. */
async function place(entities: Entity[], relations: Relation[]): Promise<Picture> {
  const { forceCenter, forceCollide, forceLink, forceManyBody, forceSimulation, forceX, forceY } = await import("d3-force");
  type Node = SimulationNodeDatum & Entity & { r: number };
  const nodes: Node[] = entities.map((it) => ({ ...it, r: 7 + Math.min(9, 2 * Math.sqrt(it.mentions)) }));
  const known = new Set(nodes.map((it) => it.name));
  const edges = relations.filter((it) => known.has(it.from) && known.has(it.to) && it.from !== it.to);
  const pairs = new Map<string, SimulationLinkDatum<Node>>();
  for (const it of edges) pairs.set([it.from, it.to].sort().join("\n"), { source: it.from as never, target: it.to as never });
  const simulation = forceSimulation(nodes)
    .force("link", forceLink<Node, SimulationLinkDatum<Node>>([...pairs.values()]).id((it) => it.name).distance(78).strength(0.55))
    .force("apart", forceManyBody().strength(-320))
    .force("collide", forceCollide<Node>((it) => it.r + 12 + Math.min(46, 2.6 * it.name.length)).iterations(3))
    .force("x", forceX(0).strength(0.045))
    .force("y", forceY(0).strength(0.13))
    .force("center", forceCenter(0, 0))
    .stop();
  simulation.tick(240);
  const placed = nodes.map((it) => ({ name: it.name, kind: it.kind, mentions: it.mentions, r: it.r, x: it.x ?? 0, y: it.y ?? 0 }));
  return { nodes: placed, edges };
}

async function readGraph(agent: string | undefined, topic: string | undefined): Promise<Picture> {
  const reply = await read("getMemoryGraph", { agent, limit: MOST, ...(topic ? { topic } : {}) });
  return place(reply.nodes as unknown as Entity[], reply.edges as unknown as Relation[]);
}

/** How a relation is read out: `RELATED_TO` is `related to`. */
export const relationSays = (type: string): string => type.toLowerCase().replaceAll("_", " ");

interface GraphProps {
  agent: string | undefined;
  topic: string | undefined;
  /** Records whose entities are lit. */
  lit: string | undefined;
  choose: (topic: string) => void;
  open: (record: string) => void;
  /** Changes when the memory was changed. */
  version: number;
}

/** The graph and its list. */
export function Graph({ agent, topic, lit, choose, open, version }: GraphProps): JSX.Element {
  const picture = useLoaded(() => readGraph(agent, topic), [agent, topic, version]);
  return (
    <div class="mem-graph">
      <Show of={picture}>
        {(it) => it.nodes.length === 0
          ? <Empty title={topic ? "Nothing in memory is connected with that." : "No connections yet."}>Names, files and dates that it is told of stand here, with what connects them.</Empty>
          : (
            <>
              <Drawing picture={it} topic={topic} lit={lit} choose={choose} />
              <Connections picture={it} topic={topic} choose={choose} open={open} />
            </>
          )}
      </Show>
    </div>
  );
}

/** Where names are written: below or above their node, in the order that is given, each where it covers no other. */
function labelled(nodes: readonly Placed[], width: number): Map<string, number> {
  const boxes: [left: number, top: number, right: number, bottom: number][] = nodes.map((it) => [it.x - it.r, it.y - it.r, it.x + it.r, it.y + it.r]);
  const written = new Map<string, number>();
  for (const it of nodes) {
    const half = Math.min(20, it.name.length) * 3.3 + 2;
    if (it.x - half < -20 || it.x + half > width + 20) continue;
    for (const baseline of [it.y + it.r + 13, it.y - it.r - 5]) {
      const [left, top, right, bottom] = [it.x - half, baseline - 10, it.x + half, baseline + 3];
      if (top < 0 || boxes.some((box) => left < box[2] && box[0] < right && top < box[3] && box[1] < bottom)) continue;
      boxes.push([left, top, right, bottom]);
      written.set(it.name, baseline);
      break;
    }
  }
  return written;
}

function Drawing({ picture, topic, lit, choose }: { picture: Picture; topic: string | undefined; lit: string | undefined; choose: (topic: string) => void }): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const size = useSignal<[number, number]>([600, 250]);
  useEffect(() => {
    const observer = new ResizeObserver(() => {
      const element = box.current;
      if (element && element.clientWidth > 0) size.value = [element.clientWidth, element.clientHeight];
    });
    observer.observe(box.current!);
    return () => observer.disconnect();
  }, []);
  const [width, height] = size.value;
  const chosen = topic?.toLowerCase();
  // Where there is little room, only what is mentioned most is drawn; the list has all.
  const most = Math.max(8, Math.round(width / 26));
  const nodes = picture.nodes.toSorted((a, b) => Number(b.name.toLowerCase() === chosen) - Number(a.name.toLowerCase() === chosen) || b.mentions - a.mentions).slice(0, most);
  const drawn = new Set(nodes.map((it) => it.name));
  const edges = picture.edges.filter((it) => drawn.has(it.from) && drawn.has(it.to));
  const reach = [Math.max(60, ...nodes.map((it) => Math.abs(it.x))), Math.max(40, ...nodes.map((it) => Math.abs(it.y)))] as const;
  // Room for labels at the sides and below; never larger than life, so that a graph of three does not fill the wall.
  const scaleX = Math.min(1.25, (width / 2 - 52) / reach[0]);
  const scaleY = Math.min(1.1, (height / 2 - 30) / reach[1]);
  const at = new Map(nodes.map((it) => [it.name, { ...it, x: width / 2 + it.x * scaleX, y: height / 2 - 7 + it.y * scaleY }]));
  const pairs = new Map<string, Relation[]>();
  for (const it of edges) {
    const key = [it.from, it.to].sort().join("\n");
    pairs.set(key, [...(pairs.get(key) ?? []), it]);
  }
  const named = labelled([...at.values()], width);
  const near = new Set<string>();
  for (const it of edges) if (it.from.toLowerCase() === chosen || it.to.toLowerCase() === chosen) near.add(it.from).add(it.to);
  return (
    <div class="drawing" ref={box}>
      <svg class="graph" width={width} height={height} viewBox={`0 0 ${width} ${height}`} role="group" aria-label={`What is connected${topic ? ` around ${spelled(topic)}` : ""}: ${count(nodes.length, "name")}`}>
        {[...pairs.values()].map((relations) => {
          const [a, b] = [at.get(relations[0]!.from)!, at.get(relations[0]!.to)!];
          const bright = relations.some((it) => (lit ? it.sources.includes(lit) : it.from.toLowerCase() === chosen || it.to.toLowerCase() === chosen));
          // A verb says more than a mention; only the lit and the rare ones are written, else nothing can be read.
          const verb = relations.find((it) => it.type !== "MENTIONS" && it.type !== "RELATED_TO");
          const long = Math.hypot(a.x - b.x, a.y - b.y) > 64;
          return (
            <g aria-hidden="true">
              <line class={bright ? "lit" : ""} x1={a.x} y1={a.y} x2={b.x} y2={b.y} />
              {verb && long && (bright || nodes.length <= 14) && <text class="el" x={(a.x + b.x) / 2} y={(a.y + b.y) / 2 - 4} text-anchor="middle">{spelled(relationSays(verb.type))}</text>}
            </g>
          );
        })}
        {[...at.values()].map((it) => {
          const pressed = it.name.toLowerCase() === chosen;
          const press = () => choose(it.name);
          const label = spelled(firstLine(it.name, 20));
          const whole = spelled(it.name);
          return (
            <g
              class={`node k-${it.kind}${near.has(it.name) ? " near" : ""}${named.has(it.name) ? "" : " quiet-name"}`} tabindex={0} role="button" aria-pressed={pressed}
              aria-label={`${label === whole ? label : `${label} ${whole}`}, ${it.kind}, ${count(it.mentions, "record")}`}
              onClick={press} onKeyDown={(e) => { if (e.key === "Enter" || e.key === " ") { e.preventDefault(); press(); } }}
            >
              <title>{whole}</title>
              <circle cx={it.x} cy={it.y} r={it.r} />
              {pressed && <circle class="core" cx={it.x} cy={it.y} r={it.r / 2.4} />}
              <text x={it.x} y={named.get(it.name) ?? it.y + it.r + 13} text-anchor="middle">{label}</text>
            </g>
          );
        })}
      </svg>
    </div>
  );
}

/** The same as sentences. A sentence opens the record that says it. */
function Connections({ picture, topic, choose, open }: { picture: Picture; topic: string | undefined; choose: (topic: string) => void; open: (record: string) => void }): JSX.Element {
  const chosen = topic?.toLowerCase();
  const shown = picture.edges.filter((it) => !chosen || it.from.toLowerCase() === chosen || it.to.toLowerCase() === chosen);
  const rank = (it: Relation) => (it.type === "MENTIONS" || it.type === "RELATED_TO" ? 0 : 100) + it.weight;
  const sorted = [...(shown.length > 0 ? shown : picture.edges)].sort((a, b) => rank(b) - rank(a));
  return (
    <div class="mem-links scroll" tabIndex={0} role="region" aria-label="Connections as a list">
      <h2 class="sect">{shown.length > 0 && topic ? <>Around <Text text={topic} /></> : "Connections"}</h2>
      <ul>
        {sorted.map((it) => (
          <li>
            <button type="button" class="mem-link" title={it.sources.length > 0 ? "Open the record that says so" : undefined} onClick={() => (it.sources[0] ? open(it.sources[0]) : choose(it.to))}>
              <Text text={it.from} /> <span class="dim"><Text text={relationSays(it.type)} /></span> <Text text={it.to} />
              {it.weight > 1 && <Tag tone="line">{it.weight}</Tag>}
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}
