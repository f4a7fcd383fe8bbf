// Draws numbered boxes over elements, with labels outside of small boxes. Without boxes it removes them.
(function (boxes, whole) {
  const name = "monas-marks";
  document.querySelectorAll(name).forEach((it) => it.remove());
  if (!boxes.length) return 0;
  const host = document.createElement(name);
  const set = (it, styles) => { for (const [key, value] of Object.entries(styles)) it.style.setProperty(key, value, "important"); };
  set(host, { position: "absolute", left: "0", top: "0", width: "0", height: "0", "z-index": "2147483647", "pointer-events": "none", display: "block" });
  const root = host.attachShadow({ mode: "closed" });
  const colours = ["#b00020", "#0b57d0", "#136c2e", "#7b1fa2", "#8a4b00", "#00687a"];
  const placed = [];
  const overlaps = (a, b) => a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;
  const solid = boxes.map((it) => ({ x: it.x, y: it.y, w: it.width, h: it.height }));
  for (const box of boxes) {
    const colour = colours[box.index % colours.length];
    const frame = document.createElement("div");
    set(frame, { position: "absolute", left: box.x - 1 + scrollX + "px", top: box.y - 1 + scrollY + "px", width: box.width + 2 + "px", height: box.height + 2 + "px", border: "2px solid " + colour, "box-sizing": "border-box", "border-radius": "2px" });
    root.append(frame);
    const text = String(box.index);
    const w = 7 * text.length + 6, h = 14;
    const right = box.x + box.width, bottom = box.y + box.height;
    const outside = [
      { x: box.x - 1, y: box.y - h - 1 }, { x: right - w + 1, y: box.y - h - 1 }, { x: right + 1, y: box.y + (box.height - h) / 2 },
      { x: box.x - w - 1, y: box.y + (box.height - h) / 2 }, { x: box.x - 1, y: bottom + 1 }, { x: right - w + 1, y: bottom + 1 },
    ];
    const inside = [{ x: right - w - 1, y: box.y + 1 }, { x: box.x + 1, y: box.y + 1 }];
    const large = box.width > 3 * w + 60 && box.height > 3 * h;
    const fits = (at) => whole ? at.x + scrollX >= 0 && at.y + scrollY >= 0 : at.x >= 0 && at.y >= 0 && at.x + w <= innerWidth && at.y + h <= innerHeight;
    const free = (at) => !placed.some((it) => overlaps(it, { ...at, w, h }));
    const clear = (at) => !solid.some((it, number) => boxes[number] !== box && it.w * it.h < 40000 && overlaps(it, { ...at, w, h }));
    const all = (large ? [...inside, ...outside] : outside).filter(fits);
    const at = all.find((it) => free(it) && clear(it)) || all.find(free) || all[0] || { x: Math.max(0, Math.min(box.x, innerWidth - w)), y: Math.max(0, box.y - h) };
    placed.push({ ...at, w, h });
    const label = document.createElement("div");
    label.textContent = text;
    set(label, { position: "absolute", left: at.x + scrollX + "px", top: at.y + scrollY + "px", width: w + "px", height: h + "px", background: colour, color: "#fff", font: "bold 11px/14px monospace", "text-align": "center", "border-radius": "2px" });
    root.append(label);
  }
  document.documentElement.append(host);
  return placed.length;
})
