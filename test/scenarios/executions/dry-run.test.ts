/**
 * Dry runs through the whole product, with real servers: reads are made, nothing is changed, and the result lists what
 * would have been.
 */

import assert from "node:assert/strict";
import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join, resolve } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";

import { createGlovebox } from "glovebox";
import type { ExecutionResult, Glovebox, GloveboxConfig } from "glovebox";

import { ERAS } from "../../../src/surfaces/mcp/fixtures/try-client.ts";
import { passingStore } from "../../fixtures/passing-store.ts";
import { connect } from "../../fixtures/mcp-client.ts";
import {
  makeFolder,
  makeUntypedFolder,
  parseJsonLines,
  runGlovebox,
  serveFor,
  untilEnded,
} from "../../fixtures/product.ts";

const SERVERS = resolve("node_modules/@modelcontextprotocol");

function openFor(context: TestContext, config: GloveboxConfig): Promise<Glovebox> {
  const opened = createGlovebox({ store: passingStore(), analysis: { types: "off" }, ...config });
  context.after(async () => (await opened).close());
  return opened;
}

/** A graph in a separate file. */
function memoryIn(folder: string) {
  const file = join(folder, "memory.jsonl");
  const server = {
    command: process.execPath,
    args: [join(SERVERS, "server-memory/dist/index.js")],
    env: { MEMORY_FILE_PATH: file },
  };
  return { file, config: { mcpServers: { memory: server } } };
}

const GRAPH = `
const before = await memory.readGraph({});
const made = await memory.createEntities({ entities: [{ name: "Ada", entityType: "person", observations: ["likes tea"] }] });
const gone = await memory.deleteEntities({ entityNames: ["Bob"] });
const after = await memory.readGraph({});
return { before: before.entities.length, made: typeof made.entities[0].name, gone: typeof gone.message, after: after.entities.length };`;

test("a program that reads, writes and destroys changes nothing in a dry run, but does without", async (context) => {
  const { file, config } = memoryIn(makeFolder(context));
  writeFileSync(file, `${JSON.stringify({ type: "entity", name: "Bob", entityType: "person", observations: [] })}\n`);
  const kept = readFileSync(file, "utf8");
  const glovebox = await openFor(context, { ...config, policy: { profile: "open" } });
  const dry = await glovebox.execute({ code: GRAPH, dryRun: true });
  assert.deepEqual(dry.value, { before: 1, made: "string", gone: "string", after: 1 }, dry.error?.message);
  assert.deepEqual(
    dry.dryRun?.writes.map(({ seq, tool, decision }) => [seq, tool, decision]),
    [
      [2, "memory.createEntities", "allow"],
      [3, "memory.deleteEntities", "allow"],
    ],
  );
  assert.deepEqual(dry.dryRun?.writes[1]?.args, { entityNames: ["Bob"] });
  assert.equal(readFileSync(file, "utf8"), kept);
  const real = await glovebox.execute({ code: GRAPH });
  assert.deepEqual([real.value, real.dryRun], [{ before: 1, made: "string", gone: "string", after: 1 }, undefined]);
  assert.match(readFileSync(file, "utf8"), /Ada/);
  assert.doesNotMatch(readFileSync(file, "utf8"), /Bob/);
});

test("a dry run lists calls that need approval and refuses denied calls", async (context) => {
  const { file, config } = memoryIn(makeFolder(context));
  const rules = [{ decision: "deny" as const, tools: ["memory.createEntities"], reason: "no" }];
  const glovebox = await openFor(context, { ...config, policy: { profile: "strict", rules } });
  const code = `
    const asked = await memory.addObservations({ observations: [{ entityName: "a", contents: ["b"] }] });
    const denied = await memory.createEntities({ entities: [] }).catch((error) => error.code);
    return { asked: typeof asked, denied };`;
  const { value, dryRun, calls } = await glovebox.execute({ code, dryRun: true });
  assert.deepEqual(value, { asked: "object", denied: "POLICY_DENIED" });
  assert.deepEqual(
    dryRun?.writes.map(({ tool, decision }) => [tool, decision]),
    [["memory.addObservations", "ask"]],
  );
  assert.deepEqual(
    calls.map(({ decision, outcome, dryRun: isDry }) => [decision, outcome, isDry]),
    [
      ["ask", "ok", true],
      ["deny", "denied", undefined],
    ],
  );
  assert.equal(existsSync(file), false);
});

