/** A mistake of a model is repaired by the next program if it applies exactly what the answer says. */

import assert from "node:assert/strict";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";

import { openServers } from "./open-servers.ts";
import { readMistakes, repair } from "./read-mistakes.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "glovebox-repair-")));
const glovebox = await openServers(folder);
after(async () => {
  await glovebox.close();
  rmSync(folder, { recursive: true });
});

const LEAST_MISTAKES = 40;
const LEAST_REPAIRED = 0.9;

describe("the answers to mistakes", () => {
  const open = readMistakes("mistakes.txt");
  const heldBack = process.env["HELD_BACK"] === "0" ? [] : readMistakes("held-back.txt");
  const failed: string[] = [];
  for (const one of [...open, ...heldBack]) {
    it(`lead to the right program: ${one.name}`, async (context) => {
      const problem = await repair(glovebox, one, { folder });
      if (problem === undefined) return;
      failed.push(one.name);
      context.diagnostic(problem);
      assert.ok(!problem.startsWith("a silent wrong answer"), problem);
    });
  }
  it("repair at least nine of ten mistakes", () => {
    const count = open.length + heldBack.length;
    assert.ok(heldBack.length === 0 || count >= LEAST_MISTAKES, String(count));
    assert.ok(count - failed.length >= count * LEAST_REPAIRED, `${failed.length} of ${count}: ${failed.join("; ")}`);
  });
});
