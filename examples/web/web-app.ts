/**
 * Glovebox in a web application with its own users: they run programs, decide approvals and connect MCP clients. Copy
 * this file beside your own code and run it with `node web-app.ts`.
 *
 *     curl -H "Authorization: Bearer ada-token" -d 'return 6 * 7' http://127.0.0.1:PORT/run
 */

import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";

import { GloveboxError, createGlovebox, defineAdapter } from "glovebox";

/** A real application looks up its sessions. */
const USERS = new Map([
  ["Bearer ada-token", "ada"],
  ["Bearer bob-token", "bob"],
]);

const notes: string[] = ["first"];

const notebook = defineAdapter({
  name: "notebook",
  tools: {
    read: { description: "Returns all notes.", input: { type: "object" }, effect: "read", run: () => notes },
    clear: {
      description: "Deletes all notes.",
      input: { type: "object" },
      effect: "destroy",
      run: () => notes.splice(0).length,
    },
  },
});

const glovebox = await createGlovebox({
  adapters: [notebook],
  store: { url: "sqlite::memory:" },
  approvals: { separate: true, graceMs: 0 },
});

const mcp = glovebox.mcpHandler({ principal: ({ headers }) => USERS.get(headers.get("authorization") ?? "") });

/** Each line is one event; the last one has the result. */
async function streamRun(principal: string, code: string, response: ServerResponse): Promise<void> {
  response.writeHead(200, { "content-type": "application/jsonl" });
  for await (const event of glovebox.events({ code, principal })) response.write(`${JSON.stringify(event)}\n`);
  response.end();
}

async function answer(user: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const [, route, id = ""] = (request.url ?? "").split("/");
  const send = (value: unknown): void => void response.end(JSON.stringify(value));
  if (route === "run") return streamRun(user, await text(request), response);
  if (route === "approvals" && id === "") return send(await glovebox.approvals.list({ isPending: true }));
  if (route === "approvals") {
    const verdict = (await text(request)) === "approve" ? "approve" : "reject";
    return send(await glovebox.approvals.decide(id, { verdict, by: user }));
  }
  if (route === "results") return send(await glovebox.resume({ execution: id, principal: user }));
  response.writeHead(404).end();
}

const server = createServer((request, response) => {
  if (request.url === "/mcp") return mcp.node(request, response);
  const user = USERS.get(request.headers.authorization ?? "");
  if (user === undefined) return void response.writeHead(401).end();
  answer(user, request, response).catch((thrown: unknown) => {
    const code = thrown instanceof GloveboxError ? thrown.code : "INTERNAL_BUG";
    if (!response.headersSent) response.writeHead(400);
    response.end(JSON.stringify({ error: code }));
  });
});

server.listen(Number(process.argv[2] ?? 0), "127.0.0.1", () => {
  const address = server.address();
  console.log(`http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`);
});

for (const signal of ["SIGINT", "SIGTERM"]) {
  process.once(signal, () => {
    server.close();
    server.closeAllConnections();
    void glovebox.close();
  });
}
