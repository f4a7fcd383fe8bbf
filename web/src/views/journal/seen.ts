/** Messages that a model was shown, as a role and a text, in each form that a server may write them. */
import type { Fields } from "../../api/types.ts";

const ROLES: Record<string, string> = { user: "The caller", quoted: "Quoted", model: "The model", assistant: "The model", result: "Result of a call", tool: "Result of a call", system: "Instructions" };

const text = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value, null, 2) ?? "");

/** Parts of a content, or a text, as one text. */
function content(value: unknown): string {
  if (Array.isArray(value)) return value.map((it) => (typeof it === "object" && it !== null && typeof (it as Fields)["text"] === "string" ? (it as Fields)["text"] : text(it))).join("\n");
  return text(value);
}

/** The role of a message in words, and its text. */
export function messageSays(message: Fields): [role: string, says: string] {
  const role = message["role"];
  if (typeof role === "string") {
    const { role: _, content: said, ...rest } = message;
    const more = Object.keys(rest).length > 0 ? text(rest) : "";
    return [ROLES[role.toLowerCase()] ?? role, [said === undefined || said === null ? "" : content(said), more].filter(Boolean).join("\n")];
  }
  const [name, value] = Object.entries(message)[0] ?? ["message", ""];
  const title = ROLES[name.toLowerCase()] ?? name;
  if (value !== null && typeof value === "object" && typeof (value as Fields)["text"] === "string") {
    const { text: said, title: of, ...rest } = value as Fields;
    const kept = Object.fromEntries(Object.entries(rest).filter(([, it]) => it !== null && it !== "" && !(Array.isArray(it) && it.length === 0)));
    return [typeof of === "string" ? `${title}: ${of}` : title, [said, Object.keys(kept).length > 0 ? text(kept) : ""].filter(Boolean).join("\n")];
  }
  return [title, content(value)];
}

/** A plan in a sentence: what is to be done, and how far each step is. */
export function planSays(plan: Fields): string {
  const steps = Array.isArray(plan["steps"]) ? plan["steps"].map((it: Fields) => `${text(it["skill"])} (${text(it["state"])})`) : [];
  return `${text(plan["goal"] ?? plan)}${steps.length > 0 ? `: ${steps.join(", ")}` : ""}`;
}
