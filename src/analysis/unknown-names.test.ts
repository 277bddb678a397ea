import assert from "node:assert/strict";
import { test } from "node:test";

import { DEFAULT_LIMITS, parseConnectorId } from "../domain/index.ts";
import { analyze } from "./analyze.ts";

const connector = parseConnectorId("github");
assert.ok(connector);
const SURFACE = { namespaces: [{ name: "github", connector, summary: "", tools: ["listIssues"] }] };

for (const [source, expected] of [
  ["gihub.listIssues(); listIssues(axios)", ["gihub", "listIssues", "axios"]],
  ["github.listIssues(); console.log(input, Math.max(1), new Map(), fetch, process, ToolError, pick)", undefined],
  ["const axios = 1; function f(gihub) { return gihub + axios }; f(a.gihub)", ["a"]],
] as const) {
  test(`lists the unknown globals of ${JSON.stringify(source)}`, () => {
    const options = { enabled: false, blockOnError: false, rules: {}, limits: DEFAULT_LIMITS };
    const analyzed = analyze(source, SURFACE, options);
    assert.ok(analyzed.ok);
    assert.deepEqual(analyzed.program.unknownNames, expected);
  });
}
