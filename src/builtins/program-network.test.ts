/** Which policies and limits a program's request carries. */

import assert from "node:assert/strict";
import { test } from "node:test";

import type { NetworkPolicy } from "../domain/index.ts";
import type { Egress } from "../egress/index.ts";
import { createProgramNetwork } from "./program-network.ts";

const BLOCKED: NetworkPolicy = { mode: "blocked" };
const OPEN: NetworkPolicy = { mode: "unrestricted", grants: [] };
const { signal } = new AbortController();
const SENT = { url: "https://example.com", method: "GET", headers: [], body: undefined, signal };
const REQUEST = { ...SENT, onSent: () => undefined, onStep: () => undefined };
const ANSWER = { url: "", status: 200, statusText: "", redirected: false, headers: [], body: Buffer.alloc(0) };

function open(policy: NetworkPolicy, ceiling?: NetworkPolicy) {
  const sent: unknown[] = [];
  const egress: Pick<Egress, "fetchFor" | "checkFor"> = {
    fetchFor: async (...args) => {
      sent.push(args);
      return ANSWER;
    },
    checkFor: (...args) => void sent.push(args),
  };
  return { network: createProgramNetwork({ egress, policy, ceiling }), sent };
}

test("a program has fetch only if neither the settings, the ceiling nor its request block it", () => {
  assert.equal(open(OPEN).network.has(), true);
  assert.equal(open(OPEN, OPEN).network.has({ networkPolicy: OPEN }), true);
  assert.equal(open(BLOCKED).network.has(), false);
  assert.equal(open(OPEN, BLOCKED).network.has(), false);
  assert.equal(open(OPEN).network.has({ networkPolicy: BLOCKED }), false);
});

test("a request carries the policy of the settings and that of the execution, and its limits", async () => {
  const { network, sent } = open(OPEN);
  const limits = { resultBytes: 10, callMs: 20 };
  await network.sendFor({ limits })(REQUEST);
  await network.sendFor({ limits, networkPolicy: BLOCKED })(REQUEST);
  const bounds = { maxBytes: 10, totalMs: 20, idleMs: 15_000 };
  assert.deepEqual(sent, [
    [[OPEN], REQUEST, bounds],
    [[OPEN, BLOCKED], REQUEST, bounds],
  ]);
});

test("a dry run checks a request against the same policies", () => {
  const { network, sent } = open(OPEN);
  network.checkFor({ limits: { resultBytes: 1, callMs: 1 }, networkPolicy: BLOCKED })(REQUEST);
  assert.deepEqual(sent, [[[OPEN, BLOCKED], REQUEST]]);
});
