/**
 * The screen of a terminal: xterm, loaded when a terminal is opened.
 *
 * xterm writes style elements, which the policy of the page allows with the nonce of this answer alone: `document.createElement`
 * gives it to them from before the code is loaded. What a program writes is drawn and nothing else: links (OSC 8), the
 * clipboard (OSC 52), titles and notices are swallowed, and answers to questions of the program are sent by the holder alone.
 */
import type { Terminal as Xterm } from "@xterm/xterm";
import type { FitAddon } from "@xterm/addon-fit";
import "@xterm/xterm/css/xterm.css";
import { isAnswer, withoutTurns } from "./bytes.ts";

/** How long after it was attached what comes counts as having been there before, in milliseconds. */
const REPLAY = 1_500;

let wrapped = false;
/** Gives the nonce to every style element that is made from now on. */
function withNonce(): void {
  const nonce = document.querySelector<HTMLMetaElement>('meta[name="style-nonce"]')?.content;
  if (wrapped || !nonce) return;
  wrapped = true;
  const plain = document.createElement.bind(document);
  document.createElement = ((name: string, options?: ElementCreationOptions) => {
    const element = plain(name, options);
    if (element instanceof HTMLStyleElement) element.nonce = nonce;
    return element;
  }) as typeof document.createElement;
}

/** Something that was typed: the name of its writer, the text, and its place in the output. */
export interface Typed {
  by: string;
  text: string;
  at: number;
}

/** A part of the output. */
export interface Output {
  /** Where the next part begins. */
  cursor: number;
  bytes: Uint8Array;
  missed: number;
  typed: readonly Typed[];
}

