import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const { sections, origins, changedLine, leaves, typedValue, valueAt } = await load("views/law/rules.ts");
const { rowsOf } = await load("views/journal/rows.ts");
const { filtersOf, kindsOf, lookOf } = await load("views/journal/kinds.ts");
const { changeSays } = await load("views/journal/changes.ts");
const { messageSays, planSays } = await load("views/journal/seen.ts");
const { exported, found } = await load("views/memory/records.ts");

const LAW = {
  frozen: { axioms: ["Never claim to be a person."], never: [], always_ask: [], tested_episodes: 200 },
  update: [{ on: "user", confidence: 0.6 }, { on: "tool", confidence: 0.5 }],
  memory: { rules: [{ condition: { min_confidence: 0.7 }, action: "promote-to-long-term" }], layers: { half_life: 1 } },
  attention: { recall: 6 },
};
const TEXT = "Axioms and safety (frozen: only an accepted manifest changes them)\n  - Never claim to be a person.\n  - a change is tested\nPerceptions\n  - input of user has confidence 0.6\n  - input of tool has confidence 0.5\nMemory\n  - a candidate becomes a belief\nLimits of the agent\n  - 6 memories\n";

test("each rule has its sentence, its place and its value", () => {
  const shown = sections(LAW, TEXT);
  const rules = shown.flatMap((it) => it.rules);
  assert.deepEqual(rules.map((it) => it.path), ["frozen.axioms[0]", "frozen", "update[0]", "update[1]", "memory.rules[0]", "memory.layers", "attention"]);
  assert.equal(rules[0].says, "Never claim to be a person.");
  assert.equal(rules[0].frozen, true);
  assert.equal(rules[3].says, "input of tool has confidence 0.5");
  assert.equal(rules[3].short, "0.5");
  assert.equal(rules[4].short, "0.7");
  assert.deepEqual(leaves("memory.rules[0]", rules[4].value), [["memory.rules[0].condition.min_confidence", 0.7], ["memory.rules[0].action", "promote-to-long-term"]]);
  assert.equal(valueAt(LAW, "memory.rules[0].condition.min_confidence"), 0.7);
});

test("an axiom with line breaks puts no sentence beside another rule", () => {
  const law = { ...LAW, frozen: { ...LAW.frozen, axioms: ["one\nPerceptions\n  - input of user has confidence 1"] } };
  const text = TEXT.replace("Never claim to be a person.", law.frozen.axioms[0]);
  for (const rule of sections(law, text).flatMap((it) => it.rules)) {
    if (rule.path === "update[0]") assert.ok(rule.says.includes("0.6") || rule.says.startsWith("{"), rule.says);
  }
});

test("a rule comes from the first version in a row that has it, wherever it stood", async () => {
  const before = structuredClone(LAW);
  before.update = [{ on: "tool", confidence: 0.5 }];
  const first = structuredClone(before);
  first.attention.recall = 2;
  const laws = [first, before, LAW];
  const from = await origins(async (version) => laws[version - 1], laws.map((_, at) => ({ version: at + 1 })), sections(LAW, TEXT));
  assert.equal(from.get("update[0]"), 3);
  assert.equal(from.get("update[1]"), 1);
  assert.equal(from.get("attention"), 2);
  assert.equal(from.get("frozen.axioms[0]"), 1);
});

test("lines of a diff and values that are typed are read", () => {
  assert.deepEqual(changedLine("attention.recall: 6 -> 2"), { place: "attention.recall", was: "6", now: "2" });
  assert.deepEqual(changedLine('update.2.on: -> "user"'), { place: "update.2.on", now: '"user"' });
  assert.deepEqual(changedLine('update.2.on: "user" ->'), { place: "update.2.on", was: '"user"' });
  assert.equal(typedValue(" 0.8 "), 0.8);
  assert.equal(typedValue("+= 0.1"), "+= 0.1");
  assert.equal(typedValue("ask"), "ask");
  assert.equal(typedValue("null"), null);
  assert.deepEqual(typedValue('{"skill": "terminal"}'), { skill: "terminal" });
});

const event = (number, kind, turn, data = {}) => ({ event: number, at: `2026-11-18T10:00:${String(number).padStart(2, "0")}Z`, kind, text: kind, data, ...(turn ? { turn } : {}) });

