/** Rules with conditions, in a configuration and in a rule file, and messages about wrong ones. */

import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";

import { GloveboxError } from "../domain/index.ts";
import { followRules, parseRules } from "./follow-rules.ts";

const PATH = "/srv/rules.jsonc";
const NONE: ReadonlySet<string> = new Set();

function refusal(rules: unknown, taken = NONE): string {
  try {
    parseRules(JSON.stringify({ rules }), PATH, taken);
    return "accepted";
  } catch (thrown) {
    if (thrown instanceof GloveboxError && thrown.code === "CONFIG_INVALID") return thrown.message;
    throw thrown;
  }
}

const when = (...conditions: readonly object[]): unknown => [{ decision: "deny", when: conditions }];

describe("a rule file", () => {
  test("that is empty is refused with a hint for a file without rules, which is accepted", () => {
    for (const text of ["", " \n"]) {
      assert.throws(
        () => parseRules(text, PATH, NONE),
        (thrown: unknown) => {
          const { hint } = thrown instanceof GloveboxError ? thrown.details : {};
          assert.equal(hint, 'Write { "rules": [] } for a file without rules');
          return true;
        },
      );
    }
    assert.deepEqual(parseRules('{ "rules": [] }', PATH, NONE), []);
  });
  test("a rule file becomes rules with parsed paths and patterns, and default ids", () => {
    const text = `{
      // comments are allowed
      "rules": [
        { "decision": "deny", "principals": ["a"], "groups": ["b"], "servers": ["c"],
          "when": [{ "path": "to[*]", "matches": "*@x", "not": true, "missing": "holds" }] },
        { "id": "own", "decision": "ask", "reason": "why",
          "when": [{ "path": "n", "min": 1 }, { "path": "s", "equals": null }] },
      ],
    }`;
    const star = { kind: "one", character: "@" };
    assert.deepEqual(parseRules(text, PATH, NONE), [
      {
        id: "file-rule-1",
        decision: "deny",
        principals: ["a"],
        groups: ["b"],
        servers: ["c"],
        tools: [],
        effects: [],
        when: [
          {
            path: { text: "to[*]", steps: [{ kind: "key", key: "to" }, { kind: "each" }] },
            test: {
              kind: "matches",
              pattern: { text: "*@x", pieces: [[], [star, { kind: "one", character: "x" }]], plain: ["", "@x"] },
            },
            not: true,
            missing: "holds",
          },
        ],
        reason: "Rule file-rule-1 of the rule file says deny",
      },
      {
        id: "own",
        decision: "ask",
        tools: [],
        effects: [],
        when: [
          { path: { text: "n", steps: [{ kind: "key", key: "n" }] }, test: { kind: "range", min: 1 }, not: false },
          {
            path: { text: "s", steps: [{ kind: "key", key: "s" }] },
            test: { kind: "equals", value: null },
            not: false,
          },
        ],
        reason: "why",
      },
    ]);
  });
  test("a rule file is refused with the file, line and column of each problem", () => {
    const text = '{\n  "rules": [\n    { "decision": "maybe", "tool": ["x.*"] }\n  ]\n}';
    assert.throws(() => parseRules(text, PATH, NONE), {
      code: "CONFIG_INVALID",
      message:
        `${PATH}:3:19 rules[0].decision: expected one of "allow", "ask", "deny"; found "maybe"\n` +
        `${PATH}:3:28 rules[0].tool: unknown key; did you mean "tools"?`,
    });
    assert.throws(() => parseRules('{ "rules": [', PATH, NONE), /rules\.jsonc:1:13 is not valid JSON/);
  });
  test("a rule file cannot reuse the id of a rule in the configuration", () => {
    assert.match(refusal([{ id: "a", decision: "deny" }], new Set(["a"])), /another rule has the id "a"/);
    assert.equal(refusal([{ id: "a", decision: "deny" }], new Set(["b"])), "accepted");
  });
});

describe("a condition", () => {
  const one = /expected exactly one of equals, is, oneOf, prefix, matches, or min and max/;

  test("a condition must have exactly one test", () => {
    assert.match(refusal(when({ path: "a" })), one);
    assert.match(refusal(when({ path: "a", equals: 1, prefix: "x" })), one);
    assert.match(refusal(when({ path: "a", oneOf: [1], min: 1 })), one);
    assert.equal(refusal(when({ path: "a", min: 1, max: 1 })), "accepted");
    assert.equal(refusal(when({ path: "a", equals: null })), "accepted");
  });
  test("a condition must have a valid path, pattern and range", () => {
    assert.match(refusal(when({ path: "a..b", equals: 1 })), /when\[0\]\.path: expected a path such as/);
    assert.match(refusal(when({ path: "a", matches: "[" })), /when\[0\]\.matches: expected a pattern/);
    assert.match(refusal(when({ path: "a", min: 2, max: 1 })), /min is greater than max/);
    assert.match(
      refusal(when({ path: "a", equals: {} })),
      /expected a string, a number, true, false or null; found an obj/,
    );
    assert.match(refusal(when({ path: "a", min: "1" })), /when\[0\]\.min: expected a number; found "1"/);
  });
});

describe("a rule file that is followed", () => {
  test("a rule file that is followed is parsed again only after a change, and rejects once for each broken version", async (context) => {
    const folder = mkdtempSync(join(tmpdir(), "glovebox-rules-"));
    context.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));
    const path = join(folder, "rules.json");
    const file = followRules(path, NONE);
    await assert.rejects(file.read(), { code: "CONFIG_INVALID" });
    assert.equal(await file.read(), undefined);
    const write = (text: string): void => writeFileSync(path, text);
    write('{ "rules": [{ "decision": "ask" }] }');
    assert.deepEqual((await file.read())?.length, 1);
    assert.equal(await file.read(), undefined);
    write('{ "rules": [');
    await assert.rejects(file.read(), { code: "CONFIG_INVALID" });
    assert.equal(await file.read(), undefined);
    write('{ "rules": [] }');
    assert.deepEqual(await file.read(), []);
  });
});
