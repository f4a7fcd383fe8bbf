/** Text that came from elsewhere: what cannot be seen is spelled out, escape sequences are taken away, sizes and times are put into words. */

/**
 * Characters that cannot be seen, that change the direction of writing, or that look like a plain space and are none:
 * C0 and C1 controls, soft hyphen, zero width, bidi, line separators, fillers, tags and variation selectors.
 */
const HIDDEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00a0\u00ad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200f\u2028-\u202f\u205f-\u206f\u2800\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]/u;
const HIDDEN_SPLIT = new RegExp(`(${HIDDEN.source})`, "u");
const EMOJI_JOINED = /\p{Extended_Pictographic}[\ufe0f\u200d]/u;

/** A piece of a text: as it is, or the name of a character that cannot be seen. */
export interface Piece {
  text: string;
  hidden: boolean;
}

/** The pieces of a text, with hidden characters apart, written as `\u{202e}`. */
export function pieces(text: string): Piece[] {
  if (!HIDDEN.test(text)) return text === "" ? [] : [{ text, hidden: false }];
  const found: Piece[] = [];
  for (const part of text.split(HIDDEN_SPLIT)) {
    if (part === "") continue;
    const hidden = HIDDEN.test(part) && [...part].length === 1;
    found.push({ text: hidden ? `\\u{${part.codePointAt(0)!.toString(16)}}` : part, hidden });
  }
  return found;
}

/** Whether a text has a character that cannot be seen. What makes an emoji is not counted. */
export function hasHidden(text: string): boolean {
  if (!HIDDEN.test(text)) return false;
  return HIDDEN.test(EMOJI_JOINED.test(text) ? text.replace(/(\p{Extended_Pictographic})[\ufe0f\u200d]+/gu, "$1") : text);
}

/** Whether any text inside of a value has a hidden character. */
export function valueHasHidden(value: unknown): boolean {
  if (typeof value === "string") return hasHidden(value);
  if (Array.isArray(value)) return value.some(valueHasHidden);
  if (value !== null && typeof value === "object") return Object.entries(value).some(([name, it]) => hasHidden(name) || valueHasHidden(it));
  return false;
}

/** The text with its hidden characters spelled out, for places that take plain text (titles, labels). */
export function spelled(text: string): string {
  return pieces(text).map((it) => it.text).join("");
}

const ESCAPES = new RegExp(
  [
    "\u001b\\[[0-?]*[ -/]*[@-~]", // CSI
    "\u009b[0-?]*[ -/]*[@-~]", // CSI as one character
    "[\u001b][\\]PX^_][^\u0007\u001b\u009c]*(?:\u0007|\u001b\\\\|\u009c|$)", // OSC, DCS, SOS, PM, APC with both ends
    "[\u0090\u0098\u009d-\u009f][^\u0007\u001b\u009c]*(?:\u0007|\u001b\\\\|\u009c|$)",
    "\u001b[ -/]*[0-~]", // what is left of two and three characters
  ].join("|"),
  "gu",
);

/** Without the escape sequences of a terminal, and with carriage returns applied as a terminal would. */
export function withoutEscapes(text: string): string {
  const plain = text.includes("\u001b") || /[\u0080-\u009f]/.test(text) ? text.replace(ESCAPES, "") : text;
  if (!plain.includes("\r")) return plain;
  return plain
    .split("\n")
    .map((line) => line.replace(/\r+$/, ""))
    .map((line) => line.slice(line.lastIndexOf("\r") + 1))
    .join("\n");
}

/**
 * The result of a tool, for a line that is read by people: `command: echo hello; exit_code: 0` instead of JSON. Text before
 * the data stays, and so does data that was cut off or is no object.
 */
export function readable(text: string): string {
  const at = text.indexOf('{"');
  if (at < 0) return text;
  let value: unknown;
  try {
    value = JSON.parse(text.slice(at));
  } catch {
    // Cut off at its end: what is whole before the last comma is read.
    const comma = text.lastIndexOf(',"');
    try {
      value = comma > at ? JSON.parse(`${text.slice(at, comma)}}`) : null;
    } catch {
      value = null;
    }
  }
  if (value === null || typeof value !== "object") return text;
  const words = Object.entries(value).filter(([, it]) => it !== null && it !== "" && it !== false).map(([name, it]) => `${name}: ${typeof it === "object" ? JSON.stringify(it) : String(it)}`);
  return words.length === 0 ? text : text.slice(0, at) + words.join("; ");
}

