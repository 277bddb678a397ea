/** The commands and links that lead a person to an approval. */

import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { after, describe, it } from "node:test";

import { APPROVAL } from "./mcp/fixtures/approval.ts";
import { createPeopleGuide, guideQuestions } from "./reach-people.ts";
import type { PeopleGuideOptions } from "./reach-people.ts";

const { id, tool, reason, expiresAt } = APPROVAL;

function open(more: Partial<PeopleGuideOptions> = {}, stored = new Map<string, string>()) {
  const values: PeopleGuideOptions["values"] = {
    get: async (key) => stored.get(key),
    set: async (key, value) => void stored.set(key, value),
    erase: async (key) => void stored.delete(key),
  };
  const hasEnded = (owner: string): boolean => owner === "dead";
  return createPeopleGuide({
    source: { kind: "builtin" },
    environment: {},
    values,
    owner: "here",
    hasEnded,
    ...more,
  });
}

describe("PeopleGuide.commands", () => {
  it("names the program and the configuration of this store", () => {
    assert.equal(open().commands(id).show, `npx --no-install glovebox approvals show ${id}`);
    const { show, approve, reject } = open({ source: { kind: "file", path: "/a/b-1.json" } }).commands(id);
    assert.equal(show, `npx --no-install glovebox approvals show ${id} --config /a/b-1.json`);
    assert.deepEqual(
      [approve, reject],
      [
        `npx --no-install glovebox approve ${id} --config /a/b-1.json`,
        `npx --no-install glovebox reject ${id} --config /a/b-1.json`,
      ],
    );
  });
  it("uses the name of the program if it is installed, and npx if that started it", () => {
    const folder = mkdtempSync(join(tmpdir(), "glovebox-path-"));
    after(() => rmSync(folder, { recursive: true }));
    const environment = { PATH: `${delimiter}${folder}` };
    assert.equal(open({ environment }).commands(id).show, `npx --no-install glovebox approvals show ${id}`);
    writeFileSync(join(folder, "glovebox"), "");
    assert.equal(open({ environment }).commands(id).show, `glovebox approvals show ${id}`);
    const byNpx = open({ environment: { ...environment, npm_command: "exec" } });
    assert.equal(byNpx.commands(id).show, `npx --no-install glovebox approvals show ${id}`);
  });
  it("quotes a path that a shell would split or run", () => {
    const { show } = open({ source: { kind: "file", path: "/a b/$(x)'.json" } }).commands(id);
    assert.equal(show, String.raw`npx --no-install glovebox approvals show ${id} --config '/a b/$(x)'\''.json'`);
  });
});

describe("PeopleGuide.link", () => {
  it("is the page of a server on the same store, while that runs", async () => {
    const stored = new Map<string, string>();
    assert.equal(await open({}, stored).link(id), undefined);
    const page = await open({ owner: "server" }, stored).announcePage("http://127.0.0.1:1");
    assert.equal(await open({}, stored).link(id), `http://127.0.0.1:1/approvals/${id}`);
    await page[Symbol.asyncDispose]();
    assert.equal(await open({}, stored).link(id), undefined);
  });
  it("is absent when that server has died, and stays when another one has announced itself", async () => {
    const stored = new Map<string, string>();
    const page = await open({ owner: "dead" }, stored).announcePage("http://127.0.0.1:1");
    assert.equal(await open({}, stored).link(id), undefined);
    await open({ owner: "server" }, stored).announcePage("http://127.0.0.1:2");
    await page[Symbol.asyncDispose]();
    assert.equal(await open({}, stored).link(id), `http://127.0.0.1:2/approvals/${id}`);
  });
  it("is absent when the stored value is not one", async () => {
    for (const value of ["", "[]", '{"url":1}'])
      assert.equal(await open({}, new Map([["page", value]])).link(id), undefined);
  });
});

it("guideQuestions adds commands, and a link only if there is a page", async () => {
  const stored = new Map<string, string>();
  const question = { approval: id, seq: 1, tool, reason, expiresAt };
  const guide = open({}, stored);
  const commands = guide.commands(id);
  assert.deepEqual(await guideQuestions({ questions: [question] }, guide), { questions: [{ ...question, commands }] });
  await guide.announcePage("http://127.0.0.1:1");
  const link = `http://127.0.0.1:1/approvals/${id}`;
  assert.deepEqual(await guideQuestions({ questions: [question] }, guide), {
    questions: [{ ...question, commands, link }],
  });
  assert.deepEqual(await guideQuestions({}, guide), {});
});
