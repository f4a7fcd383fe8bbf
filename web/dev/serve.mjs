// Serves `dist` for development, with the content security policy of the server, and passes the door on to a running server.
//
//     node dev/serve.mjs http://127.0.0.1:8080 4400      # then open http://127.0.0.1:4400/
import { createReadStream, existsSync, readFileSync } from "node:fs";
import { createServer, request } from "node:http";
import { extname, join, normalize } from "node:path";

const server = new URL(process.argv[2] ?? "http://127.0.0.1:8080");
const port = Number(process.argv[3] ?? 4400);
const dist = join(import.meta.dirname, "..", "dist");
const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".json": "application/json" };
const POLICY = "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-fixed'; img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types monas dompurify";

const http = createServer((from, to) => {
  const path = normalize(new URL(from.url, "http://x").pathname);
  const file = join(dist, path === "/" ? "index.html" : path);
  if (!file.startsWith(dist) || !existsSync(file)) { to.writeHead(404).end(); return; }
  to.writeHead(200, { "content-type": TYPES[extname(file)] ?? "application/octet-stream", "content-security-policy": POLICY, "cache-control": "no-store" });
  if (path === "/") to.end(readFileSync(file, "utf8").replace('name="style-nonce" content=""', 'name="style-nonce" content="fixed"'));
  else createReadStream(file).pipe(to);
});
http.on("upgrade", (from, socket, head) => {
  const inner = request(new URL(from.url, server), { headers: { ...from.headers, host: server.host, origin: server.origin } });
  inner.on("upgrade", (reply, other) => {
    socket.write(`HTTP/1.1 101 Switching Protocols\r\n${Object.entries(reply.headers).map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n`);
    other.pipe(socket).pipe(other);
    other.on("error", () => socket.destroy());
    socket.on("error", () => other.destroy());
    socket.on("close", () => other.destroy());
    other.on("close", () => socket.destroy());
    if (head.length > 0) other.write(head);
  });
  inner.on("response", () => socket.destroy());
  inner.on("error", () => socket.destroy());
  inner.end();
});
http.listen(port, "127.0.0.1", () => console.log(`http://127.0.0.1:${port}/`));
