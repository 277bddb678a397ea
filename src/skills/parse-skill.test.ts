/** A folder is a skill as a whole, or it is refused with the file or the place that is wrong. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { SKILL_MD, SKILL_TS, openSkills, skillFiles } from "./fixtures/open-skills.ts";
import { parseSkill } from "./parse-skill.ts";

function parse(change: Readonly<Record<string, string | undefined>>) {
  return parseSkill(skillFiles(change));
}

const INVALID = "REQUEST_INVALID";

describe("parseSkill", () => {
  it("reads name, description, schemas, needs and tests", () => {
    const test = { input: {}, calls: [{ tool: "shop.list", args: {}, result: [] }], output: 0 };
    const { address, description, input, output, requests, tests, program } = parse({
      "tests/empty.json": JSON.stringify(test),
    });
    assert.deepEqual(
      { address, description, input, output, requests },
      {
        address: "skills.weeklyReport",
        description: "Counts low stock.",
        input: { type: "object" },
        output: { type: "number" },
        requests: [{ tool: "shop.list", reason: "" }],
      },
    );
    assert.deepEqual(tests, [{ file: "tests/empty.json", ...test }]);
    assert.equal(program.split("\n").length, SKILL_TS.split("\n").length);
    assert.match(
      program,
      /^return await \(\s+async \(input\) => \(await shop\.list\(\{\}\)\)\.length\s+\)\(input\);\s*$/,
    );
  });
  it("translates the plain part of zod", () => {
    const { input } = parse({
      "skill.ts": `import { defineSkill, z } from "glovebox";
const Kind = z.enum(["a", "b"]);
export default defineSkill({
  input: z.object({ kind: Kind, many: z.array(z.int().min(1)).max(3).optional(), to: z.string().email().nullable() }),
  needs: {},
}, async ({ kind }: { kind: string }) => kind);`,
    });
    assert.deepEqual(input, {
      type: "object",
      properties: {
        kind: { enum: ["a", "b"] },
        many: { type: "array", items: { type: "integer", minimum: 1 }, maxItems: 3 },
        to: { anyOf: [{ type: "string", format: "email" }, { type: "null" }] },
      },
      required: ["kind", "to"],
      additionalProperties: false,
    });
  });

  const wrong: Readonly<
    Record<string, readonly [change: Readonly<Record<string, string | undefined>>, message: RegExp]>
  > = {
    "no SKILL.md": [{ "SKILL.md": undefined }, /has no file SKILL\.md/],
    "no skill.ts": [{ "skill.ts": undefined }, /has no file skill\.ts/],
    "another file": [{ "skill.py": "" }, /"skill\.py" is not a file of a skill/],
    "a name with capitals": [
      { "SKILL.md": SKILL_MD.replace("weekly-report", "Weekly") },
      /at name: expected lower-case/,
    ],
    "a name in another script": [
      { "SKILL.md": SKILL_MD.replace("weekly", "w\u0435ekly") },
      /at name: expected lower-case/,
    ],
    "the name of a method": [
      { "SKILL.md": SKILL_MD.replace("weekly-report", "to-string") },
      /cannot be named "to-string"/,
    ],
    "a key that does not exist": [
      { "SKILL.md": SKILL_MD.replace("---\nname", "---\nmodel: x\nname") },
      /SKILL\.md is not valid/,
    ],
    "a hidden character in the text": [{ "SKILL.md": `${SKILL_MD}\u200b` }, /characters that cannot be seen/],
    "a hidden character in the code": [{ "skill.ts": `// \u202e\n${SKILL_TS}` }, /characters that cannot be seen/],
    "a computed schema": [{ "skill.ts": SKILL_TS.replace('"object"', "String(1)") }, /must be a literal value/],
    "a prototype as key": [{ "skill.ts": SKILL_TS.replace("type:", "__proto__:") }, /must have a plain key/],
    "constants that contain each other": [
      { "skill.ts": `const a = [b, b];\nconst b = [a, a];\n${SKILL_TS.replace('"object"', "a")}` },
      /must be a literal value/,
    ],
    "an import of a module": [{ "skill.ts": `import fs from "node:fs";\n${SKILL_TS}` }, /imports a module/],
    "no definition": [{ "skill.ts": "return 1" }, /does not end with a definition/],
    "code after the definition": [{ "skill.ts": `${SKILL_TS}await shop.list({});` }, /does not end with a definition/],
    "everything as need": [
      { "skill.ts": SKILL_TS.replace("shop.list", "*") },
      /`needs` of skill\.ts is not valid at tools\.0/,
    ],
    "a module as need": [
      { "skill.ts": SKILL_TS.replace("needs: {", 'needs: { modules: ["csv"],') },
      /grants no modules/,
    ],
    "a test of another form": [{ "tests/a.json": "[]" }, /tests\/a\.json is not valid/],
  };
  for (const [what, [change, message]] of Object.entries(wrong))
    it(`refuses ${what}`, () => assert.throws(() => parse(change), { code: INVALID, message }));
  it("refuses more than 256 kB, and takes as much", () => {
    const fill = (bytes: number): string => `${SKILL_MD}${"x".repeat(bytes - SKILL_MD.length - SKILL_TS.length)}`;
    assert.equal(parse({ "SKILL.md": fill(262_144) }).name, "weekly-report");
    assert.throws(() => parse({ "SKILL.md": fill(262_145) }), { code: "LIMIT_SIZE" });
  });
});

describe("a submission", () => {
  const refused: Readonly<Record<string, readonly [code: string, source: string, message: RegExp]>> = {
    "that does not compile": ["PROGRAM_SYNTAX", SKILL_TS.replace("await shop", "await shop("), /./],
    "that calls a tool without asking for it": [
      INVALID,
      SKILL_TS.replace("shop.list({})", "shop.remove({})").replace('["shop.list"]', '["shop.remove", "shop.list"]'),
      /needs\.tools lists shop\.list, which skill\.ts never calls/,
    ],
    "that asks for a tool which does not exist": [
      INVALID,
      SKILL_TS.replaceAll("shop.list", "shop.gone"),
      /which no server offers/,
    ],
    "that calls another tool than it asks for": [
      INVALID,
      SKILL_TS.replace("shop.list({})", "shop.list({}), shop.remove({})"),
      /calls shop\.remove/,
    ],
    "that calls what is not a tool": [
      INVALID,
      SKILL_TS.replace("shop.list({})", "shop.list({}), bank.pay({})"),
      /uses bank/,
    ],
  };
  for (const [what, [code, source, message]] of Object.entries(refused))
    it(`${what} is refused, and nothing of it is stored`, async (context) => {
      const { submit, store, actions } = await openSkills(context);
      await assert.rejects(submit({ "skill.ts": source }), { code, message });
      assert.deepEqual([await store.skills.list(), await actions()], [[], []]);
      assert.equal((await submit()).state, "pending_review");
    });
});
