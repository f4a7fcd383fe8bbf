// Called on an element: where a click on it lands, in the view of the topmost frame that may be asked, or the name of what
// lies over it there.
function (needsHit) {
  if (!this.isConnected) return { gone: true };
  const element = this.nodeType === 1 ? this : this.parentElement;
  const boxes = [...element.getClientRects()].filter((it) => it.width >= 1 && it.height >= 1);
  if (boxes.length === 0) return { hidden: true };
  const box = boxes[0];
  const view = element.ownerDocument.documentElement;
  const middle = (from, to, end) => (Math.max(from, 0) + Math.min(to, end)) / 2;
  let x = middle(box.left, box.right, view.clientWidth || innerWidth);
  let y = middle(box.top, box.bottom, view.clientHeight || innerHeight);
  const outside = x < 0 || y < 0 || x > innerWidth || y > innerHeight;
  if (outside) return { hidden: true };
  const top = (document, x, y) => {
    let hit = document.elementFromPoint(x, y);
    while (hit && hit.shadowRoot) {
      const inner = hit.shadowRoot.elementFromPoint(x, y);
      if (!inner || inner === hit) break;
      hit = inner;
    }
    return hit;
  };
  const within = (inner, outer) => {
    for (let at = inner; at; at = at.assignedSlot || at.parentNode || at.host) if (at === outer) return true;
    return false;
  };
  const named = (it) => {
    const text = (it.getAttribute("aria-label") || it.innerText || "").trim().replace(/\s+/g, " ").slice(0, 40);
    const id = it.id ? "#" + it.id : it.classList.length ? "." + it.classList[0] : "";
    return it.localName + id + (text ? ' "' + text + '"' : "");
  };
  const fits = (hit, wanted) =>
    within(hit, wanted) ||
    (within(wanted, hit) && hit !== wanted.ownerDocument.body && hit !== wanted.ownerDocument.documentElement && hit.localName === "label") ||
    (hit.closest && hit.closest("label") && hit.closest("label").control === wanted);
  let wanted = element;
  let inner = element.ownerDocument.defaultView;
  for (let depth = 0; depth < 20; depth++) {
    const hit = top(wanted.ownerDocument, x, y);
    if (needsHit && (!hit || !fits(hit, wanted))) return { covered: hit ? named(hit) : "nothing" };
    let frame = null;
    try { frame = inner.frameElement; } catch { /* a frame of another site */ }
    if (!frame) break;
    const at = frame.getBoundingClientRect();
    x += at.left + frame.clientLeft;
    y += at.top + frame.clientTop;
    wanted = frame;
    inner = frame.ownerDocument.defaultView;
  }
  return { x, y, topmost: inner === inner.top };
}
