/** The editor: CodeMirror in a shadow root, where its styles are adopted sheets, which a strict policy allows. Loaded when a file is opened. */
import { closeBrackets, closeBracketsKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { bracketMatching, codeFolding, foldGutter, foldKeymap, HighlightStyle, indentOnInput, syntaxHighlighting } from "@codemirror/language";
import { unifiedMergeView } from "@codemirror/merge";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { Compartment, EditorState, type Extension, RangeSetBuilder, StateEffect, StateField, type Text } from "@codemirror/state";
import { Decoration, type DecorationSet, drawSelection, EditorView, highlightActiveLine, highlightActiveLineGutter, highlightSpecialChars, keymap, lineNumbers } from "@codemirror/view";
import { tags as t } from "@lezer/highlight";
import type { OpenFile } from "./state.ts";

const LANGUAGES: [RegExp, () => Promise<Extension>][] = [
  [/\.rs$/i, () => import("./languages/rust.ts").then((it) => it.rust())],
  [/\.pyi?$/i, () => import("./languages/python.ts").then((it) => it.python())],
  [/\.(m|c)?jsx?$/i, () => import("./languages/javascript.ts").then((it) => it.javascript({ jsx: true }))],
  [/\.(m|c)?tsx?$/i, () => import("./languages/javascript.ts").then((it) => it.javascript({ jsx: true, typescript: true }))],
  [/\.(json|jsonl|webmanifest)$/i, () => import("./languages/json.ts").then((it) => it.json())],
  [/\.(md|markdown)$/i, () => import("./languages/markdown.ts").then((it) => it.markdown())],
];

/** What cannot be seen, as everywhere on the page: spelled out. Line ends and tabs are not in it. */
const HIDDEN = /[\u00a0\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200f\u2028-\u202f\u205f-\u206f\u2800\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]/gu;

function spelledOut(code: number): HTMLElement {
  const box = document.createElement("span");
  box.className = "hid";
  box.textContent = `\\u{${code.toString(16)}}`;
  box.title = "a character that cannot be seen";
  return box;
}

const colours = HighlightStyle.define([
  { tag: [t.keyword, t.modifier, t.operatorKeyword, t.controlKeyword, t.definitionKeyword, t.moduleKeyword], color: "var(--accent)" },
  { tag: [t.string, t.special(t.string), t.regexp], color: "var(--good)" },
  { tag: [t.comment, t.lineComment, t.blockComment, t.docComment], color: "var(--ink-3)", fontStyle: "italic" },
  { tag: [t.number, t.bool, t.atom, t.null, t.literal], color: "var(--need)" },
  { tag: [t.typeName, t.className, t.namespace, t.tagName, t.macroName], color: "var(--think)" },
  { tag: [t.heading], color: "var(--ink)", fontWeight: "600" },
  { tag: [t.link, t.url], color: "var(--accent)" },
  { tag: t.emphasis, fontStyle: "italic" },
  { tag: t.strong, fontWeight: "600" },
]);

const look = EditorView.theme({
  "&": { height: "100%", backgroundColor: "var(--surface)", color: "var(--ink)", fontSize: ".78125rem" },
  "&.cm-focused": { outline: "2px solid var(--accent)", outlineOffset: "-2px" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.66", fontVariantLigatures: "none", scrollbarWidth: "thin", scrollbarColor: "var(--line) transparent" },
  ".cm-content": { padding: "8px 0", caretColor: "var(--ink)" },
  ".cm-line": { padding: "0 12px" },
  ".cm-gutters": { backgroundColor: "var(--surface)", color: "var(--ink-3)", border: "0" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "color-mix(in oklab, var(--accent-soft) 45%, transparent)" },
  ".cm-activeLineGutter": { color: "var(--ink)" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": { backgroundColor: "var(--mark)" },
  ".cm-selectionMatch": { backgroundColor: "color-mix(in oklab, var(--mark) 60%, transparent)" },
  ".cm-matchingBracket, &.cm-focused .cm-matchingBracket": { backgroundColor: "var(--accent-soft)" },
  ".cm-agent": { boxShadow: "inset 3px 0 0 var(--good)", backgroundColor: "color-mix(in oklab, var(--add) 55%, transparent)" },
  ".cm-panels": { backgroundColor: "var(--ground)", color: "var(--ink)", borderColor: "var(--line)" },
  ".cm-panel.cm-search": { padding: "6px 10px", fontFamily: "var(--sans)", fontSize: ".75rem" },
  ".cm-panel.cm-search label": { color: "var(--ink-2)", fontSize: "inherit" },
  ".cm-panel.cm-search [name=close]": { color: "var(--ink-2)", minWidth: "24px", minHeight: "24px" },
  ".cm-textfield": { minHeight: "24px", border: "1px solid var(--edge)", borderRadius: "4px", backgroundColor: "var(--raised)", color: "var(--ink)", fontSize: "inherit" },
  ".cm-button": { minHeight: "24px", border: "1px solid var(--edge)", borderRadius: "6px", backgroundImage: "none", backgroundColor: "var(--raised)", color: "var(--ink)", fontSize: "inherit" },
  ".cm-searchMatch": { backgroundColor: "var(--need-soft)", outline: "1px solid var(--need)" },
  ".cm-searchMatch-selected": { backgroundColor: "var(--mark)" },
  ".cm-foldPlaceholder": { border: "1px solid var(--line)", backgroundColor: "var(--sunken)", color: "var(--ink-2)" },
  ".hid": { padding: "0 3px", borderRadius: "3px", backgroundColor: "var(--bad)", color: "var(--on-bad)", fontSize: ".86em" },
  "&.cm-merge-b .cm-changedLine, .cm-insertedLine": { backgroundColor: "var(--add)" },
  "&.cm-merge-b .cm-changedText": { background: "var(--add-word)" },
  ".cm-deletedChunk": { backgroundColor: "var(--del)", paddingLeft: "6px" },
  ".cm-deletedChunk .cm-deletedText": { background: "var(--del-word)" },
  ".cm-chunkButtons button": { minHeight: "24px", border: "1px solid var(--edge)", borderRadius: "6px", background: "var(--raised)", color: "var(--ink)", cursor: "pointer", padding: "0 8px", margin: "0 2px" },
});

/** A line that the agent wrote: its number then, and its text. */
export interface AgentLine {
  number: number;
  text: string;
}
const setMarks = StateEffect.define<readonly AgentLine[]>();
/** The lines that the agent wrote last, where they still are as it left them. */
const marks = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update: (value, change) => {
    let now = value.map(change.changes);
    for (const effect of change.effects) if (effect.is(setMarks)) now = marked(change.state.doc, effect.value);
    return now;
  },
  provide: (field) => EditorView.decorations.from(field),
});

function marked(doc: Text, lines: readonly AgentLine[]): DecorationSet {
  const builder = new RangeSetBuilder<Decoration>();
  for (const { number, text } of lines) {
    if (number > doc.lines) break;
    const line = doc.line(number);
    if (line.text === text) builder.add(line.from, line.from, Decoration.line({ class: "cm-agent" }));
  }
  return builder.finish();
}

/** Texts from this length on are not compared with each letter that is typed. */
const LONG = 300_000;

/** How lines of a text end: as they do in the file. Where ends differ, what is no plain line feed stays in the line. */
function lineEnd(text: string): Extension {
  if (!text.includes("\r")) return EditorState.lineSeparator.of("\n");
  const all = text.split("\n").length - 1;
  return EditorState.lineSeparator.of(all > 0 && (text.match(/\r\n/g)?.length ?? 0) === all && !/\r(?!\n)/.test(text) ? "\r\n" : "\n");
}

/** A button beside a part that differs: the text of the editor stays there, or the other one comes. */
function mergeButton(kind: "reject" | "accept", act: (e: MouseEvent) => void): HTMLElement {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = kind === "accept" ? "Keep mine here" : "Take theirs here";
  button.onmousedown = act;
  button.onkeydown = (e) => { if (e.key === "Enter" || e.key === " ") act(e as unknown as MouseEvent); };
  return button;
}

export interface EditorOptions {
  /** Asked for each file, when it is known who looks at it. */
  readOnly: () => boolean;
  save: () => void;
}

interface Kept {
  state: EditorState;
  turn: number;
}

/** One editor; it shows one file after another, each with its own undo history. */
export class CodeEditor {
  #view: EditorView;
  #file: OpenFile | null = null;
  /** The turn of the file that is shown: a later one has another text. */
  #turn = 0;
  #language = new Compartment();
  #compared = new Compartment();
  #options: EditorOptions;
  #pause: ReturnType<typeof setTimeout> | undefined;

  constructor(host: HTMLElement, options: EditorOptions) {
    this.#options = options;
    const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(":host { display: block; min-height: 0; height: 100%; } .cm-editor { font-variant-ligatures: none; }");
    root.adoptedStyleSheets = [sheet];
    this.#view = new EditorView({ parent: root, root, state: EditorState.create({ doc: "" }) });
  }

  /** Shows a file, as it was left. */
  show(file: OpenFile): void {
    this.#keep();
    this.#file = file;
    this.#turn = file.turn.peek();
    const kept = file.kept as Kept | null;
    const fits = kept !== null && kept.turn === file.turn.peek();
    this.#view.setState(fits ? kept.state : this.#begin(file, kept));
    file.kept = { state: this.#view.state, turn: this.#turn } satisfies Kept;
    file.current = () => (this.#file === file ? this.#view.state : (file.kept as Kept).state).sliceDoc();
    if (!fits) this.#load(file);
  }

  /** The text was replaced from outside: takes it, and keeps the cursor where it was. */
  #begin(file: OpenFile, before: Kept | null): EditorState {
    const at = before?.state.selection.main.head ?? 0;
    const state = EditorState.create({ doc: file.base, extensions: this.#extensions(file) });
    return at > 0 ? state.update({ selection: { anchor: Math.min(at, state.doc.length) } }).state : state;
  }

  #load(file: OpenFile): void {
    const found = LANGUAGES.find(([test]) => test.test(file.path));
    // Parsing a very long text costs more than its colours are worth.
    if (!found || file.base.length > 1_000_000) return;
    void found[1]().then((language) => {
      if (this.#file === file) this.#view.dispatch({ effects: this.#language.reconfigure(language) });
    });
  }

  #extensions(file: OpenFile): Extension[] {
    const base = file.base;
    return [
      lineEnd(base),
      lineNumbers(),
      foldGutter(),
      codeFolding(),
      highlightActiveLineGutter(),
      highlightActiveLine(),
      highlightSpecialChars({ addSpecialChars: HIDDEN, render: spelledOut }),
      history(),
      drawSelection(),
      indentOnInput(),
      bracketMatching(),
      closeBrackets(),
      highlightSelectionMatches(),
      search({ top: true }),
      syntaxHighlighting(colours),
      marks,
      look,
      this.#language.of([]),
      this.#compared.of([]),
      EditorState.readOnly.of(this.#options.readOnly()),
      EditorState.tabSize.of(4),
      EditorView.contentAttributes.of({ tabindex: "0", "aria-label": `Text of ${file.path}`, spellcheck: "false", autocorrect: "off", autocapitalize: "off" }),
      keymap.of([
        { key: "Mod-s", preventDefault: true, run: () => (this.#options.save(), true) },
        ...closeBracketsKeymap, ...searchKeymap, ...historyKeymap, ...foldKeymap, ...defaultKeymap, indentWithTab,
      ]),
      EditorView.updateListener.of((change) => {
        if (change.docChanged) this.#compare(file, change.state);
      }),
    ];
  }

  /** Says whether the text differs from the server's: at once for most files, after a pause for those of which it is dear. */
  #compare(file: OpenFile, state: EditorState): void {
    clearTimeout(this.#pause);
    const look = () => { file.dirty.value = (this.#file === file ? this.#view.state : state).sliceDoc() !== file.base; };
    if (state.doc.length < LONG) return look();
    file.dirty.value = true;
    this.#pause = setTimeout(look, 400);
  }

  /** Marks the lines that the agent wrote. */
  mark(lines: readonly AgentLine[]): void {
    if (this.#view.state.field(marks, false)) this.#view.dispatch({ effects: setMarks.of(lines) });
  }

  /** Shows the difference to another text within the editor; each part can be taken or not. Null ends it. */
  compare(theirs: string | null): void {
    const shown = theirs === null ? [] : unifiedMergeView({ original: theirs, mergeControls: mergeButton, gutter: true });
    this.#view.dispatch({ effects: this.#compared.reconfigure(shown) });
  }

  /** Brings a line into sight and puts the cursor there. */
  goTo(number: number): void {
    const { doc } = this.#view.state;
    const line = doc.line(Math.max(1, Math.min(number, doc.lines)));
    this.#view.dispatch({ selection: { anchor: line.from }, effects: EditorView.scrollIntoView(line.from, { y: "center" }) });
  }

  focus(): void {
    this.#view.focus();
  }

  #keep(): void {
    if (this.#file) this.#file.kept = { state: this.#view.state, turn: this.#turn } satisfies Kept;
  }

  destroy(): void {
    this.#keep();
    this.#file = null;
    this.#view.destroy();
  }
}
