/** APIs and adapters from outside: three documents and an example, found, described and called like any upstream. */

import assert from "node:assert/strict";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { after, before, describe, test } from "node:test";

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

import { createGlovebox, defineAdapter } from "glovebox";
import { z } from "zod";

import { openFakeApi } from "../../../src/connectors/openapi/fixtures/fake-api.ts";
import type { FakeApi } from "../../../src/connectors/openapi/fixtures/fake-api.ts";
import { DOCUMENTS, pathOf } from "../../../src/connectors/openapi/fixtures/test-connector.ts";
import { passingStore } from "../../fixtures/passing-store.ts";
import { runGlovebox, serveFor } from "../../fixtures/product.ts";
import type { CommandResult } from "../../fixtures/product.ts";

const SECRET = "canary-token-1234";
/** A busy machine takes long to read a document. */
const PATIENT = { startupTimeoutMs: 600_000 };
const folder = mkdtempSync(join(tmpdir(), "glovebox-apis-"));
let api: FakeApi;

/** As on a user's machine: the configuration, documents and an adapter in a folder where the package is installed. */
before(async () => {
  api = await openFakeApi();
  for (const [name, file] of Object.entries(DOCUMENTS)) {
    copyFileSync(pathOf(name as keyof typeof DOCUMENTS), join(folder, file));
  }
  copyFileSync("examples/adapter/library-desk.ts", join(folder, "library-desk.ts"));
  for (const [name, target] of [
    ["glovebox", "."],
    ["zod", "node_modules/zod"],
  ] as const) {
    mkdirSync(dirname(join(folder, "node_modules", name)), { recursive: true });
    symlinkSync(resolve(target), join(folder, "node_modules", name));
  }
  const baseUrl = api.origin;
  const openapi = {
    pets: {
      document: DOCUMENTS.petstore,
      baseUrl: `${baseUrl}/pets`,
      auth: { api_key: "${secret:PETS_KEY}" },
      ...PATIENT,
    },
    payments: {
      document: DOCUMENTS.payments,
      baseUrl: `${baseUrl}/pay`,
      headers: { "X-Key": "${secret:PETS_KEY}" },
      ...PATIENT,
    },
    code: { document: `${baseUrl}/code.yaml`, ...PATIENT },
    lost: { document: "./missing.yaml" },
  };
  const yaml = readFileSync(pathOf("codeHost"), "utf8");
  api.answers.set("GET /code.yaml", { headers: { "content-type": "application/yaml" }, body: yaml });
  api.answers.set("GET /pets/pet/7", { body: { id: 7, name: "Rex", owner: null } });
  api.answers.set("GET /pets/pet/8", { status: 404, body: "no pet 8" });
  api.answers.set("GET /repos/ada/engine/issues", { body: [{ number: 1, title: "Bug", user: null }] });
  const config = { mcpServers: {}, openapi, approvals: { graceMs: 0 }, adapters: ["./library-desk.ts"] };
  writeFileSync(join(folder, "glovebox.config.json"), JSON.stringify(config));
  await ask(["secrets", "set", "PETS_KEY"], SECRET);
});
after(async () => {
  await api[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

const ask = (args: readonly string[], input = ""): Promise<CommandResult> => runGlovebox(args, { folder, input });

const PROGRAM = `
  const pet = await pets.getPetById({ petId: 7 });
  const [issue] = await code.issuesListForRepo({ owner: "ada", repo: "engine" });
  const paid = await payments.postNote({ body: pet.name + " has " + issue.title });
  const missing = await pets.getPetById({ petId: 8 }).catch((error) => [error.code, error.message]);
  const free = await desk.listBooks({ free: true });
  const lent = await desk.lendBook({ id: "b2", person: "Ada" }).catch((error) => [error.code, error.message]);
  return { pet, issue, sent: paid.body, key: paid.headers["x-key"], missing, free, lent };
`;

const MADE = {
  pet: { id: 7, name: "Rex", owner: null },
  issue: { number: 1, title: "Bug", user: null },
  sent: "Rex has Bug",
  key: "[secret]",
  missing: ["UPSTREAM_FAILED", "pets: GET /pet/{petId} answered with status 404: no pet 8"],
  free: [{ id: "b1", title: "Notes on the Analytical Engine", lentTo: null }],
  lent: ["UPSTREAM_FAILED", "desk: Grace has it"],
};

describe("APIs and adapters", { concurrency: 2 }, () => {
  test("a program calls three APIs and an adapter, and never sees their key", async () => {
    const { code, stdout, stderr } = await ask(["run", "-", "--json"], PROGRAM);
    assert.equal(code, 0, stdout + stderr);
    assert.deepEqual((JSON.parse(stdout) as { value: unknown }).value, MADE);
    const keys = api.seen.map(({ url, headers }) => [url, headers["x-api-key"] ?? headers["x-key"]]);
    assert.ok(keys.some(([url, key]) => url === "/pets/pet/7" && key === SECRET));
    assert.ok(keys.some(([url, key]) => url === "/pay/notes" && key === SECRET));
    assert.ok(keys.some(([url, key]) => url === "/code.yaml" && key === undefined));
    assert.ok(!(stdout + stderr).includes(SECRET));
  });

  test("servers shows each API with its state, and the problem of the one that cannot be read", async () => {
    const { stdout } = await ask(["servers", "--json"]);
    const { servers } = JSON.parse(stdout) as { servers: Record<string, unknown>[] };
    assert.deepEqual(
      servers.map(({ name, state, transport, tools }) => [name, state, transport, tools]),
      [
        ["pets", "ready", "openapi", 5],
        ["payments", "ready", "openapi", 6],
        ["code", "ready", "openapi", 6],
        ["lost", "failed", "openapi", 0],
        ["desk", "ready", "adapter", 2],
      ],
    );
    const { cause, hint } = servers[3] ?? {};
    assert.deepEqual([cause, hint], ["~/missing.yaml: cannot be read (ENOENT)", "Check the path and the permissions"]);
  });

  test("tools and describe show operations as typed functions with their effect", async () => {
    const { stdout } = await ask(["tools", "delete", "--json"]);
    const { tools } = JSON.parse(stdout) as { tools: Record<string, unknown>[] };
    assert.deepEqual(
      tools
        .filter(({ effect }) => effect === "destroy")
        .map(({ name }) => String(name))
        .toSorted(),
      ["code.reposDelete", "pets.deletePet"],
    );
    const described = await ask(["describe", "pets.getPetFindByStatus", "desk.listBooks"]);
    assert.match(described.stdout, /Deprecated\. Find pets\n[\s\S]*status\?: .*"available" \| "sold"/);
    assert.match(described.stdout, /listBooks\(args\?: \{[\s\S]*free\?: boolean/);
  });

  test("a destructive operation of an API needs approval, and an invalid argument is never sent", async () => {
    const code = `
      const codeOf = (call) => call.then(() => "done", (error) => error.code);
      return [
        await codeOf(pets.getPetById({ petId: "9" })),
        await codeOf(pets.getPetById({ petID: 9 })),
        await codeOf(pets.getPetById({ petId: 7 })),
      ];`;
    const { stdout } = await ask(["run", "-", "--json", "--no-types"], code);
    const { value } = JSON.parse(stdout) as { value: unknown };
    assert.deepEqual(value, ["TOOL_ARGUMENTS_INVALID", "TOOL_ARGUMENTS_INVALID", "done"]);
    const destroying = await ask(["run", "-", "--json"], "await pets.deletePet({ petId: 9 })");
    assert.deepEqual([destroying.code, (JSON.parse(destroying.stdout) as { state: string }).state], [3, "paused"]);
    assert.ok(!api.seen.some(({ url }) => url.includes("/pet/9")));
  });

  test("an agent searches, describes and executes API operations over MCP, and /health names the upstreams", async (context) => {
    const { mcp, url } = await serveFor(context, folder);
    const client = new Client({ name: "scenario", version: "1.0.0" });
    await client.connect(new StreamableHTTPClientTransport(new URL(mcp)));
    context.after(() => client.close());
    const found = await client.callTool({ name: "search", arguments: { query: "list issues repository", limit: 1 } });
    assert.match(JSON.stringify(found.content), /code\.issuesListForRepo/);
    const code = "return (await pets.getPetById({ petId: 7 })).name + (await desk.listBooks({})).length";
    const executed = await client.callTool({ name: "execute", arguments: { code } });
    assert.match(JSON.stringify(executed.content), /Rex2/);
    const { upstreams } = (await (await globalThis.fetch(new URL("/health", url))).json()) as { upstreams: unknown };
    assert.deepEqual(upstreams, { ready: 4, failed: 1 });
  });
});

test("the command line refuses a configuration with a missing adapter or a duplicate name", async () => {
  const refused = async (config: object): Promise<string> => {
    writeFileSync(join(folder, "clash.json"), JSON.stringify(config));
    const { code, stderr } = await ask(["servers", "--config", "clash.json"]);
    assert.equal(code, 2, stderr);
    return stderr;
  };
  const openapi = { desk: { document: "x.yaml" } };
  assert.match(await refused({ openapi, adapters: ["./library-desk.ts"] }), /another upstream is also called "desk"/);
  assert.match(await refused({ adapters: ["./nowhere.ts"] }), /adapters\[0\]: the module could not be loaded/);
});

test("an adapter may be in the configuration itself, in a TypeScript file and in the library", async () => {
  const text = `
    import { defineAdapter, defineConfig } from "glovebox";
    const tools = { add: { description: "Adds.", input: { type: "object" }, run: ({ a, b }) => a + b } };
    export default defineConfig({ adapters: [defineAdapter({ name: "sums", tools })], store: ${JSON.stringify(passingStore())} });`;
  writeFileSync(join(folder, "typed.ts"), text);
  const { stdout } = await ask(["run", "-", "--json", "--config", "typed.ts"], "return await sums.add({ a: 1, b: 2 })");
  assert.equal((JSON.parse(stdout) as { value: unknown }).value, 3);
  const echo = {
    description: "Echoes.",
    input: z.object({ text: z.string() }),
    run: ({ text: own }: { text: string }) => own,
  };
  const adapter = defineAdapter({ name: "it", tools: { echo } });
  await using glovebox = await createGlovebox({ adapters: [adapter], store: passingStore() });
  assert.equal((await glovebox.execute({ code: 'return await it.echo({ text: "hi" })' })).value, "hi");
});
