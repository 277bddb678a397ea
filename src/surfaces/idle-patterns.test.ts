/** Patterns without a tool are found in what the catalog knows, without waiting for servers that nothing needs. */

import assert from "node:assert/strict";
import { it } from "node:test";

import { parsePrincipalId } from "../domain/index.ts";
import type { Principal } from "../domain/index.ts";
import { digestOf } from "../text/index.ts";
import type { Gateway } from "./gateway.ts";
import { findIdleInCatalog } from "./idle-patterns.ts";

it("findIdleInCatalog waits for every server by default, and for none if none is needed", async () => {
  const principal: Principal = { id: parsePrincipalId("agent") ?? assert.fail(), kind: "agent", groups: [] };
  const asked: unknown[] = [];
  const takeSnapshot: Gateway["takeSnapshot"] = async (_, needed) => {
    asked.push(needed);
    return { tools: new Map(), namespaces: [], digest: digestOf(""), takenAt: 0 };
  };
  const settings = { policy: { rules: [], effects: new Map(), labels: [] }, quotas: { rates: [], prices: new Map() } };
  assert.deepEqual(await findIdleInCatalog(settings, { takeSnapshot }, principal), []);
  assert.deepEqual(await findIdleInCatalog(settings, { takeSnapshot }, principal, []), []);
  assert.deepEqual(asked, [undefined, []]);
});
