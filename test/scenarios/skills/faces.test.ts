/** The faces of an approved version for MCP clients: a plain tool, and a skill over MCP. */

import assert from "node:assert/strict";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, it } from "node:test";
import type { TestContext } from "node:test";

import { Client, InMemoryTransport } from "@modelcontextprotocol/client";
import { z } from "zod";

import { LOCAL, OPERATOR } from "../../../src/identity/index.ts";
import { createMcpServer } from "../../../src/surfaces/mcp/create-mcp-server.ts";
import { digestOf } from "../../../src/text/index.ts";
import { openSkillGateway, toTexts } from "../../fixtures/skill-gateway.ts";

const SERVER = fileURLToPath(new URL("../../../src/connectors/mcp/fixtures/skills-stdio.ts", import.meta.url));
const ONE = {
  tools: ["shop.list"],
  run: "return (await shop.list({ a: input.a })).args",
  input: { type: "object", properties: { a: { type: "integer" } }, required: ["a"] },
};

const SKILL = z.object({
  uri: z.string(),
  frontmatter: z.looseObject({ name: z.string(), description: z.string() }),
  resources: z.array(z.object({ uri: z.string(), digest: z.string(), size: z.number() })),
});
const LIST = z.object({ skills: z.array(SKILL), nextCursor: z.string().optional(), ttlMs: z.number() });
const ENTRY = z.object({ skill: SKILL });

async function open(context: TestContext, config: object) {
  const world = await openSkillGateway(context, config);
  const door = { gateway: world.gateway, principal: LOCAL, report: () => "in_1" };
  const [own, other] = InMemoryTransport.createLinkedPair();
  const server = createMcpServer(door);
  const client = new Client({ name: "test", version: "1" });
  await Promise.all([server.connect(own), client.connect(other)]);
  context.after(() => client.close());
  const list = (cursor?: string) => client.request({ method: "skills/list", params: cursor ? { cursor } : {} }, LIST);
  const get = (uri: string) => client.request({ method: "skills/get", params: { uri } }, ENTRY);
  const read = async (uri: string): Promise<string> => {
    const [content] = (await client.readResource({ uri })).contents;
    return content && "text" in content ? content.text : "";
  };
  return { ...world, client, list, get, read };
}

describe("an approved skill as an MCP tool", () => {
  it("is listed and called where tools are exposed, and never before its approval", async (context) => {
    const { client, submit, desk } = await open(context, { expose: "both" });
    const find = async () => (await client.listTools()).tools.find(({ name }) => name === "skills_lowStock");
    const call = () => client.callTool({ name: "skills_lowStock", arguments: { a: 1 } });
    await submit("low-stock", ONE);
    assert.equal(await find(), undefined);
    await assert.rejects(call(), /Unknown tool/);
    await desk.approve({ name: "low-stock" }, OPERATOR);
    const tool = await find();
    assert.deepEqual([tool?.inputSchema, tool?.annotations?.readOnlyHint], [ONE.input, true]);
    assert.deepEqual((await call()).structuredContent, { a: 1 });
    const wrong = await client.callTool({ name: "skills_lowStock", arguments: { a: "x" } });
    assert.equal(wrong.isError, true);
    await desk.revoke({ name: "low-stock" }, OPERATOR);
    assert.equal(await find(), undefined);
    await assert.rejects(call(), /Unknown tool/);
  });
  it("is not listed where only code is exposed", async (context) => {
    const { client, approve } = await open(context, {});
    await approve("low-stock", ONE);
    assert.equal(
      (await client.listTools()).tools.some(({ name }) => name.startsWith("skills")),
      false,
    );
    await assert.rejects(client.callTool({ name: "skills_lowStock", arguments: { a: 1 } }), /Unknown tool/);
  });
});

