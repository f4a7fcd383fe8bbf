// Drives an agent under test through the client, over connections that are cut at random. The program must exit by itself:
// if it does not, the client left a timer or a socket open.

import { A2AClient, A2AError, cursorOf, DiscoveryError, isTerminal } from "@monas/capnweb-client/a2a";
import type { StreamResponse, Task } from "@monas/capnweb-client/a2a";
import { argument, assertEqual, fails } from "./support.js";

const at = argument(0);
const impatient = { firstWait: 1, longestWait: 10 };

/** The kind of an event. */
function kindOf(event: StreamResponse): string {
  return event.statusUpdate?.status.state ?? event.artifactUpdate?.artifact.parts[0]?.text ?? Object.keys(event)[0]!;
}

/** The task in a reply. */
function taskOf({ task }: { task?: Task }): Task {
  if (task === undefined) throw new Error("the answer is no task");
  return task;
}

async function test(name: string, run: () => Promise<void>): Promise<void> {
  try {
    await run();
  } catch (error) {
    throw new Error(`${name}: ${error}`, { cause: error });
  }
  console.log(`ok ${name}`);
}

const sockets: WebSocket[] = [];
const client = await A2AClient.connect(at, {
  ...impatient,
  webSocket(url) {
    const socket = new WebSocket(url);
    sockets.push(socket);
    return socket;
  },
});
const batch = await A2AClient.connect(`${at}/.well-known/agent-card.json`, { transport: "batch" });
const cut = () => sockets.at(-1)!.close();

for (const [name, agent] of Object.entries({ client, batch })) {
  await test(`${name}: a message is answered`, async () => {
    const { message } = await agent.sendMessage("echo hello");
    assertEqual(message?.role, "ROLE_AGENT");
  });

  await test(`${name}: tasks are got and listed`, async () => {
    const sent = taskOf(await agent.sendMessage("task hello", { configuration: { historyLength: 1 } }));
    assertEqual(sent.status.state, "TASK_STATE_COMPLETED");
    assertEqual((await agent.getTask(sent.id)).history?.length, 1);
    assertEqual((await agent.getTask(sent.id, 0)).history, undefined);
    assertEqual((await agent.getTask(sent.id, { historyLength: 0 })).history, undefined);
    const { tasks } = await agent.listTasks({ contextId: sent.contextId!, pageSize: 5 });
    assertEqual(tasks?.map((task) => task.id), [sent.id]);
  });

  await test(`${name}: bytes are bytes`, async () => {
    const file = { raw: new Uint8Array([1, 2, 3]), filename: "a.bin", mediaType: "text/plain" };
    const task = taskOf(await agent.sendMessage({ parts: [{ text: "task hello" }, file] }));
    assertEqual(task.history?.[0]?.parts[1]?.raw, "AQID");
  });

  await test(`${name}: errors have code, reason and details`, async () => {
    const error = await fails(agent.getTask("nothing"));
    if (!(error instanceof A2AError)) throw error;
    assertEqual(error.code, -32001);
    assertEqual(error.reason, "TASK_NOT_FOUND");
    assertEqual(error.details[0]?.["domain"], "a2a-protocol.org");
  });

  await test(`${name}: webhooks are kept`, async () => {
    const task = taskOf(await agent.sendMessage("burst 2 1s", { configuration: { returnImmediately: true } }));
    const url = "https://example.org/hook";
    const config = await agent.createPushConfig({ taskId: task.id, url, id: "mine" });
    assertEqual(config.url, url);
    assertEqual((await agent.getPushConfig(task.id, "mine")).url, url);
    assertEqual((await agent.listPushConfigs(task.id)).configs?.length, 1);
    await agent.deletePushConfig(task.id, "mine");
    assertEqual((await agent.listPushConfigs(task.id)).configs?.length ?? 0, 0);
    assertEqual((await agent.cancelTask(task.id)).status.state, "TASK_STATE_CANCELED");
  });

  await test(`${name}: cards are there, for everyone and for friends`, async () => {
    assertEqual((await agent.getAgentCard()).name, agent.card.name);
    const { skills } = await agent.getExtendedAgentCard();
    if (skills.length <= agent.card.skills.length) throw new Error("the extended card has no more skills");
  });
}

