/**
 * The only file that turns text into HTML: Markdown of agents and people, cleaned before the document sees it.
 *
 * marked makes HTML of Markdown, DOMPurify takes away all but a few elements, and returns a TrustedHTML, because the page
 * runs under `require-trusted-types-for 'script'`. Pictures from elsewhere are not loaded: they become a button. Links open
 * apart and say where they lead. Hidden characters are spelled out, as everywhere.
 */
import DOMPurify from "dompurify";
import { marked } from "marked";
import { hasHidden, spelled, withoutEscapes } from "./text.ts";

const KEPT: Parameters<typeof DOMPurify.sanitize>[1] = {
  ALLOWED_TAGS: ["p", "br", "hr", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote", "pre", "code", "em", "strong", "del", "a", "table", "thead", "tbody", "tr", "th", "td", "button"],
  ALLOWED_ATTR: ["href", "start", "class", "align", "data-host", "data-picture", "type"],
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
  ALLOWED_URI_REGEXP: /^(?:https?|mailto):/i,
  RETURN_TRUSTED_TYPE: true,
};

const escaped = (text: string) => text.replace(/[&<>"']/g, (it) => `&#${it.charCodeAt(0)};`);

/** The address of a link if it may be followed, with its host as it is on the wire (punycode). */
export function checkedLink(href: string): { href: string; host: string } | null {
  try {
    const url = new URL(href);
    if (!["http:", "https:", "mailto:"].includes(url.protocol)) return null;
    return { href: url.href, host: url.protocol === "mailto:" ? url.pathname : url.host };
  } catch {
    return null;
  }
}

marked.use({
  gfm: true,
  breaks: true,
  renderer: {
    // HTML in the text is text.
    html: ({ text }) => escaped(text),
    image: ({ href, text }) => {
      const link = checkedLink(href);
      if (!link) return escaped(text);
      return `<button type="button" class="b small picture" data-picture="${escaped(link.href)}" data-host="${escaped(link.host)}">picture from ${escaped(link.host)}, not loaded</button>`;
    },
    link({ href, tokens }) {
      const inner = this.parser.parseInline(tokens);
      const link = checkedLink(href);
      return link ? `<a href="${escaped(link.href)}" data-host="${escaped(link.host)}">${inner}</a>` : inner;
    },
    checkbox: ({ checked }) => (checked ? "☑ " : "☐ "),
  },
});

DOMPurify.addHook("afterSanitizeAttributes", (node) => {
  if (node.nodeName === "A") {
    node.setAttribute("rel", "noopener noreferrer nofollow");
    node.setAttribute("target", "_blank");
    node.setAttribute("title", node.getAttribute("data-host") ?? "");
  }
  // Classes of our own elements alone: a message cannot dress up as a part of the page.
  if (node.hasAttribute("class") && !node.hasAttribute("data-picture") && !/^language-[\w+-]{1,30}$/.test(node.getAttribute("class") ?? "")) node.removeAttribute("class");
  if (node.nodeName === "BUTTON" && !node.hasAttribute("data-picture")) node.remove();
});

const DEAR = 8 * 1024;

/** Puts Markdown into an element. Text that is long and still growing stays plain, because parsing it each frame is dear. */
export function putMarkdown(element: HTMLElement, source: string, growing = false): void {
  const text = withoutEscapes(hasHidden(source) ? spelled(source) : source);
  if (growing && text.length > DEAR) {
    element.textContent = text;
    element.classList.add("plain");
    return;
  }
  element.classList.remove("plain");
  let html: string;
  try {
    html = marked.parse(text, { async: false });
  } catch {
    element.textContent = text;
    return;
  }
  element.innerHTML = DOMPurify.sanitize(html, KEPT) as unknown as string;
  levelHeadings(element);
  for (const block of element.querySelectorAll("pre")) addHead(block);
  for (const table of element.querySelectorAll("table")) scrollable(table);
}

/** Headings below that of the page, without a jump: the highest of the text becomes the second level. */
function levelHeadings(element: HTMLElement): void {
  const found = [...element.querySelectorAll<HTMLElement>("h1, h2, h3, h4, h5, h6")];
  const level = (it: HTMLElement) => Number(it.tagName[1]);
  const highest = Math.min(...found.map(level));
  let before = 1;
  for (const heading of found) {
    before = Math.min(2 + level(heading) - highest, before + 1, 6);
    const put = document.createElement(`h${before}`);
    put.append(...heading.childNodes);
    heading.replaceWith(put);
  }
}

/** The language of a code block and a button that copies it. */
function addHead(block: HTMLElement): void {
  const code = block.querySelector("code");
  const language = /language-([\w+-]+)/.exec(code?.className ?? "")?.[1] ?? "";
  const head = document.createElement("div");
  head.className = "codehead";
  const name = document.createElement("span");
  name.textContent = language;
  const copy = document.createElement("button");
  copy.type = "button";
  copy.className = "b bare small";
  copy.textContent = "Copy";
  copy.dataset["copy"] = "";
  head.append(name, copy);
  const frame = document.createElement("div");
  frame.className = "codeblock";
  block.replaceWith(frame);
  block.tabIndex = 0;
  block.setAttribute("role", "group");
  block.setAttribute("aria-label", language === "" ? "Code" : `Code, ${language}`);
  frame.append(head, block);
}

function scrollable(table: HTMLElement): void {
  const frame = document.createElement("div");
  frame.className = "tablebox";
  frame.tabIndex = 0;
  frame.setAttribute("role", "group");
  frame.setAttribute("aria-label", "Table");
  table.replaceWith(frame);
  frame.append(table);
}

/** Numbers in brackets at the end of a sentence are events of the journal: each becomes a button that opens it. */
export function citeEvents(element: HTMLElement): void {
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  const found: Text[] = [];
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (/ \[\d{1,12}\]/.test(node.nodeValue ?? "") && !node.parentElement?.closest("a, pre, code, button")) found.push(node as Text);
  }
  for (const node of found) {
    const parts = (node.nodeValue ?? "").split(/( \[\d{1,12}\])/).map((part) => {
      const event = /^ \[(\d{1,12})\]$/.exec(part)?.[1];
      if (event === undefined) return part;
      const button = document.createElement("button");
      button.type = "button";
      button.className = "ev";
      button.dataset["event"] = event;
      button.textContent = event;
      button.setAttribute("aria-label", `Event ${event}`);
      return button;
    });
    node.replaceWith(...parts.flatMap((it) => (typeof it === "string" ? [it] : [" ", it])));
  }
}