describe("skills over MCP", () => {
  const OVER = { skills: { overMcp: true } };

  it("lists approved skills with frontmatter and digests, and gives exactly their bytes", async (context) => {
    const { client, approve, submit, list, get, read } = await open(context, OVER);
    assert.deepEqual(client.getServerCapabilities()?.extensions, { "io.modelcontextprotocol/skills": {} });
    await approve("one", ONE);
    await submit("two", ONE);
    const { skills } = await list();
    assert.deepEqual(
      skills.map(({ uri, frontmatter }) => [uri, frontmatter]),
      [["skill://skills/one/SKILL.md", { name: "one", description: "The skill one." }]],
    );
    const [skill] = skills;
    assert.ok(skill);
    assert.deepEqual(
      skill.resources.map(({ uri }) => uri.slice("skill://skills/one/".length)),
      ["SKILL.md", "skill.lock.json", "skill.ts"],
    );
    for (const { uri, digest, size } of skill.resources) {
      const text = await read(uri);
      assert.deepEqual([digestOf(text), Buffer.byteLength(text)], [digest, size]);
    }
    assert.equal(await read("skill://skills/one/skill.ts"), toTexts("one", ONE)["skill.ts"]);
    assert.deepEqual(await get("skill://skills/one/SKILL.md"), { skill });
    for (const uri of ["skill://skills/two/SKILL.md", "skill://skills/one/skill.ts", "skill://skills/one", "x"])
      await assert.rejects(get(uri), /Unknown skill/);
    for (const path of ["two/SKILL.md", "one/none.md", "one/../two/SKILL.md", "one"])
      await assert.rejects(read(`skill://skills/${path}`), /not found/i);
  });
  it("never gives a version that is not approved, frozen, revoked or denied to the client", async (context) => {
    const rules = [{ id: "no-three", decision: "deny", tools: ["skills.three"] }];
    const { approve, submit, desk, list, get, read, settings } = await open(context, { ...OVER, policy: { rules } });
    for (const name of ["one", "two", "three"]) await approve(name, ONE);
    const names = async () => (await list()).skills.map(({ frontmatter }) => frontmatter.name);
    assert.deepEqual(await names(), ["one", "two"]);
    await submit("one", { ...ONE, run: "return (await shop.list({ a: 2 })).args" });
    assert.match(await read("skill://skills/one/skill.ts"), /input\.a/);
    const file = join(settings.skills.folder ?? "", "one", "skill.ts");
    writeFileSync(file, "export default 2");
    assert.deepEqual(await names(), ["two"]);
    await assert.rejects(read("skill://skills/one/SKILL.md"), /not found/i);
    await assert.rejects(get("skill://skills/one/SKILL.md"), /Unknown skill/);
    rmSync(file);
    await desk.restore({ name: "one" }, OPERATOR);
    await desk.revoke({ name: "two" }, OPERATOR);
    assert.deepEqual(await names(), ["one"]);
    await assert.rejects(read("skill://skills/two/SKILL.md"), /not found/i);
    await assert.rejects(read("skill://skills/three/SKILL.md"), /not found/i);
  });
  it("gives skills of servers with their origin in the address", async (context) => {
    const mcpServers = { desk: { command: process.execPath, args: [SERVER] } };
    const { gateway, list, get, read } = await open(context, { ...OVER, mcpServers });
    await gateway.takeSnapshot(LOCAL, "all");
    const { skills } = await list();
    const uri = "skill://desk/billing/refunds/SKILL.md";
    assert.deepEqual(
      skills.map((one) => [one.uri, one.frontmatter["metadata"], one.resources.length]),
      [[uri, { level: 2 }, 2]],
    );
    assert.deepEqual((await get(uri)).skill, skills[0]);
    for (const file of skills[0]?.resources ?? []) assert.equal(digestOf(await read(file.uri)), file.digest);
  });
  it("is off by default: nothing is declared, listed or read", async (context) => {
    const { client, approve, list, get, read } = await open(context, {});
    await approve("one", ONE);
    assert.equal(client.getServerCapabilities()?.extensions, undefined);
    await assert.rejects(list(), /not found/i);
    await assert.rejects(get("skill://skills/one/SKILL.md"), /not found/i);
    await assert.rejects(read("skill://skills/one/SKILL.md"), /not found/i);
  });
});