test("the command line prints what a dry run would have done, and the ledger marks it as a dry run", async (context) => {
  const files = makeFolder(context);
  writeFileSync(join(files, "a.txt"), "one");
  const server = { command: process.execPath, args: [join(SERVERS, "server-filesystem/dist/index.js"), files] };
  const folder = makeUntypedFolder(context, { mcpServers: { files: server }, policy: { profile: "open" } });
  const path = JSON.stringify(join(files, "b.txt"));
  const input = `const { content } = await files.readTextFile({ path: ${JSON.stringify(join(files, "a.txt"))} });
    await files.writeFile({ path: ${path}, content: content + " two" });
    return content;`;
  const dry = await runGlovebox(["run", "--dry-run"], { folder, input });
  assert.deepEqual([dry.code, dry.stdout], [0, "one\n"], dry.stderr);
  assert.match(dry.stderr, /dry run: skipped calls\n {2}2 files\.writeFile\(\{"path":.*"content":"one two"\}\)/);
  assert.deepEqual(readdirSync(files), ["a.txt"]);
  const json = await runGlovebox(["run", "--dry-run", "--json"], { folder, input: "return 1" });
  assert.deepEqual((JSON.parse(json.stdout) as ExecutionResult).dryRun, { writes: [] });
  const audit = await runGlovebox(["audit", "export"], { folder });
  const opened = parseJsonLines(audit.stdout).filter(({ action }) => action === "execution.opened");
  assert.deepEqual(
    opened.map(({ detail }) => (detail as { dryRun?: boolean }).dryRun),
    [true, true],
  );
  const real = await runGlovebox(["run"], { folder, input });
  assert.deepEqual([real.code, readFileSync(join(files, "b.txt"), "utf8")], [0, "one two"], real.stderr);
});

test("a client requests a dry run with execute, and its idempotency key is refused for a real run", async (context) => {
  const { file, config } = memoryIn(makeFolder(context));
  const { mcp } = await serveFor(context, makeUntypedFolder(context, { ...config, policy: { profile: "open" } }));
  const client = await connect(context, mcp, ERAS[0]);
  const ask = (more: object) => client.callTool({ name: "execute", arguments: { code: GRAPH, ...more } });
  const dry = await ask({ dryRun: true, idempotencyKey: "k" });
  const text = dry.content.map((block) => (block.type === "text" ? block.text : "")).join("");
  assert.match(text, /Dry run, these calls were not made:\nmemory\.createEntities\(\{"entities":/);
  const other = await ask({ idempotencyKey: "k" });
  assert.equal((other.structuredContent as { error: { code: string } }).error.code, "REQUEST_CONFLICT");
  assert.deepEqual((await ask({ dryRun: true, idempotencyKey: "k" })).structuredContent, dry.structuredContent);
  assert.equal(existsSync(file), false);
  await ask({});
  assert.equal(existsSync(file), true);
});

test("a dry run sends a GET fetch, does not send others, and refuses hosts that are not allowed", async (context) => {
  const seen: string[] = [];
  const server = createServer(({ method = "" }, response) => {
    seen.push(method);
    response.end("there");
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  context.after(() => server.close().closeAllConnections());
  const place = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const glovebox = await openFor(context, { sandbox: { networkPolicy: { mode: "allowed", grants: [place] } } });
  const code = `
    const got = await (await fetch(input)).text();
    const sent = await fetch(input, { method: "POST", body: "x" });
    const away = await fetch("https://example.com/", { method: "POST" }).catch((error) => error.code);
    return [got, sent.status, await sent.text(), away];`;
  const input = `http://${place}/`;
  const dry = await glovebox.execute({ code, input, dryRun: true });
  assert.deepEqual([dry.value, seen], [["there", 200, "", "EGRESS_DENIED"], ["GET"]], dry.error?.message);
  assert.deepEqual(
    dry.dryRun?.writes.map(({ seq, tool, effect }) => [seq, tool, effect]),
    [[2, "glovebox.fetch", "write"]],
  );
  const real = await glovebox.execute({ code, input });
  assert.deepEqual(
    [real.value, seen],
    [
      ["there", 200, "there", "EGRESS_DENIED"],
      ["GET", "GET", "POST"],
    ],
  );
});

test("a dry run whose gateway is killed is recovered as a dry run", async (context) => {
  const folder = makeFolder(context);
  const file = join(folder, "effects");
  const counting = { command: process.execPath, args: [resolve("test/fixtures/servers/counting-server.mjs"), file] };
  writeFileSync(join(folder, "glovebox.config.json"), JSON.stringify({ mcpServers: { counting } }));
  const code = `
    await counting.add({ n: 1 });
    await new Promise((done) => setTimeout(done, input));
    return await counting.add({ n: 2 });`;
  const { mcp, child } = await serveFor(context, folder);
  const client = await connect(context, mcp, ERAS[0]);
  const asked = client.callTool({ name: "execute", arguments: { code, input: 3_000, dryRun: true } });
  asked.catch(() => undefined); // its gateway will be killed
  type Listed = { executions: { id: string; state: string }[] };
  const run = async (...args: readonly string[]) => (await runGlovebox(args, { folder })).stdout;
  const isFirstAnswered = async () => /"call\.ended"/.test(await run("audit", "export"));
  while (!(await isFirstAnswered()));
  child.kill("SIGKILL");
  await untilEnded(child);
  await serveFor(context, folder);
  const list = async () => (JSON.parse(await run("executions", "--json")) as Listed).executions[0];
  for (let found = await list(); found?.state !== "completed"; found = await list())
    assert.equal(found?.state, "running");
  const id = (await list())?.id ?? "";
  const { result } = JSON.parse(await run("executions", "show", id, "--json")) as { result: ExecutionResult };
  assert.deepEqual(
    result.dryRun?.writes.map(({ seq, tool }) => [seq, tool]),
    [
      [1, "counting.add"],
      [2, "counting.add"],
    ],
  );
  assert.equal(existsSync(file), false);
});
