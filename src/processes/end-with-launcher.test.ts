/** A child that an older Node started does not outlive it. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { endWithLauncher } from "./end-with-launcher.ts";

interface Rig {
  parent: number;
  exits: number;
}

function start(rig: Rig, launcher: string | undefined): void {
  endWithLauncher(launcher, { parent: () => rig.parent, exit: () => void (rig.exits += 1) });
}

test("a child stays as long as its launcher is its parent, and ends when it has another one", (context) => {
  context.mock.timers.enable({ apis: ["setInterval"] });
  const rig = { parent: 7, exits: 0 };
  start(rig, "7");
  context.mock.timers.tick(1_000);
  assert.equal(rig.exits, 0);
  rig.parent = 1;
  context.mock.timers.tick(250);
  assert.equal(rig.exits, 1);
});

test("a child whose launcher was killed before ends at once", (context) => {
  context.mock.timers.enable({ apis: ["setInterval"] });
  const rig = { parent: 1, exits: 0 };
  start(rig, "7");
  assert.equal(rig.exits, 1);
});

test("a process without a launcher never ends by itself", (context) => {
  context.mock.timers.enable({ apis: ["setInterval"] });
  const rig = { parent: 1, exits: 0 };
  start(rig, undefined);
  context.mock.timers.tick(10_000);
  assert.equal(rig.exits, 0);
});