await test("a stream has each event", async () => {
  const kinds: string[] = [];
  for await (const event of client.sendMessageStream("burst 2")) kinds.push(kindOf(event));
  assertEqual(kinds, ["task", "TASK_STATE_WORKING", "c0 ", "c1 ", "TASK_STATE_COMPLETED"]);
});

await test("an answer without a task is a stream of one", async () => {
  const kinds: string[] = [];
  for await (const event of client.sendMessageStream("echo hello")) kinds.push(kindOf(event));
  assertEqual(kinds, ["message"]);
});

await test("a stream that is cut again and again has each event once", async () => {
  const before = sockets.length;
  const generations: string[] = [];
  let chunks = 0;
  let last = "";
  for await (const event of client.sendMessageStream("burst 40 5ms")) {
    generations.push(cursorOf(event)!);
    last = kindOf(event);
    if (event.artifactUpdate && ++chunks % 7 === 0) cut();
  }
  assertEqual(chunks, 40);
  assertEqual(generations, generations.map((_, index) => `${index + 1}`));
  assertEqual(last, "TASK_STATE_COMPLETED");
  if (sockets.length < before + 5) throw new Error("the connection was not lost");
});

await test("a message whose answer was lost is sent once", async () => {
  const contextId = crypto.randomUUID();
  const sending = client.sendMessage({ contextId, parts: [{ text: "burst 3 50ms" }] });
  while ((await batch.listTasks({ contextId })).tasks?.length !== 1) await new Promise((go) => setTimeout(go, 5));
  cut();
  const task = taskOf(await sending);
  assertEqual(task.status.state, "TASK_STATE_COMPLETED");
  assertEqual((await client.listTasks({ contextId })).tasks?.length, 1);
});

await test("one who left a stream leaves the task, and can come back", async () => {
  const heard: StreamResponse[] = [];
  for await (const event of client.sendMessageStream("burst 20 5ms")) {
    heard.push(event);
    if (event.artifactUpdate) break;
  }
  const { id } = heard[0]!.task!;
  for await (const event of client.subscribe(id, { cursor: cursorOf(heard.at(-1)!)! })) heard.push(event);
  assertEqual(heard.map((event) => cursorOf(event)), heard.map((_, index) => `${index + 1}`));
  assertEqual(isTerminal((await client.getTask(id)).status.state), true);
});

await test("callbacks hear each event once, whatever becomes of the connection", async () => {
  const heard: string[] = [];
  const following = await client.sendMessageStreaming(
    "burst 10 5ms",
    ({ status }) => void heard.push(status.state),
    ({ artifact }) => {
      heard.push(artifact.parts[0]!.text!);
      if (heard.length % 4 === 0) cut();
    },
  );
  await following.done;
  const chunks = Array.from({ length: 10 }, (_, index) => `c${index} `);
  assertEqual(heard, ["TASK_STATE_WORKING", ...chunks, "TASK_STATE_COMPLETED"]);
  assertEqual((await client.getTask(following.task!.id)).status.state, "TASK_STATE_COMPLETED");
});

await test("a task is followed by whoever has its id, until they have heard enough", async () => {
  const task = taskOf(await client.sendMessage("burst 50 20ms", { configuration: { returnImmediately: true } }));
  let stop: () => void;
  const enough = new Promise<void>((resolve) => (stop = resolve));
  const following = await client.subscribeToPushNotifications(
    task.id,
    () => {},
    () => stop(),
  );
  await enough;
  following.close();
  await following.done;
  assertEqual((await client.cancelTask(task.id)).status.state, "TASK_STATE_CANCELED");
  assertEqual((await client.cancelTask(task.id)).status.state, "TASK_STATE_CANCELED");
  const ended = taskOf(await client.sendMessage("task hello"));
  const error = await fails(client.cancelTask(ended.id));
  assertEqual((error as A2AError).reason, "TASK_NOT_CANCELABLE");
});

