// Called on a select: chooses the options with these labels or values.
function (wanted) {
  if (!this.isConnected) return { gone: true };
  if (this.localName !== "select") return { unfit: "it is no list to select from; click it and then one of its options" };
  if (this.disabled) return { unfit: "the list is disabled" };
  if (wanted.length > 1 && !this.multiple) return { unfit: "one option can be selected in it" };
  const options = [...this.options];
  const label = (it) => it.label.trim().replace(/\s+/g, " ");
  const chosen = [];
  for (const one of wanted) {
    const found = options.find((it) => label(it) === one) || options.find((it) => it.value === one) ||
      options.find((it) => label(it).toLowerCase() === one.toLowerCase());
    if (!found) return { unfit: "it has no option " + JSON.stringify(one) + "; it has " + options.slice(0, 30).map((it) => JSON.stringify(label(it))).join(", ") };
    if (found.disabled) return { unfit: "the option " + JSON.stringify(one) + " is disabled" };
    chosen.push(found);
  }
  this.focus();
  if (this.multiple) options.forEach((it) => { it.selected = chosen.includes(it); });
  else this.value = chosen[0].value, chosen[0].selected = true;
  this.dispatchEvent(new Event("input", { bubbles: true, composed: true }));
  this.dispatchEvent(new Event("change", { bubbles: true }));
  return { chosen: chosen.map(label) };
}