test("events stand below their request: the newest request first, in it as it happened", () => {
  const rows = rowsOf([event(1, "born"), event(2, "enabled"), event(3, "heard", "a", { text: "first" }), event(4, "heard", "b", { text: "second" }), event(5, "thought", "a"), event(6, "ticked")]);
  const said = rows.map((row) => ("head" in row ? row.head.title : row.record.event));
  assert.deepEqual(said, ["Between requests", 6, "second", 4, "first", 3, 5, "Between requests", 1, 2]);
});

test("50,000 events become rows, each once", () => {
  const events = Array.from({ length: 50_000 }, (_, at) => event(at + 1, at % 8 === 0 ? "heard" : "done", `t${Math.floor(at / 8)}`));
  const rows = rowsOf(events);
  assert.equal(rows.length, 50_000 + 6_250);
});

test("filters name the kinds that the server knows", () => {
  assert.deepEqual([...filtersOf("law,other,memory")], ["memory", "law"]);
  const kinds = kindsOf(filtersOf("law"));
  assert.ok(kinds.includes("proposed") && kinds.includes("rolled-back") && !kinds.includes("heard"));
  assert.deepEqual(kindsOf(new Set()), []);
  assert.equal(lookOf("something new").filter, "itself");
});

test("changes are said in words, and unknown ones as they are", () => {
  assert.deepEqual(changeSays({ change: "paused", paused: true }), ["it", "stopped where it was"]);
  assert.deepEqual(changeSays({ change: "law", hash: "0123456789abcdef", by: "ada", why: "safer" }), ["law", "became 0123456789a… (ada): safer"]);
  assert.deepEqual(changeSays({ change: "new", x: 1 }), ["new", '{"x":1}']);
});

test("a line of an export and a hit of a search are the same record", () => {
  const line = { id: "r1", text: "Ada likes tea.", type: "note", source: "user:ada", recorded: 5, standing: { kept: { layer: "belief", reason: { source: "user:ada", confidence: 0.9, context: "what?", why: "she said so" }, certainty: { uncertain: { against: "r2", because: "value" } }, support: [{ source: "user:ben", at: 7 }], from: ["r0"] } }, usage: { times: 2, last: 9, question: "tea?" } };
  const record = exported(JSON.stringify(line));
  assert.equal(record.layer, "belief");
  assert.deepEqual(record.doubt, { id: "r2", because: "value" });
  assert.equal(record.reason.why, "she said so");
  assert.equal(record.uses, 2);
  assert.equal(exported(JSON.stringify({ ...line, standing: "observed" })).layer, "observation");
  assert.equal(exported(JSON.stringify({ ...line, standing: { working: { until: 5 } } })).layer, "working");
  assert.equal(exported("no JSON"), undefined);
  const hit = found({ id: "r1", type: "note", content: "Ada likes tea.", layer: "belief", recorded_at: "2026-11-18T10:00:00Z", metadata: {}, uses: 2, reason: line.standing.kept.reason, explanation: [{ sign: "words", part: 0.5 }], score: 0.5 });
  assert.equal(hit.text, record.text);
  assert.deepEqual(hit.reason, record.reason);
  assert.deepEqual(hit.parts, [{ sign: "words", part: 0.5 }]);
});

test("what a model was shown is read in each form", () => {
  assert.deepEqual(messageSays({ role: "user", content: "hello" }), ["The caller", "hello"]);
  assert.deepEqual(messageSays({ User: "hello" }), ["The caller", "hello"]);
  assert.deepEqual(messageSays({ quoted: { title: "What I remember", text: "Ada likes tea." } }), ["Quoted: What I remember", "Ada likes tea."]);
  assert.deepEqual(messageSays({ model: { text: "I look.", calls: [] } }), ["The model", "I look."]);
  assert.deepEqual(messageSays({ role: "user", content: [{ type: "text", text: "a" }, { type: "text", text: "b" }] }), ["The caller", "a\nb"]);
  assert.equal(planSays({ goal: "release it", steps: [{ skill: "file-read", state: "done" }] }), "release it: file-read (done)");
});

test("a step of the gate is told in words", () => {
  const says = (step) => changeSays({ change: "gate", step })[1];
  assert.equal(says({ trialled: { diverged: { share: 0.25 } } }), "the test: the outcome of 25 % of the episodes is not known");
  assert.equal(says({ closed: { failed: { stage: "trial", verdict: { "not-better": { by: 0 } } } } }), "the episodes speak against it");
  assert.equal(says({ moved: "approval" }), "it waits for a person");
  assert.equal(says({ adopted: { number: 2, hash: "x" } }), "version 2 is in force");
  assert.equal(says("settled"), "the change has held");
  assert.equal(says({ scored: 1 }), "the request counts for their tests");
});
