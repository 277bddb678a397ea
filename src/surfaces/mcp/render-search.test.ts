/** The text of a search: tools first, then servers with missing tools. */

import assert from "node:assert/strict";
import { it } from "node:test";

import { parseConnectorId } from "../../domain/index.ts";
import type { UpstreamStatus } from "../../domain/index.ts";
import { renderSearch, toServerLine } from "./render.ts";

function status(name: string, rest: Partial<UpstreamStatus>): UpstreamStatus {
  const id = parseConnectorId(name) ?? assert.fail();
  return { name: id, state: "ready", transport: "stdio", tools: 1, since: 1, ...rest };
}

it("render-search names only servers that are not ready or have withheld tools, with cause and next step", () => {
  const servers = [
    status("good", {}),
    status("held", { withheld: 2, hint: "2 tools are withheld" }),
    status("down", { state: "failed", cause: "no answer", hint: "Start it", stderr: ["private"] }),
  ];
  assert.equal(
    renderSearch({ tools: [], servers }),
    [
      "No tool found. Try fewer or other words, or an empty query to browse.",
      "Server held is ready: Hint: 2 tools are withheld",
      "Server down is failed: no answer Hint: Start it",
    ].join("\n"),
  );
  assert.deepEqual(servers.map(toServerLine), [
    { name: "good", state: "ready", tools: 1 },
    { name: "held", state: "ready", tools: 1, withheld: 2, hint: "2 tools are withheld" },
    { name: "down", state: "failed", tools: 1, cause: "no answer", hint: "Start it" },
  ]);
});
