/** Tools over the admin API as a model finds them, and programs that a person runs in the playground. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

import { OPERATOR } from "../../identity/index.ts";
import { parsePrincipalId } from "../../domain/index.ts";
import { EXECUTION } from "../mcp/fixtures/memory-gateway.ts";
import { ERAS, connectClient } from "../mcp/fixtures/try-client.ts";
import {
  MAX_PROGRAM_BYTES,
  declarationsSchema,
  programPlanSchema,
  startedSchema,
  toolsSchema,
} from "./contract/tools.ts";
import { SESSION, startApp } from "./fixtures/start-app.ts";

const headers = SESSION;

test("the tools API answers a query with the text that a model reads for it", async (t) => {
  const { send, listener } = await startApp(t);
  const answer = toolsSchema.parse(JSON.parse((await send("/api/tools?query=create", { headers })).body));
  const [era] = ERAS;
  const client = await connectClient(new StreamableHTTPClientTransport(new URL(`${listener.url}/mcp`)), era);
  const { content } = await client.callTool({ name: "search", arguments: { query: "create" } });
  await client.close();
  assert.deepEqual(content, [{ type: "text", text: answer.text }]);
  assert.equal(answer.tokens, Math.ceil(answer.text.length / 4));
  const declared = await send("/api/tools/declarations?names=github.listIssues,github.createIssue", { headers });
  assert.match(declarationsSchema.parse(JSON.parse(declared.body)).declarations, /github\.createIssue/);
  assert.equal((await send("/api/tools/declarations?names=", { headers })).status, 400);
});

test("an operator plans and runs a program, which starts in a session of its own", async (t) => {
  const { send, gateway, identity, listener } = await startApp(t);
  const post = (path: string, body: object, by: Record<string, string> = headers) =>
    send(`/api/playground/${path}`, { method: "POST", headers: by, body: JSON.stringify(body) });
  await identity.people.add("rea", ["reviewer"], OPERATOR);
  const id = parsePrincipalId("person:rea");
  assert.ok(id);
  const { secret } = await identity.sessions.open({ id, kind: "person", groups: [], roles: ["reviewer"] }, "test");
  const port = new URL(listener.url).port;
  const reviewer = { cookie: `glovebox-${port}=${secret}`, origin: listener.url };
  assert.deepEqual(
    [(await post("plan", { code: "1" }, reviewer)).status, (await post("run", { code: "1" }, reviewer)).status],
    [403, 403],
  );
  assert.equal((await post("run", { code: "1", dryrun: true })).status, 400);
  assert.equal(gateway.requests.length, 0);
  assert.equal(programPlanSchema.parse(JSON.parse((await post("plan", { code: "1" })).body)).ok, true);
  for (const dryRun of [true, false]) {
    const started = startedSchema.parse(JSON.parse((await post("run", { code: "return 1", dryRun })).body));
    assert.equal(started.execution, EXECUTION);
  }
  const [first, second] = gateway.requests;
  assert.deepEqual([first?.dryRun, second?.dryRun, first?.source], [true, false, "return 1"]);
  assert.equal(first?.principal.id, "operator");
  assert.ok(first?.principal.session !== undefined && first.principal.session !== second?.principal.session);
});

test("the playground takes a program up to its limit and refuses a larger one", async (t) => {
  const { send } = await startApp(t);
  const empty = JSON.stringify({ code: "" }).length;
  const run = async (bytes: number): Promise<number> => {
    const body = JSON.stringify({ code: "x".repeat(bytes - empty) });
    return (await send("/api/playground/run", { method: "POST", headers, body })).status;
  };
  assert.deepEqual(await Promise.all([-1, 0, 1].map((more) => run(MAX_PROGRAM_BYTES + more))), [200, 200, 422]);
});
