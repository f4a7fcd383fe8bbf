// Whether a text or a selector is on the page.
(function (text, selector) {
  const shown = (it) => { const box = it.getBoundingClientRect(); return box.width > 0 && box.height > 0 && getComputedStyle(it).visibility !== "hidden"; };
  const find = (root) => {
    for (const it of root.querySelectorAll(selector)) if (shown(it)) return true;
    for (const it of root.querySelectorAll("*")) if (it.shadowRoot && find(it.shadowRoot)) return true;
    return false;
  };
  if (selector !== null) return find(document);
  const words = (it) => it.replace(/\s+/g, " ").toLowerCase();
  const wanted = words(text);
  const holds = (root) => {
    if (words(root.innerText || root.textContent || "").includes(wanted)) return true;
    for (const it of root.querySelectorAll("*")) if (it.shadowRoot && [...it.shadowRoot.children].some((part) => words(part.innerText || "").includes(wanted) || holds(part))) return true;
    return false;
  };
  return document.body ? holds(document.body) : false;
})
