// A link to one conversation: it shows that one and nothing else, allows what was chosen, and ends when it is taken back.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { ask, Monas, openPage, startBrowser, until } from "./harness.mjs";

let browser;
before(async () => { browser = await startBrowser(); });

/** A closed server with two conversations, the second of which waits for a yes. */
async function withConversations() {
  const monas = await Monas.start({ open: false });
  const token = monas.command("token", "--user", "ada", "--role", "admin");
  const { page, trouble } = await openPage(browser, `${monas.page}#token=${token}`);
  await ask(page, "remember that the safe is green");
  await page.locator(".prose").getByText("I will remember").waitFor();
  const other = new URL(page.url()).hash.split("/").pop();
  await page.getByRole("button", { name: "New conversation" }).click();
  await page.getByRole("heading", { name: "Monas is awake." }).waitFor();
  await ask(page, "create notes.md with hello");
  await page.getByRole("group", { name: /May I create/ }).waitFor();
  const session = new URL(page.url()).hash.split("/").pop();
  /** Makes a link in the page; gives its token and opens it in a new window. */
  const share = async (choice) => {
    await page.getByRole("button", { name: "Share this conversation" }).click();
    const dialog = page.getByRole("dialog", { name: "Share" });
    await dialog.getByLabel(choice).check();
    await dialog.getByRole("button", { name: "Make the link" }).click();
    const link = await dialog.getByLabel("Link", { exact: true }).inputValue();
    await dialog.getByRole("button", { name: "Done" }).click();
    const lent = decodeURIComponent(/#token=([^&]+)/.exec(link)[1]);
    const theirs = await openPage(browser, new URL(new URL(link).hash, monas.page).href);
    await theirs.page.getByRole("group", { name: /May I create/ }).waitFor();
    return { lent, theirs };
  };
  return { monas, token, page, trouble, session, other, share };
}

test("to look: one conversation and nothing else, and it closes when the link is taken back", async () => {
  const it = await withConversations();
  const { lent, theirs } = await it.share("look, and change nothing");
  await theirs.page.getByText("You may look at this conversation, not write in it.").waitFor();
  assert.equal(await theirs.page.locator("[data-composer]").count(), 0);
  assert.equal(await theirs.page.getByRole("button", { name: "Approve" }).count(), 0);
  // Whatever the address says, it leads back to the conversation.
  await theirs.page.goto(`${it.monas.page}#/memory`);
  await until(() => theirs.page.url().endsWith(`#/chat/${it.session}`), "the way back");
  const asked = (verb, path, body) => it.monas.api(verb, path, body, lent);
  assert.equal((await asked("GET", `/api/sessions/${it.session}/messages`)).status, 200);
  assert.deepEqual((await asked("GET", "/api/sessions")).value.sessions.map((one) => one.session_id), [it.session]);
  for (const path of [`/api/sessions/${it.other}`, `/api/sessions/${it.other}/messages`, "/api/journal", "/api/memory/audit", "/api/memory/export", "/api/files/tree", "/api/search?query=safe", "/api/tasks", "/api/capabilities", "/api/agent/status", "/a2a/rest/tasks"]) {
    const { status } = await asked("GET", path);
    assert.ok(status === 403 || status === 401 || path.startsWith("/a2a"), `${path}: ${status}`);
  }
  const { value } = await it.monas.api("GET", "/api/approvals", undefined, it.token);
  const answer = { decision: "approve" };
  assert.equal((await asked("POST", `/api/approvals/${value.approvals[0].id}`, answer)).status, 403);
  assert.equal((await asked("POST", "/api/agent/command", { command: "hello", session_id: it.session })).status, 403);
  assert.equal((await asked("POST", "/api/capabilities", {})).status, 403);
  await it.page.getByRole("button", { name: "Share this conversation" }).click();
  const dialog = it.page.getByRole("dialog", { name: "Share" });
  await dialog.getByText("may look").waitFor();
  await dialog.getByRole("button", { name: "End it" }).click();
  await until(async () => (await asked("GET", `/api/sessions/${it.session}`)).status === 401, "the end of the link");
  await theirs.page.getByRole("group", { name: /May I create/ }).waitFor({ state: "detached" });
  assert.deepEqual(await theirs.trouble(), []);
  assert.deepEqual(await it.trouble(), []);
});

test("to take part: its holder answers and writes there, and in no other conversation", async () => {
  const it = await withConversations();
  const { lent, theirs } = await it.share(/take part/);
  await theirs.page.getByRole("button", { name: "Approve" }).click();
  await theirs.page.locator(".prose").getByText("created, 5 bytes").waitFor();
  assert.equal(it.monas.file("notes.md"), "hello");
  await ask(theirs.page, "remember that the boat is blue");
  for (const { page } of [theirs, it]) await page.locator(".prose").getByText("the boat is blue").last().waitFor();
  const sent = await it.monas.api("POST", "/api/agent/command", { command: "hello", session_id: it.other }, lent);
  assert.equal(sent.status, 403, JSON.stringify(sent.value));
  assert.equal((await it.monas.api("GET", "/api/files/tree", undefined, lent)).status, 403);
  assert.deepEqual(await theirs.trouble(), []);
});
