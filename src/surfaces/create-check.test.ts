/** Whether the gateway can run programs, from small parts. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { GloveboxError } from "../domain/index.ts";
import { createCheck } from "./create-check.ts";

type Parts = Parameters<typeof createCheck>[0];

function create(parts: Partial<Parts> = {}) {
  let [checks, at] = [0, 5_000];
  const check = createCheck({
    store: { check: async () => void (checks += 1) },
    sandbox: { state: () => ({ kind: "ready" }) },
    policy: { problem: () => undefined },
    report: () => "in_1",
    now: () => at,
    ...parts,
  });
  const wait = (ms: number): void => void (at += ms);
  return { check, wait, count: () => checks };
}

test("a gateway is ready when store, sandbox and configuration work", async () => {
  assert.deepEqual(await create().check(), { isReady: true, problems: [] });
});

test("a gateway whose sandbox starts is not ready, without a problem", async () => {
  const { check } = create({ sandbox: { state: () => ({ kind: "starting" }) } });
  assert.deepEqual(await check(), { isReady: false, problems: [] });
});

test("each part that does not work is a problem with its cause, without a path", async () => {
  const full = new GloveboxError("STORE_UNAVAILABLE", "The disk is full: /home/me/glovebox.db cannot grow", {
    hint: "Free some space",
  });
  const { check } = create({
    store: { check: () => Promise.reject(full) },
    sandbox: { state: () => ({ kind: "failed", error: new GloveboxError("SANDBOX_UNAVAILABLE", "no child starts") }) },
    policy: { problem: () => new GloveboxError("CONFIG_INVALID", "rules[0]: expected an object") },
  });
  const { isReady, problems } = await check();
  assert.equal(isReady, false);
  assert.deepEqual(
    problems.map(({ code, message }) => [code, message]),
    [
      ["STORE_UNAVAILABLE", "The disk is full: [path] cannot grow"],
      ["SANDBOX_UNAVAILABLE", "no child starts"],
      ["CONFIG_INVALID", "rules[0]: expected an object"],
    ],
  );
  assert.equal(problems[0]?.hint, "Free some space");
});

test("an internal fault is a problem that reveals its incident only", async () => {
  const { check } = create({ store: { check: () => Promise.reject(new Error("secret detail")) } });
  assert.deepEqual((await check()).problems, [
    { code: "INTERNAL_BUG", message: "Internal error", retry: false, incident: "in_1" },
  ]);
});

test("checks are repeated after a second, and not before", async () => {
  const { check, wait, count } = create();
  await Promise.all([check(), check()]);
  wait(999);
  await check();
  assert.equal(count(), 1);
  wait(1);
  await check();
  assert.equal(count(), 2);
});