/** The first line, cut to a number of characters. */
export function firstLine(text: string, most = 120): string {
  const line = text.trimStart().split("\n", 1)[0] ?? "";
  return line.length > most ? `${line.slice(0, most - 1)}…` : line;
}

/** `14:32` today, `Mon` within the week, `12 Nov` before. */
export function shortTime(at: number | string, now = Date.now()): string {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return "";
  const midnight = new Date(now).setHours(0, 0, 0, 0);
  if (date.getTime() >= midnight) return clock(date);
  if (date.getTime() >= midnight - 6 * 86_400_000) return date.toLocaleDateString("en-GB", { weekday: "short" });
  const options: Intl.DateTimeFormatOptions = { day: "numeric", month: "short" };
  if (date.getFullYear() !== new Date(now).getFullYear()) options.year = "numeric";
  return date.toLocaleDateString("en-GB", options);
}

/** `14:32`. */
export function clock(at: number | string | Date): string {
  const date = new Date(at);
  return Number.isNaN(date.getTime()) ? "" : date.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
}

/** `24 Nov, 14:32`, for what is not today; `14:32` for what is. */
export function dayAndTime(at: number | string, now = Date.now()): string {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return "";
  if (date.toDateString() === new Date(now).toDateString()) return clock(date);
  return `${date.toLocaleDateString("en-GB", { day: "numeric", month: "short" })}, ${clock(date)}`;
}

/** `18 Nov 2026, 14:32:05`, for tooltips and the journal. */
export function fullTime(at: number | string): string {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return "";
  return `${date.toLocaleDateString("en-GB", { day: "numeric", month: "short", year: "numeric" })}, ${date.toLocaleTimeString("en-GB")}`;
}

/** `6 ms`, `4.2 s`, `12 s`, `3 min`. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 10_000) return `${(ms / 1000).toFixed(1)} s`;
  if (ms < 120_000) return `${Math.round(ms / 1000)} s`;
  return `${Math.round(ms / 60_000)} min`;
}

/** `912 bytes`, `4.1 KB`. */
export function size(bytes: number): string {
  if (bytes < 1000) return `${bytes} bytes`;
  if (bytes < 1_000_000) return `${(bytes / 1000).toFixed(bytes < 10_000 ? 1 : 0)} KB`;
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** `31 204`: groups of three, apart by a thin gap that copies as a plain space. */
export function grouped(number: number): string {
  return Math.round(number).toString().replace(/\B(?=(\d{3})+(?!\d))/g, " ");
}

/** `1 question`, `2 questions`. */
export function count(number: number, one: string, many = `${one}s`): string {
  return `${grouped(number)} ${number === 1 ? one : many}`;
}

/** The fields of an input or a result that say most, in the order in which they are looked for. */
const SAYING = ["says", "command", "path", "query", "question", "text", "from", "title", "content", "output"];

/**
 * A reason of the journal for reading: data in it becomes the value that says most. `I decided to call file-read with
 * {"path":"a.md"}.` becomes a sentence with the path as code. What was cut off by the server is read as far as it goes.
 */
export function plainReason(says: string): string {
  const found = /^([^]*?)(\{"[^]*)$/.exec(says);
  if (!found) return says;
  const [, before = "", data = ""] = found;
  const value = SAYING.map((name) => new RegExp(`"${name}":("(?:[^"\\\\]|\\\\.)*"?)`).exec(data)?.[1]).find((it) => it !== undefined);
  if (value === undefined) return before + (data.length > 160 ? `${data.slice(0, 159)}…` : data);
  let text = value.slice(1);
  try {
    text = JSON.parse(value.endsWith('"') && value.length > 1 ? value : `${value}"`) as string;
  } catch {
    /* cut off within an escape: as it stands */
  }
  const skill = before.replace(/\bcall ([\w-]+)\b/, "call `$1`");
  return `${skill}\`${firstLine(text, 90).replaceAll("`", "ˋ")}\``;
}
