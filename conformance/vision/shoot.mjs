// Makes the picture and the truth of each page: `truth/NAME.png`, and `truth/NAME.json` with the elements and words of the DOM.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const only = process.argv.slice(2);
mkdirSync(here("truth"), { recursive: true });
const browser = await chromium.launch({
  executablePath: process.env.MONAS_CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--font-render-hinting=none"],
});
try {
  for (const file of readdirSync(here("pages")).sort()) {
    const name = file.replace(/\.html$/, "");
    if (only.length > 0 && !only.includes(name)) continue;
    const [width, height] = readFileSync(here(`pages/${file}`), "utf8").match(/data-size="(\d+)x(\d+)"/).slice(1).map(Number);
    const page = await browser.newPage({ viewport: { width, height } });
    await page.goto(`file://${here(`pages/${file}`)}`);
    const truth = await page.evaluate(look);
    await page.screenshot({ path: here(`truth/${name}.png`) });
    writeFileSync(here(`truth/${name}.json`), `${JSON.stringify(truth, null, 1)}\n`);
    console.log(`${name}: ${truth.elements.length} elements, ${truth.words.length} words`);
    await page.close();
  }
} finally {
  await browser.close();
}

/** Runs in the page: what can be clicked or typed into and is in the picture, and each word with its box. */
function look() {
  const inPicture = (box) => box.width > 0 && box.height > 0 && box.left >= 0 && box.top >= 0
    && box.right <= innerWidth + 1 && box.bottom <= innerHeight + 1;
  const plain = (box) => ({ x: Math.round(box.left), y: Math.round(box.top), width: Math.round(box.width), height: Math.round(box.height) });
  const kindOf = (node) => {
    if (node.tagName === "A") return "link";
    if (node.tagName === "SELECT") return "select";
    if (node.tagName === "INPUT" && ["checkbox", "radio"].includes(node.type)) return node.type;
    return ["INPUT", "TEXTAREA"].includes(node.tagName) ? "input" : "button";
  };
  const textOf = (node) => {
    if (node.tagName === "SELECT") return node.selectedOptions[0].text;
    if (node.tagName === "INPUT" && node.type === "password" && node.value) return "";
    if (["INPUT", "TEXTAREA"].includes(node.tagName)) return ["checkbox", "radio"].includes(node.type) ? "" : node.value || node.placeholder;
    return node.innerText.trim();
  };
  const seen = (node, box) => {
    const top = document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);
    return top !== null && (node.contains(top) || top.contains(node));
  };
  const elements = [];
  for (const node of document.querySelectorAll("a[href], button, input:not([type=hidden]), select, textarea")) {
    const box = node.getBoundingClientRect();
    if (inPicture(box) && seen(node, box)) elements.push({ kind: kindOf(node), text: textOf(node), name: node.ariaLabel ?? undefined, box: plain(box) });
  }
  // Words in fields have no box of their own in the DOM; the scorer takes them from the fields.
  const words = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (["SCRIPT", "STYLE", "OPTION", "TEXTAREA"].includes(node.parentElement.tagName)) continue;
    const upper = getComputedStyle(node.parentElement).textTransform === "uppercase";
    for (const match of node.data.matchAll(/\S+/g)) {
      const range = document.createRange();
      range.setStart(node, match.index);
      range.setEnd(node, match.index + match[0].length);
      const box = range.getBoundingClientRect();
      if (inPicture(box)) words.push({ text: upper ? match[0].toUpperCase() : match[0], box: plain(box) });
    }
  }
  return { width: innerWidth, height: innerHeight, elements, words };
}
