// Called on an element: makes it ready to be typed into, and says what it is.
function (clear, value) {
  const element = this;
  if (!element.isConnected) return { gone: true };
  const tag = element.localName;
  const kind = tag === "input" ? (element.type || "text") : "";
  const own = ["date", "time", "datetime-local", "month", "week", "color", "range"];
  const texts = ["text", "search", "email", "url", "tel", "password", "number"];
  const password = kind === "password";
  const editable = element.isContentEditable;
  if (!(tag === "textarea" || editable || texts.includes(kind) || own.includes(kind)))
    return { unfit: "it is no field for text" };
  if (element.disabled) return { unfit: "the field is disabled" };
  if (element.readOnly) return { unfit: "the field is read-only" };
  if (value === null) return { password };
  element.focus();
  if (own.includes(kind)) {
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set.call(element, value);
    element.dispatchEvent(new Event("input", { bubbles: true, composed: true }));
    element.dispatchEvent(new Event("change", { bubbles: true }));
    return element.value === "" && value !== "" ? { unfit: "a field of type " + kind + " does not take this value" } : { done: true, password };
  }
  if (clear) {
    if (editable) getSelection().selectAllChildren(element);
    else element.select();
  } else if (editable) {
    getSelection().selectAllChildren(element);
    getSelection().collapseToEnd();
  } else if (kind !== "email" && kind !== "number") {
    element.setSelectionRange(element.value.length, element.value.length);
  }
  return { password, empty: !editable && element.value === "" };
}
