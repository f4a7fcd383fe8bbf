/** Our own icons: 16 x 16, one stroke of 1.4, round ends, in the colour of the text. `filled` shapes have no stroke. */
import type { JSX } from "preact";

const SHAPES = {
  chat: "M3.2 3.2h9.6a1 1 0 0 1 1 1v6a1 1 0 0 1-1 1H8l-3.2 2.6v-2.6H3.2a1 1 0 0 1-1-1v-6a1 1 0 0 1 1-1z",
  ask: "M2.2 9.4 3.9 3.2h8.2l1.7 6.2v3a1 1 0 0 1-1 1H3.2a1 1 0 0 1-1-1z|M2.4 9.4h3.3c.2 1.3 1 2 2.3 2s2.1-.7 2.3-2h3.3",
  files: "M2.2 4.2a1 1 0 0 1 1-1h3l1.5 1.7h5.1a1 1 0 0 1 1 1v6a1 1 0 0 1-1 1H3.2a1 1 0 0 1-1-1z",
  term: "M2.2 3.2h11.6v9.6H2.2z|m4.8 6.2 2 1.8-2 1.8M8.4 10.2h2.8",
  web: "M2.2 8a5.8 5.8 0 1 0 11.6 0a5.8 5.8 0 1 0 -11.6 0z|M2.2 8h11.6M8 2.2c2 1.7 2.6 3.7 2.6 5.8S10 12.1 8 13.8C6 12.1 5.4 10.1 5.4 8S6 3.9 8 2.2z",
  task: "m2.4 4.2 1.1 1.1 1.9-2.1M2.4 8.6l1.1 1.1 1.9-2.1M8 4.4h5.6M8 8.8h5.6M3 12.9h10.6",
  mem: "M2.3 11.6a1.7 1.7 0 1 0 3.4 0a1.7 1.7 0 1 0 -3.4 0z|M10.5 10.2a1.7 1.7 0 1 0 3.4 0a1.7 1.7 0 1 0 -3.4 0z|M5.5 4a1.7 1.7 0 1 0 3.4 0a1.7 1.7 0 1 0 -3.4 0z|m4.7 10.1 1.8-4.6M8.5 5.2l2.5 3.8M5.7 11.3l4.8-.8",
  law: "M8 2.4v11M5 13.4h6M3.4 4.4h9.2M3.4 4.4 1.7 9h3.4zM12.6 4.4 10.9 9h3.4z",
  book: "M4.2 2.4v11.2|*M3 4.6a1.2 1.2 0 1 0 2.4 0a1.2 1.2 0 1 0 -2.4 0z|*M3 9a1.2 1.2 0 1 0 2.4 0a1.2 1.2 0 1 0 -2.4 0z|M7.4 4.6h6.2M7.4 9h6.2M7.4 11.6h3.8",
  agents: "M2 8a2.6 2.6 0 1 0 5.2 0a2.6 2.6 0 1 0 -5.2 0z|M10 3.9a1.8 1.8 0 1 0 3.6 0a1.8 1.8 0 1 0 -3.6 0z|M10 12.1a1.8 1.8 0 1 0 3.6 0a1.8 1.8 0 1 0 -3.6 0z|m6.9 6.7 3.3-1.9M6.9 9.3l3.3 1.9",
  wire: "M1.8 5.2h9.6M9 2.8l2.6 2.4L9 7.6M14.2 10.8H4.6M7 8.4l-2.6 2.4L7 13.2",
  gear: "M2.2 4.6h6M11.4 4.6h2.4M2.2 11.4h2.4M7.8 11.4h6|M8.2 4.6a1.6 1.6 0 1 0 3.2 0a1.6 1.6 0 1 0 -3.2 0z|M4.6 11.4a1.6 1.6 0 1 0 3.2 0a1.6 1.6 0 1 0 -3.2 0z",
  find: "M2.6 7a4.4 4.4 0 1 0 8.8 0a4.4 4.4 0 1 0 -8.8 0z|m10.3 10.3 3.3 3.3",
  plus: "M8 3v10M3 8h10",
  clip: "m12.8 7.4-5 5a2.8 2.8 0 0 1-4-4l5.6-5.6a1.9 1.9 0 0 1 2.7 2.7l-5.3 5.3a.9.9 0 0 1-1.3-1.3L10 5",
  up: "M8 13V3.4M3.8 7.4 8 3.2l4.2 4.2",
  stop: "*M5.2 4h5.6a1.2 1.2 0 0 1 1.2 1.2v5.6a1.2 1.2 0 0 1 -1.2 1.2h-5.6a1.2 1.2 0 0 1 -1.2 -1.2v-5.6a1.2 1.2 0 0 1 1.2 -1.2z",
  pause: "M5.6 3.6v8.8M10.4 3.6v8.8",
  play: "*M5 3.2v9.6L12.6 8z",
  sun: "M5.2 8a2.8 2.8 0 1 0 5.6 0a2.8 2.8 0 1 0 -5.6 0z|M8 1.8v1.4M8 12.8v1.4M1.8 8h1.4M12.8 8h1.4M3.6 3.6l1 1M11.4 11.4l1 1M12.4 3.6l-1 1M4.6 11.4l-1 1",
  ok: "m3.4 8.4 3 3 6.2-6.6",
  no: "m4 4 8 8M12 4l-8 8",
  pen: "m3 13 .7-3 6.8-6.8a1.2 1.2 0 0 1 1.7 0l.6.6a1.2 1.2 0 0 1 0 1.7L6 12.3z",
  undo: "M5.2 3.4 2.6 6l2.6 2.6M2.8 6h6.6a3.6 3.6 0 0 1 0 7.2H6",
  copy: "M6.6 5.6h5.6a1 1 0 0 1 1 1v5.6a1 1 0 0 1 -1 1h-5.6a1 1 0 0 1 -1 -1v-5.6a1 1 0 0 1 1 -1z|M10.4 5.4V3.8a1 1 0 0 0-1-1H3.8a1 1 0 0 0-1 1v5.6a1 1 0 0 0 1 1h1.6",
  down: "m4 6.2 4 4 4-4",
  right: "m6.2 4 4 4-4 4",
  more: "*M2.5 8a1.1 1.1 0 1 0 2.2 0a1.1 1.1 0 1 0 -2.2 0z|*M6.9 8a1.1 1.1 0 1 0 2.2 0a1.1 1.1 0 1 0 -2.2 0z|*M11.3 8a1.1 1.1 0 1 0 2.2 0a1.1 1.1 0 1 0 -2.2 0z",
  link: "M6.8 9.2a2.6 2.6 0 0 0 3.8 0l2.2-2.2a2.7 2.7 0 0 0-3.8-3.8l-.8.8M9.2 6.8a2.6 2.6 0 0 0-3.8 0L3.2 9A2.7 2.7 0 0 0 7 12.8l.8-.8",
  lock: "M4.4 7h7.2a1 1 0 0 1 1 1v4.2a1 1 0 0 1 -1 1h-7.2a1 1 0 0 1 -1 -1v-4.2a1 1 0 0 1 1 -1z|M5.4 7V5.2a2.6 2.6 0 0 1 5.2 0V7",
  clock: "M2.4 8a5.6 5.6 0 1 0 11.2 0a5.6 5.6 0 1 0 -11.2 0z|M8 4.8V8l2.2 1.6",
  eye: "M1.8 8S4 3.8 8 3.8 14.2 8 14.2 8 12 12.2 8 12.2 1.8 8 1.8 8z|M6.2 8a1.8 1.8 0 1 0 3.6 0a1.8 1.8 0 1 0 -3.6 0z",
  file: "M4.2 2.4h5l2.6 2.8v8.4H4.2z|M9 2.6v2.8h2.6",
  hand: "m4 2.6 7.8 6-3.6.6 2 3.8-1.6.9-2-3.9L4 12.4z",
  bolt: "M9 1.8 3.6 9h3.8l-.6 5.2L12.4 7H8.4z",
  side: "M2.2 3.2h11.6v9.6H2.2zM10 3.2v9.6",
  menu: "M2.6 4.6h10.8M2.6 8h10.8M2.6 11.4h10.8",
  help: "M2.2 8a5.8 5.8 0 1 0 11.6 0a5.8 5.8 0 1 0 -11.6 0z|M6.3 6.3a1.7 1.7 0 1 1 2.5 1.5c-.6.3-.8.7-.8 1.3M8 11.3v.1",
  branch: "M4.6 2.8v10.4|M4.6 10.4c0-3.2 6.8-1.6 6.8-5|*M9.6 4a1.8 1.8 0 1 0 3.6 0a1.8 1.8 0 1 0-3.6 0z",
  redo: "M13.2 8a5.2 5.2 0 1 1-1.6-3.8M13.2 2.6v2.8h-2.8",
  out: "M9.6 3h3.4v3.4M13 3 8 8M11.6 9.6v2.8a.8.8 0 0 1-.8.8H3.8a.8.8 0 0 1-.8-.8V5.4a.8.8 0 0 1 .8-.8h2.8",
  save: "M8 2.8v7M4.8 7 8 10.2 11.2 7M3 13.2h10",
} as const;
export type IconName = keyof typeof SHAPES;

/** An icon. It is decoration: what it means is said beside it or in the label of its button. */
export function Icon({ name, small }: { name: IconName; small?: boolean }): JSX.Element {
  return (
    <svg class={small ? "i s" : "i"} viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      {SHAPES[name].split("|").map((d) => (d.startsWith("*") ? <path class="f" d={d.slice(1)} /> : <path d={d} />))}
    </svg>
  );
}

/** What the agent does, shown by the ring of its sign. */
export type Mood = "need" | "think" | "act" | "calm" | "bad" | "accent";
const CORE = [0, 1.6, 2.8, 4.4, 6, 7.6];

/** The sign: a ring with a core. The core's size from 1 to 5 is how clearly something is held, the ring is what the agent does. */
export function Sign({ size, clear = 2, mood = "need" }: { size: number; clear?: number; mood?: Mood }): JSX.Element {
  return (
    <svg class={`sign ${mood}`} width={size} height={size} viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <circle class="ring" cx="12" cy="12" r="10" />
      <circle class="dot" cx="12" cy="12" r={CORE[clear] ?? 2.8} />
    </svg>
  );
}