await test("a stream over batches is refused", async () => {
  const error = await fails(batch.sendMessageStream("burst 2").next());
  assertEqual((error as A2AError).reason, "UNSUPPORTED_OPERATION");
});

await test("who has no card, or no Cap'n Web, is not found", async () => {
  for (const nothing of [`${at}/nothing.json`, "http://127.0.0.1:9"]) {
    if (!((await fails(A2AClient.connect(nothing))) instanceof DiscoveryError)) throw new Error("found");
  }
  const card = { ...client.card, supportedInterfaces: [] };
  const error = await fails(Promise.resolve().then(() => A2AClient.of(card)));
  assertEqual(error instanceof DiscoveryError, true);
});

await test("to authenticate where no scheme is configured is refused", async () => {
  for (const agent of [client, batch]) {
    const error = await fails(agent.authenticate("token-of-ada"));
    assertEqual((error as A2AError).reason, "UNSUPPORTED_OPERATION");
    assertEqual((await agent.getAgentCard()).name, client.card.name);
  }
});

// A server on which every call needs credentials.
const guarded = argument(1);
/** What the agent takes the caller for. */
async function name(agent: A2AClient): Promise<string> {
  const { message } = await agent.sendMessage("whoami");
  return message?.parts[0]?.text?.split(" ")[0] ?? "";
}

for (const transport of ["websocket", "batch"] as const) {
  await test(`${transport}: a client that was authenticated stays so`, async () => {
    const open: WebSocket[] = [];
    const agent = await A2AClient.connect(guarded, {
      ...impatient,
      transport,
      webSocket(url) {
        const socket = new WebSocket(url);
        open.push(socket);
        return socket;
      },
    });
    assertEqual(((await fails(name(agent))) as A2AError).reason, "UNAUTHENTICATED");
    assertEqual(((await fails(agent.authenticate("wrong"))) as A2AError).reason, "UNAUTHENTICATED");
    await agent.authenticate({ type: "bearer", token: "token-of-ada" });
    assertEqual(await name(agent), "ada");
    open.at(-1)?.close();
    assertEqual(await name(agent), "ada");
    // Another client for another caller leaves this one as it is.
    const bob = agent.authenticated({ type: "bearer", token: "token-of-bob" });
    assertEqual(await name(bob), "bob");
    bob.dispose();
    assertEqual(await name(agent), "ada");
    await agent.authenticate("token-of-bob");
    assertEqual(await name(agent), "bob");
    agent.dispose();
    assertEqual(((await fails(name(agent))) as { code?: unknown }).code, "not_connected");
  });
}

await test("a client is made with an address, as the document has it", async () => {
  for (const useWebSocket of [undefined, false, true]) {
    const agent = new A2AClient(`${guarded}/a2a/capnweb`, useWebSocket);
    await agent.authenticate({ type: "bearer", token: "token-of-ada" });
    assertEqual(await name(agent), "ada");
    agent.dispose();
  }
});

await test("a batch client that is disposed gives up what is under way", async () => {
  const agent = new A2AClient(`${at}/a2a/capnweb`);
  const slow = fails(agent.sendMessage("burst 100 100ms"));
  await new Promise((go) => setTimeout(go, 50));
  agent.dispose();
  assertEqual(((await slow) as { code?: unknown }).code, "not_connected");
});

await test("the id of what is followed is that of its task", async () => {
  const following = await client.sendMessageStreaming("burst 2", () => {}, () => {});
  assertEqual(following.id, following.task?.id);
  await following.done;
});

client.dispose();
batch.dispose();
assertEqual(((await fails(client.getAgentCard())) as { code?: unknown }).code, "not_connected");
console.log("all passed");
