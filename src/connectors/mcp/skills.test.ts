/** Skills of servers as tools: pinned as a whole, and read only as they were listed. */

import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { describe, it } from "node:test";

import { digestOf } from "../../text/index.ts";
import type { Json, JsonObject } from "../../domain/index.ts";
import { child, connect } from "./fixtures/connect.ts";
import { callSkill, listSkills } from "./messages/skills.ts";

const SERVER = fileURLToPath(new URL("fixtures/skills-stdio.ts", import.meta.url));
const NAME = "skills/billing/refunds";
const signal = AbortSignal.timeout(30_000);

const TEXT = "---\nname: a\ndescription: Does a.\n---\nText";
const ENTRY = {
  uri: "skill://a/SKILL.md",
  frontmatter: { name: "a", description: "Does a." },
  resources: [{ uri: "skill://a/SKILL.md", digest: digestOf(TEXT), size: TEXT.length }],
};

const listed = (...skills: readonly Json[]) => listSkills(async () => ({ skills }));

async function readEntry(entry: JsonObject, text: string, args: JsonObject = {}) {
  const contents = [{ uri: "skill://a/SKILL.md", text }];
  return callSkill({ request: entry }, args, async () => ({ contents }));
}

describe("skills of a server", () => {
  it("are tools with their manifest in the pinned definition, and give their files as listed", async () => {
    await using connector = connect(child(SERVER));
    const tools = await connector.tools();
    assert.deepEqual(
      tools.map(({ name, synthetic }) => [name, synthetic]),
      [
        ["edit", undefined],
        ["resources/list", true],
        ["resources/read", true],
        [NAME, true],
      ],
    );
    const skill = tools.at(-1);
    assert.match(skill?.description ?? "", /Skill of this server: Refunds an order\./);
    assert.match(JSON.stringify(skill?.request), /sha256:/);
    const { value } = await connector.call(NAME, {}, { signal });
    assert.match(JSON.stringify(value), /Ask first.*"metadata":\{"level":2\}.*references\/limits\.md/);
    const { value: file } = await connector.call(NAME, { path: "references/limits.md" }, { signal });
    assert.deepEqual(file, { path: "references/limits.md", mimeType: "text/markdown", text: "At most 100.\n" });
    await assert.rejects(connector.call(NAME, { path: "../SKILL.md" }, { signal }), { code: "TOOL_ARGUMENTS_INVALID" });
  });
  it("that changed are refused while the old list holds, and have another definition once they are listed", async () => {
    await using connector = connect(child(SERVER));
    const before = (await connector.tools()).at(-1);
    await connector.call("edit", {}, { signal });
    const changed = { code: "UPSTREAM_RESULT_INVALID", message: /references\/limits\.md is not the file/ };
    await assert.rejects(connector.call(NAME, { path: "references/limits.md" }, { signal }), changed);
    assert.match(JSON.stringify((await connector.call(NAME, {}, { signal })).value), /Ask first/);
    await connector.call("edit", { listed: true }, { signal });
    await assert.rejects(connector.call(NAME, { path: "references/limits.md" }, { signal }), changed);
    const after = (await connector.tools()).at(-1);
    assert.equal(after?.name, NAME);
    assert.notDeepEqual(after.request, before?.request);
    const { value } = await connector.call(NAME, { path: "references/limits.md" }, { signal });
    assert.match(JSON.stringify(value), /Without limit/);
  });
  it("without a complete manifest of their own directory are not offered", async () => {
    assert.deepEqual(
      (await listed(ENTRY)).map(({ name }) => name),
      ["skills/a"],
    );
    const [file] = ENTRY.resources;
    const wrong: readonly Json[] = [
      { ...ENTRY, resources: "dynamic" },
      { ...ENTRY, resources: [] },
      { ...ENTRY, resources: [{ ...file, uri: "skill://b/SKILL.md" }] },
      { ...ENTRY, resources: [{ ...file }, { ...file }] },
      { ...ENTRY, resources: [{ ...file }, { ...file, uri: "skill://a-other/x.md" }] },
      { ...ENTRY, resources: [{ ...file, digest: "sha256:0" }] },
      { ...ENTRY, resources: [{ ...file, size: 16 * 1024 * 1024 + 1 }] },
      { ...ENTRY, frontmatter: { name: "b", description: "" } },
      { ...ENTRY, uri: "skill://a" },
      1,
    ];
    for (const one of wrong) assert.deepEqual(await listed(one), [], JSON.stringify(one));
    const most = Array.from({ length: 512 }, (_, index) => ({ ...file, uri: `skill://a/${index}.md` }));
    assert.equal((await listed({ ...ENTRY, resources: [{ ...file }, ...most.slice(1)] })).length, 1);
    assert.equal((await listed({ ...ENTRY, resources: [{ ...file }, ...most] })).length, 0);
  });
  it("are read only with the listed size, digest and frontmatter", async () => {
    assert.match(JSON.stringify((await readEntry(ENTRY, TEXT)).value), /"text":"---/);
    const refused = { code: "UPSTREAM_RESULT_INVALID" };
    await assert.rejects(readEntry(ENTRY, TEXT.replace("Text", "Test")), refused);
    await assert.rejects(readEntry(ENTRY, `${TEXT} `), refused);
    const other = { ...ENTRY, frontmatter: { name: "a", description: "Does b." } };
    await assert.rejects(readEntry(other, TEXT), refused);
    const blob = Buffer.from(TEXT).toString("base64");
    const answered = await callSkill({ request: ENTRY }, {}, async () => ({
      contents: [{ uri: "skill://a/SKILL.md", mimeType: "text/markdown", blob }],
    }));
    assert.deepEqual(answered.attachments[0]?.path, ["blob"]);
  });
});
