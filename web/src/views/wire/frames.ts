/** Calls on all wires: what of them is shown, how they are kept, and how one is made again by hand. */
import type { WireFrame } from "../../api/types.ts";

/** A call as the list has it. `key` is unique, also for those that were there before. */
export interface Call extends WireFrame {
  key: string;
}

/** The most calls that are kept here; the oldest go first. */
export const KEPT = 5_000;

const NAMES: Record<string, string> = {
  "a2a/jsonrpc": "A2A JSON-RPC", "a2a/rest": "A2A REST", "a2a/grpc": "A2A gRPC", "a2a/capnweb": "A2A Cap'n Web", "a2a/websocket": "A2A WebSocket",
  "mcp/http": "MCP", "mcp/sse": "MCP SSE", "mcp/stdio": "MCP stdio", acp: "ACP", api: "REST", chat: "Chat", workspace: "This page", http: "HTTP",
};
export const wireName = (wire: string): string => NAMES[wire] ?? wire;

/** Calls of the audit trail, which were there before this page looked. It comes as data, or as lines of it. */
export function past(given: unknown): Call[] {
  let records: unknown[] = [];
  if (typeof given === "string") {
    try {
      const whole = JSON.parse(given) as { records?: unknown[] } | unknown[];
      records = Array.isArray(whole) ? whole : (whole.records ?? [whole]);
    } catch {
      records = given.split("\n").filter(Boolean).flatMap((line) => {
        try {
          return [JSON.parse(line) as unknown];
        } catch {
          return [];
        }
      });
    }
  } else if (given !== null && typeof given === "object") records = (given as { records?: unknown[] }).records ?? [];
  return records.filter((it): it is Record<string, unknown> => it !== null && typeof it === "object").map((it, at) => ({
    number: 0,
    at: String(it["at"] ?? ""),
    wire: String(it["wire"] ?? ""),
    version: String(it["version"] ?? ""),
    operation: String(it["operation"] ?? ""),
    caller: String(it["caller"] ?? ""),
    outcome: String(it["outcome"] ?? ""),
    milliseconds: typeof it["micros"] === "number" ? it["micros"] / 1000 : Number(it["milliseconds"] ?? 0),
    request: String(it["request"] ?? ""),
    bytes: Number(it["bytes"] ?? 0),
    key: `before-${String(it["at"])}-${String(it["request"])}-${at}`,
  }));
}

/** What went wrong is shown as such; `ok` and an end that the caller wished are not. */
export const failed = (outcome: string): boolean => !["ok", "cancelled", ""].includes(outcome);

/** A text between single quotes for a shell, with nothing in it that a shell reads. */
const quoted = (text: string): string => `'${text.replace(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, "").replace(/'/g, `'\\''`)}'`;

const A2A_ROUTES: Record<string, [verb: string, path: string]> = {
  SendMessage: ["POST", "message:send"], SendStreamingMessage: ["POST", "message:stream"], GetTask: ["GET", "tasks/TASK"], ListTasks: ["GET", "tasks"],
  CancelTask: ["POST", "tasks/TASK:cancel"], SubscribeToTask: ["GET", "tasks/TASK:subscribe"], GetExtendedAgentCard: ["GET", "extendedAgentCard"],
};

/**
 * A command that makes the same kind of call again. Credentials and content are not in the frame, so they are not in the command
 * either: it takes the token from the environment. Null: the call cannot be made with curl.
 */
export function asCurl(call: WireFrame, base: string): string | null {
  const auth = `-H "Authorization: Bearer $TOKEN"`;
  const json = `-H 'Content-Type: application/json'`;
  const at = (path: string) => quoted(new URL(path, base).href.replace(/#.*/, ""));
  const spoken = /^(GET|POST|PUT|PATCH|DELETE|HEAD) (\/\S*)$/.exec(call.operation);
  if (spoken) {
    const body = spoken[1] === "GET" || spoken[1] === "DELETE" || spoken[1] === "HEAD" ? "" : ` ${json} -d '{}'`;
    return `curl -X ${spoken[1]} ${auth}${body} ${at(`.${spoken[2]}`)}`;
  }
  const method = call.operation.replace(/[^\w/.:-]/g, "");
  const version = call.version ? ` -H ${quoted(`A2A-Version: ${call.version}`)}` : "";
  if (call.wire === "a2a/rest") {
    const [verb, path] = A2A_ROUTES[method] ?? ["POST", method];
    return `curl -X ${verb} ${auth}${version}${verb === "GET" ? "" : ` ${json} -d '{}'`} ${at(`a2a/rest/${path}`)}`;
  }
  if (call.wire === "a2a/jsonrpc") return `curl -X POST ${auth}${version} ${json} -d ${quoted(JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: {} }))} ${at(".")}`;
  if (call.wire === "mcp/http") return `curl -X POST ${auth} ${json} -H 'Accept: application/json, text/event-stream' -d ${quoted(JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: {} }))} ${at("mcp")}`;
  return null;
}
