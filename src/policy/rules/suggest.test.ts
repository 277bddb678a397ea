/** Which rules past calls suggest, and that none of them would have changed a past call. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { parseRules } from "../../config/index.ts";
import type { Json, PolicyRule } from "../../domain/index.ts";
import { policyOf, rule } from "./fixtures/decision-case.ts";
import { suggestRules } from "./suggest.ts";
import type { PastCall } from "./simulate.ts";

const call = (tool: string, args?: Json, more: Partial<PastCall> = {}): PastCall => ({
  principal: "agent",
  tool,
  server: "files",
  effect: "write",
  decision: "allow",
  ...(args !== undefined && { args }),
  ...more,
});
const write = (path: string, size = 1): PastCall => call("files.write", { path, size });

function suggest(past: readonly PastCall[], tools: readonly string[] = [], rules: readonly PolicyRule[] = []) {
  const parse = (written: readonly object[]) => parseRules(JSON.stringify({ rules: written }), "rules.json", new Set());
  return suggestRules({ settings: policyOf({ rules }), past, tools, parse });
}

describe("suggestRules", () => {
  it("asks about tools without a call", () => {
    const { rules, simulation } = suggest([write("/a/b")], ["files.write", "files.move", "mail.send"]);
    assert.deepEqual(
      rules.map(({ id, tools }) => [id, tools]),
      [
        ["unused-files", ["files.move"]],
        ["unused-mail", ["mail.send"]],
      ],
    );
    assert.deepEqual([simulation.calls, simulation.same], [1, 1]);
  });
  it("asks about arguments outside of a common folder, few values or a range", () => {
    const past = ["/w/r/a", "/w/r/b", "/w/r/c", "/w/r/d"].map((path, at) => write(path, at));
    const { rules, simulation } = suggest(past.map((one) => ({ ...one, args: { ...Object(one.args), mode: "new" } })));
    assert.deepEqual(
      rules.map(({ id, when }) => [id, when]),
      [
        ["usual-files.write-path", [{ path: "path", prefix: "/w/r/", not: true }]],
        ["usual-files.write-size", [{ path: "size", min: 0, max: 3, not: true }]],
        ["usual-files.write-mode", [{ path: "mode", oneOf: ["new"], not: true }]],
      ],
    );
    assert.deepEqual([simulation.same, simulation.changed, simulation.cannotTell], [4, [], []]);
  });
  it("does not count calls that the present rules decide differently than in the past", () => {
    const asked = call("files.write", { path: "/a/b" }, { decision: "ask" });
    const { rules, simulation } = suggest([asked], ["files.move"]);
    assert.deepEqual([rules.length, simulation], [1, { calls: 1, same: 1, changed: [], cannotTell: [] }]);
  });
  it("finds no condition in few calls, unknown arguments, reads, or values with nothing in common", () => {
    const paths = ["/a", "/b", "/c"];
    assert.deepEqual(suggest(paths.slice(1).map((path) => write(`/w/r${path}`))).rules, []);
    assert.deepEqual(suggest(paths.map(() => call("files.write"))).rules, []);
    assert.deepEqual(suggest(paths.map((path) => ({ ...write(`/w/r${path}`), effect: "read" as const }))).rules, []);
    const { rules } = suggest(["x", "yy", "zzz"].map((text) => call("files.write", { text })));
    assert.deepEqual(rules, []);
  });
  it("drops a rule whose id is taken", () => {
    const asked = suggest([write("/a/b")], ["files.move"], [rule("unused-files", "ask", { tools: ["files.move"] })]);
    assert.deepEqual(asked.rules, []);
  });
  it("drops a rule that would decide a past call differently", () => {
    const past = ["/a/b/1", "/a/b/2", "/a/b/3"].map((path) => write(path));
    const idsWith = (decision: PastCall["decision"]) =>
      suggest([...past, { ...write("/b/1"), decision }]).rules.map(({ id }) => id);
    assert.deepEqual(idsWith("ask"), ["usual-files.write-path", "usual-files.write-size"]);
    assert.deepEqual(idsWith("deny"), ["usual-files.write-size"]);
  });
});
