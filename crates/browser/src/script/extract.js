// Reads a page: its text as Markdown, its links, its tables, or the parts that a selector names.
(function (what, selector, most) {
  const skipped = new Set(["script", "style", "noscript", "template", "svg", "canvas", "head", "iframe", "object", "embed"]);
  const blocks = new Set(["address", "article", "aside", "blockquote", "dd", "details", "dialog", "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "header", "hr", "li", "main", "nav", "ol", "p", "section", "summary", "table", "ul", "pre"]);
  const shown = (it) => {
    if (it.getAttribute("aria-hidden") === "true" || it.hidden) return false;
    const style = getComputedStyle(it);
    return style.display !== "none" && style.visibility !== "hidden" && style.opacity !== "0";
  };
  const flat = (text) => text.replace(/\s+/g, " ");
  const address = (it) => { try { const url = new URL(it.getAttribute("href"), it.baseURI); return /^(https?|mailto|tel):/.test(url.protocol) ? url.href : ""; } catch { return ""; } };
  const kids = (it) => it.shadowRoot ? it.shadowRoot.childNodes : it.localName === "slot" && it.assignedNodes().length ? it.assignedNodes() : it.childNodes;
  let room = most;
  const cell = (it) => inline(it).trim().replace(/\|/g, "\\|").replace(/\n+/g, " ");
  const rows = (table) => [...table.rows].filter(shown).map((row) => [...row.cells].map(cell));
  const grid = (table) => {
    const all = rows(table);
    if (!all.length) return "";
    const width = Math.max(...all.map((it) => it.length));
    const line = (row) => "| " + Array.from({ length: width }, (_, at) => row[at] || "").join(" | ") + " |";
    return [line(all[0]), "|" + " --- |".repeat(width), ...all.slice(1).map(line)].join("\n");
  };
  // White space stays outside of the marks.
  const marked = (mark, text) => { const words = text.trim(); return words ? text.replace(words, () => mark + words + mark) : text; };
  const inline = (node) => { let text = ""; for (const it of kids(node)) text += walk(it, 0); return text; };
  const walk = (node, depth) => {
    if (room <= 0 || depth > 200) return "";
    if (node.nodeType === 3) { const text = flat(node.data); room -= text.trim().length; return text; }
    if (node.nodeType !== 1) return "";
    const tag = node.localName;
    if (skipped.has(tag) || !shown(node)) return "";
    const inside = () => { let text = ""; for (const it of kids(node)) text += walk(it, depth + 1); return text; };
    if (/^h[1-6]$/.test(tag)) { const text = inside().trim(); return text ? "\n\n" + "#".repeat(+tag[1]) + " " + flat(text) + "\n\n" : ""; }
    switch (tag) {
      case "br": return "\n";
      case "hr": return "\n\n---\n\n";
      case "img": return node.alt ? "![" + flat(node.alt) + "]" : "";
      case "pre": return "\n\n```\n" + node.innerText.replace(/\n$/, "") + "\n```\n\n";
      case "code": return "`" + node.innerText + "`";
      case "strong": case "b": return marked("**", inside());
      case "em": case "i": return marked("*", inside());
      case "a": { const text = inside(); const href = address(node); return href && text.trim() ? "[" + text.trim() + "](" + href + ")" : text; }
      case "table": return "\n\n" + grid(node) + "\n\n";
      case "li": {
        const parent = node.parentElement;
        const mark = parent && parent.localName === "ol" ? [...parent.children].indexOf(node) + 1 + ". " : "- ";
        return "\n" + mark + inside().trim().replace(/\n{2,}/g, "\n").replace(/\n/g, "\n  ");
      }
      case "ul": case "ol": return "\n" + inside() + "\n";
      case "blockquote": return "\n\n> " + inside().trim().replace(/\n/g, "\n> ") + "\n\n";
      case "input": case "textarea": case "select": {
        if (node.type === "hidden" || node.type === "password") return "";
        const value = tag === "select" ? [...node.selectedOptions].map((it) => it.label).join(", ") : /checkbox|radio/.test(node.type) ? (node.checked ? "[x] " : "[ ] ") : node.value;
        return value ? value + " " : "";
      }
      default: return blocks.has(tag) ? "\n" + inside() + "\n" : inside();
    }
  };
  const tidy = (text) => text.replace(/[ \t]+\n/g, "\n").replace(/\n[ \t]+(?=[^ \t\n-])/g, "\n").replace(/\n{3,}/g, "\n\n").trim();
  const find = (root, all) => {
    try { all.push(...root.querySelectorAll(selector)); } catch { return { invalid: true }; }
    for (const it of root.querySelectorAll("*")) if (it.shadowRoot) find(it.shadowRoot, all);
    return { all };
  };
  let roots;
  if (selector !== null) {
    const found = find(document, []);
    if (found.invalid) return { invalid: true };
    roots = found.all.slice(0, 200);
  } else {
    const mains = [...document.querySelectorAll("main, article, [role=main]")].filter((it) => shown(it) && it.innerText.length > 200);
    const main = what === "text" ? mains.find((it) => !mains.some((other) => other !== it && other.contains(it))) : null;
    roots = [main || document.body || document.documentElement];
  }
  const every = (name) => roots.flatMap((it) => {
    const all = it.matches(name) ? [it] : [];
    const deep = (root) => { all.push(...root.querySelectorAll(name)); for (const inner of root.querySelectorAll("*")) if (inner.shadowRoot) deep(inner.shadowRoot); };
    deep(it);
    return all;
  }).filter(shown);
  const answer = { title: document.title, url: location.href, count: roots.length };
  if (what === "links") answer.links = every("a[href]").map((it) => ({ text: flat(it.innerText || it.getAttribute("aria-label") || "").trim(), url: address(it) })).filter((it) => it.url).slice(0, 3000);
  else if (what === "tables") answer.tables = every("table").slice(0, 50).map((it) => ({ caption: it.caption ? flat(it.caption.innerText).trim() : "", rows: rows(it).slice(0, 1000) }));
  else answer.text = tidy(roots.map((it) => walk(it, 0)).join("\n\n"));
  answer.cut = room <= 0;
  return answer;
})
