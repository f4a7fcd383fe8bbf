/** What an event changed, in words. */
import type { Fields } from "../../api/types.ts";

const text = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value) ?? "");
const of = (value: unknown, ...names: string[]): unknown => {
  let found = value;
  for (const name of names) found = found !== null && typeof found === "object" ? (found as Fields)[name] : undefined;
  return found;
};
const cut = (value: unknown, most = 160): string => {
  const whole = text(value);
  return whole.length > most ? `${whole.slice(0, most - 1)}…` : whole;
};

/** What a test says, in words. */
function verdictSays(verdict: unknown): string {
  const [name, it] = Object.entries((verdict ?? {}) as Fields)[0] ?? ["", null];
  const figure = (value: unknown) => Number(Number(value ?? 0).toFixed(3));
  switch (name) {
    case "better": return `better by ${figure(of(it, "by"))}`;
    case "not-better": return "not better";
    case "worse": return `worse by ${Math.abs(figure(of(it, "by")))}`;
    case "too-few": return `too few episodes: ${text(of(it, "have"))} of ${text(of(it, "need"))}`;
    case "diverged": return `the outcome of ${Math.round(figure(of(it, "share")) * 100)} % of the episodes is not known`;
    case "worn-out": return "the held-out episodes were asked too often";
    default: return cut(verdict);
  }
}

/** A step of the gate in words. */
function gateSays(step: unknown): string {
  const [name, it] = typeof step === "string" ? [step, null] : Object.entries((step ?? {}) as Fields)[0] ?? ["", null];
  switch (name) {
    case "opened": return `proposal ${text(of(it, "id"))} is tested`;
    case "trialled": return `the test: ${verdictSays(it)}`;
    case "held-out": return `held-out episodes: ${verdictSays(it)}`;
    case "moved": return it === "approval" ? "it waits for a person" : it === "rate-limit" ? "it waits for further episodes" : `it goes on to ${text(it)}`;
    case "closed": {
      const [how, why] = typeof it === "string" ? [it, null] : Object.entries((it ?? {}) as Fields)[0] ?? ["", null];
      if (how === "failed") return "the episodes speak against it";
      if (how === "rejected") return `rejected by ${cut(of(why, "by"))}`;
      return how === "adopted" ? `adopted as version ${text(why)}` : how;
    }
    case "adopted": case "ordered": case "replaced": case "restored": return `version ${text(of(it, "number"))} is in force`;
    case "rolled-back": return `rolled back to version ${text(of(it, "version", "number"))}`;
    case "scored": return "the request counts for their tests";
    case "settled": return "the change has held";
    default: return cut(step);
  }
}

/** A change as a name and what became of it. */
export function changeSays(change: Fields): [name: string, says: string] {
  const kind = text(change["change"] ?? "");
  switch (kind) {
    case "born": return ["it", `began as ${cut(of(change, "identity", "name"))}`];
    case "law": return ["law", `became ${cut(change["hash"], 12)} (${cut(change["by"])}): ${cut(change["why"])}`];
    case "law-kept": return ["law", `stayed as it is: ${cut(change["why"])}`];
    case "law-proposed": return ["proposals", `+ proposal ${text(of(change, "proposed", "proposal") ?? "")}`];
    case "reflected": return ["it", "looked for changes of its law"];
    case "gate": return ["proposals", gateSays(change["step"])];
    case "opened": return ["requests", `+ ${cut(of(change, "turn", "heard", "text") ?? of(change, "turn", "text"))}`];
    case "stage": return ["request", `is ${cut(change["stage"])}`];
    case "found": return ["recalled", `${Array.isArray(change["found"]) ? change["found"].length : 0} records`];
    case "procedure": return ["request", `is done by the procedure ${cut(change["name"])}`];
    case "round": return ["thoughts", `+ one${Number(change["tokens"] ?? 0) > 0 ? `, ${Number(change["tokens"])} tokens` : ""}`];
    case "calling": return ["calls", `+ call ${text(change["call"])}, effect ${text(change["effect"])}`];
    case "outcome": return ["calls", `call ${text(change["call"])} ${of(change, "outcome", "failed") ? `failed: ${cut(of(change, "outcome", "failed"))}` : `gave ${cut(of(change, "outcome", "gave"))}`}`];
    case "questioned": return ["questions", `+ ${cut(of(change, "question", "question", "message") ?? of(change, "question"))}`];
    case "replied": return ["questions", change["answer"] === null || change["answer"] === undefined ? "one was withdrawn" : `answered by ${cut(change["by"])}`];
    case "concluded": return ["request", `will be answered: ${cut(of(change, "answer", "text"))}`];
    case "ended": return ["request", `ended: ${cut(of(change, "answer", "text"))}`];
    case "wished": return ["effects", `+ ${cut(of(change, "pending", "intent", "effect"))}`];
    case "given": return ["effects", `${text(change["effect"])} is given out`];
    case "settled": return ["effects", `− ${text(change["effect"])}`];
    case "asked": return ["approvals", `+ ${cut(of(change, "approval", "skill") ?? "a call")}`];
    case "decided": return ["approvals", `− ${text(change["approval"])}: ${cut(change["standing"])} by ${cut(change["by"])}`];
    case "granted": return ["grants", `+ ${cut(of(change, "grant", "skill") ?? change["grant"])}`];
    case "passed": return ["grants", `used for ${cut(change["skill"])}, agreed by ${cut(change["agreed"])}`];
    case "revoked": return ["grants", `− ${cut(change["grant"])} by ${cut(change["by"])}`];
    case "paused": return ["it", change["paused"] === true ? "stopped where it was" : "went on"];
    case "fault": return ["fault", change["problem"] ? cut(change["problem"]) : "over"];
    case "timed": return ["timers", `${cut(change["name"])} went off`];
    case "goals": return ["goals", cut(change["goals"])];
    case "able": return ["skills", `${Array.isArray(change["abilities"]) ? change["abilities"].length : 0} of them`];
    case "closed": return ["questions", "of the task are forgotten"];
    case "taken": return ["messages", "one was taken as an answer"];
    case "aside": return ["conversation", cut(of(change, "line", "text") ?? change["line"])];
    case "attended": return ["it", "heard something of others"];
    default: {
      const rest = Object.fromEntries(Object.entries(change).filter(([name]) => name !== "change"));
      return [kind || "change", cut(rest)];
    }
  }
}