const value = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
/** A colour of the page as a plain one: xterm does not read `light-dark()`. */
function colour(name: string): string {
  const probe = document.createElement("span");
  probe.style.color = `var(${name})`;
  document.body.append(probe);
  const found = getComputedStyle(probe).color;
  probe.remove();
  const parts = /^rgba?\((\d+),\s*(\d+),\s*(\d+)/.exec(found);
  return parts ? `#${parts.slice(1, 4).map((it) => Number(it).toString(16).padStart(2, "0")).join("")}` : "#888888";
}

/** Colours for both themes, readable on the ground of the page. */
function theme(): Record<string, string> {
  const ground = colour("--sunken");
  return {
    background: ground, foreground: colour("--ink"), cursor: colour("--accent"), cursorAccent: ground, selectionBackground: colour("--mark"),
    black: colour("--ink-2"), brightBlack: colour("--ink-3"), white: colour("--ink"), brightWhite: colour("--ink"),
    red: colour("--bad"), brightRed: colour("--bad"), green: colour("--good"), brightGreen: colour("--good"), yellow: colour("--need"), brightYellow: colour("--need"),
    blue: colour("--accent"), brightBlue: colour("--accent"), cyan: colour("--accent"), brightCyan: colour("--accent"), magenta: colour("--think"), brightMagenta: colour("--think"),
  };
}

export class Screen {
  readonly #term: Xterm;
  readonly #fit: FitAddon;
  readonly #observer: ResizeObserver;
  readonly #dark = matchMedia("(prefers-color-scheme: dark)");
  readonly #themes: MutationObserver;
  /** Answers to questions of programs are sent from this time on: those in what was there before were answered then. */
  #answersFrom = Infinity;
  #lastTypist = "";
  #rest = new Uint8Array();
  #mine = false;
  readonly #recolour = () => { this.#term.options.theme = theme(); };

  private constructor(term: Xterm, fit: FitAddon, host: HTMLElement, onResize: () => void) {
    this.#term = term;
    this.#fit = fit;
    let frame = 0;
    this.#observer = new ResizeObserver(() => {
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(() => {
        if (host.clientWidth === 0) return;
        this.#fit.fit();
        onResize();
      });
    });
    this.#observer.observe(host);
    this.#dark.addEventListener("change", this.#recolour);
    this.#themes = new MutationObserver(this.#recolour);
    this.#themes.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
  }

  /** Puts a screen into an element. `send` gets what is typed, `resized` the size in letters. */
  static async open(host: HTMLElement, label: string, send: (text: string) => void, resized: (columns: number, rows: number) => void): Promise<Screen> {
    withNonce();
    const [{ Terminal }, { FitAddon }] = await Promise.all([import("@xterm/xterm"), import("@xterm/addon-fit")]);
    const term = new Terminal({
      fontFamily: value("--mono"), fontSize: 12.5, lineHeight: 1.35, cursorBlink: !matchMedia("(prefers-reduced-motion: reduce)").matches,
      scrollback: 10_000, screenReaderMode: false, allowProposedApi: true, theme: theme(), minimumContrastRatio: 4.5,
    });
    const fit = new FitAddon();
    term.loadAddon(fit);
    term.open(host);
    for (const code of [0, 1, 2, 7, 8, 9, 52, 99, 777, 1337]) term.parser.registerOscHandler(code, () => true);
    const screen = new Screen(term, fit, host, () => resized(term.cols, term.rows));
    term.textarea?.setAttribute("aria-label", label);
    // Tab belongs to the shell; Shift and Escape lead out again.
    term.attachCustomKeyEventHandler((e) => {
      if (e.type === "keydown" && e.key === "Escape" && e.shiftKey) {
        host.closest("main")?.querySelector<HTMLElement>("h1")?.focus();
        return false;
      }
      return true;
    });
    term.onData((text) => {
      if (screen.#mine && (performance.now() > screen.#answersFrom || !isAnswer(text))) send(text);
    });
    fit.fit();
    resized(term.cols, term.rows);
    return screen;
  }

  get size(): { columns: number; rows: number } {
    return { columns: this.#term.cols, rows: this.#term.rows };
  }

  /** Whether what is typed here goes to the shell. */
  set mine(on: boolean) {
    this.#mine = on;
    this.#term.options.disableStdin = !on;
    this.#term.options.cursorStyle = on ? "block" : "underline";
  }

  /** It was attached: what was there before comes at once, and questions in it are not answered again. */
  attached(): void {
    this.#answersFrom = performance.now() + REPLAY;
  }

  /** Draws a part of the output. */
  write(part: Output): void {
    let at = part.cursor - part.bytes.length;
    let rest = part.bytes;
    if (part.missed > 0) this.#put(new TextEncoder().encode(`\r\n[${part.missed} bytes are kept no longer]\r\n`));
    for (const typed of [...part.typed].sort((a, b) => a.at - b.at)) {
      const cut = Math.max(0, Math.min(rest.length, typed.at - at));
      this.#put(rest.subarray(0, cut), typed);
      rest = rest.subarray(cut);
      at += cut;
    }
    this.#put(rest);
  }

  #put(given: Uint8Array, then?: Typed): void {
    const { bytes, rest } = withoutTurns(this.#rest, given);
    this.#rest = rest;
    if (bytes.length === 0 && !then) return;
    this.#term.write(bytes, () => { if (then) this.#name(then); });
  }

  /** Writes the name of who types beside the line, where another one begins than before. */
  #name(typed: Typed): void {
    if (typed.by === this.#lastTypist) return;
    this.#lastTypist = typed.by;
    const marker = this.#term.registerMarker(0);
    if (!marker) return;
    const width = Math.min(18, typed.by.length + 2);
    const shown = this.#term.registerDecoration({ marker, width, layer: "top" });
    shown?.onRender((element) => {
      element.className = "xterm-decoration typist";
      element.textContent = typed.by;
    });
  }

  clear(): void {
    this.#term.reset();
    this.#lastTypist = "";
  }

  focus(): void {
    this.#term.focus();
  }

  /** What is selected, or the whole screen as text. */
  text(): string {
    if (this.#term.hasSelection()) return this.#term.getSelection();
    const buffer = this.#term.buffer.active;
    const lines: string[] = [];
    for (let at = 0; at < buffer.length; at++) lines.push(buffer.getLine(at)?.translateToString(true) ?? "");
    return lines.join("\n").trimEnd();
  }

  destroy(): void {
    this.#observer.disconnect();
    this.#themes.disconnect();
    this.#dark.removeEventListener("change", this.#recolour);
    this.#term.dispose();
  }
}
