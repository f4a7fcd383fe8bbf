/** Takes back the last thing: what a notice offers, else the last change of a file by an agent. */
import { refusal } from "../api/refusal.ts";
import { change, may, read } from "../state/app.ts";
import { agent } from "../state/route.ts";
import { spelled } from "../text.ts";
import { notice, notify } from "../ui/say.ts";

const short = (path: string): string => spelled(path.replace(/^\/project\//, ""));

async function takeBack(id: string): Promise<void> {
  const undone = await change("postFilesUndo", { agent: agent.peek(), change: id });
  notify(`Taken back: ${short(undone.path)} is as it was.`, "Do it again", () => void takeBack(undone.id).catch(told));
}

const told = (error: unknown): void => notify(`Not taken back: ${refusal(error).message}`);

export async function undoLast(): Promise<void> {
  const offered = notice.peek()?.action;
  if (offered) {
    notice.value = null;
    offered.run();
    return;
  }
  try {
    const last = may("write_files") ? (await read("getFilesChanges", { agent: agent.peek(), limit: 1 })).changes[0] : undefined;
    if (last) await takeBack(last.id);
    else notify("There is nothing to take back.");
  } catch (error) {
    told(error);
  }
}
