/** A question in words: what the agent asks for, and how it was answered. */
import { displayName, myName } from "../../state/app.ts";
import type { Asked, Decision } from "../../state/conversation.ts";
import { firstLine } from "../../text.ts";

const code = (value: unknown) => `\`${String(value).replaceAll("`", "ˋ")}\``;

/** The title of a question; `this` is code in it. */
export function titleOf(asked: Asked): string {
  const { skill, input } = asked;
  const path = input["path"] === undefined ? "" : code(String(input["path"]).replace(/^\/project\//, ""));
  switch (skill) {
    case "file-write":
      return asked.operation === "create" ? `May I create ${path}?` : `May I change ${path}?`;
    case "file-edit":
      return `May I change ${path}?`;
    case "file-delete":
      return `May I delete ${path}?`;
    case "file-move":
      return `May I move ${code(input["from"])} to ${code(input["to"])}?`;
    case "terminal-run":
      return `May I run ${code(firstLine(String(input["command"] ?? ""), 60))}?`;
    case "undo":
      return "May I take back a change?";
    case "question":
      return asked.question ?? "A question";
    default:
      return asked.question ?? `May I call ${code(skill)}?`;
  }
}

/** What kind of question it is, in a word. */
export function kindOf(asked: Asked): string {
  if (asked.question !== undefined) return "question";
  if (asked.skill === "terminal-run") return "command";
  return asked.skill.startsWith("file-") || asked.skill === "undo" ? "change" : "call";
}

/** How it was answered, and by which person. */
export function decisionWords(decision: Decision, asked: Asked): string {
  const edited = decisionKinds.get(asked.id);
  switch (decision.decision) {
    case "approve":
      return edited === "edited" ? "Approved as edited" : edited === "part" ? "Approved in part" : "Approved";
    case "reject":
      return decision.reason && decision.reason !== "it was not approved" ? `Rejected: “${decision.reason}”` : "Rejected";
    case "expired":
      return "Not answered in time, so it counts as rejected";
    case "answered":
      return `Answered: “${decision.answer ?? ""}”`;
    case "withdrawn":
      return "Taken back: the request has ended";
    default:
      return "Answered";
  }
}

/** What this page sent for a question, so that the card can say more than yes. */
export const decisionKinds = new Map<string, "edited" | "part">();

/** `by you`, `by bob`. */
export function byWhom(by: string): string {
  const name = displayName(by);
  return name === "" ? "" : name === myName.peek() ? "by you" : `by ${name}`;
}
