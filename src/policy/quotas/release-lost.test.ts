/** Reservations of executions whose process died are released once, except for the time that they may have used. */

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { TestContext } from "node:test";
import * as fc from "fast-check";

import { parseExecutionId, parsePrincipalId } from "../../domain/index.ts";
import type { ExecutionId, QuotaSettings } from "../../domain/index.ts";
import { openStore } from "../../store/index.ts";
import { known } from "../rules/fixtures/decision-case.ts";
import { openQuotas } from "./open-quotas.ts";
import type { ExecutionClaim, Quotas } from "./open-quotas.ts";

const NONE: QuotaSettings["total"] = {
  executionsPerMinute: 0,
  executionMsPerHour: 0,
  concurrentExecutions: 0,
  costPerDay: 0,
};
const ADA = { id: known(parsePrincipalId("ada")), kind: "agent", groups: [] } as const;
const idOf = (n: number): ExecutionId => known(parseExecutionId(`ex_${n.toString().padStart(24, "0")}`));
const HOUR_MS = 30_000;

/** Processes on one file with a shared manual clock. */
function openFile(context: TestContext, settings: Partial<QuotaSettings> = { executionMsPerHour: HOUR_MS }) {
  const folder = mkdtempSync(join(tmpdir(), "glovebox-lost-"));
  const clock = { at: 0 };
  const closers: (() => Promise<void>)[] = [];
  context.after(async () => {
    for (const close of closers) await close();
    rmSync(folder, { recursive: true, force: true });
  });
  const start = async (): Promise<Quotas> => {
    const now = (): number => clock.at;
    const store = await openStore({ path: join(folder, "store.db"), now });
    closers.push(() => store.close());
    const whole = { ...NONE, session: NONE, total: NONE, rates: [], prices: new Map(), ...settings };
    return openQuotas({ settings: whole, store: store.quotas, now });
  };
  return { clock, start };
}

const begin = (quotas: Quotas, n: number, more: Partial<ExecutionClaim> = {}) =>
  quotas.take({ kind: "execution", execution: idOf(n), principal: ADA, wallMs: 10_000, ...more });

/** Returns the time that is left in the hour without taking any. */
async function left(quotas: Quotas): Promise<number> {
  const grant = await begin(quotas, 999, { wallMs: HOUR_MS }).catch(() => undefined);
  await grant?.release(0);
  return grant?.wallMs ?? 0;
}

describe("an execution that died with its process", () => {
  for (const [seenMs, charged] of [
    [0, 2_000],
    [3_000, 5_000],
    [7_999, 9_999],
    [8_000, 10_000],
    [9_000, 10_000],
  ] as const)
    it(`an execution that died with its process is charged ${charged} of its 10000 ms if it was last seen after ${seenMs} ms`, async (context) => {
      const { clock, start } = openFile(context);
      const first = await start();
      await begin(first, 1);
      clock.at = seenMs;
      await first.noteHeld();
      const second = await start();
      clock.at = 60_000;
      assert.equal(await left(second), HOUR_MS - 10_000);
      await second.releaseLost(idOf(1));
      assert.equal(await left(second), HOUR_MS - charged);
    });

  it("an execution that died with its process is released once, however many processes release it", async (context) => {
    const { start } = openFile(context);
    const first = await start();
    const grant = await begin(first, 1);
    await begin(first, 2);
    const [second, third] = [await start(), await start()];
    await Promise.all([second.releaseLost(idOf(1)), third.releaseLost(idOf(1))]);
    await grant.release(0);
    await second.releaseLost(idOf(1));
    assert.deepEqual([await left(first), await left(second)], [HOUR_MS - 12_000, HOUR_MS - 12_000]);
  });

  it("an execution that died with its process is charged for its time before and after recovery, and not for the time between", async (context) => {
    const { clock, start } = openFile(context);
    const first = await start();
    await begin(first, 1);
    clock.at = 1_000;
    await first.noteHeld();
    clock.at = 500_000;
    const second = await start();
    const grant = await begin(second, 1, { when: "restarted" });
    assert.deepEqual([grant.wallMs, grant.shortenedBy, await left(second)], [10_000, undefined, HOUR_MS - 10_000]);
    await grant.release(500);
    assert.equal(await left(second), HOUR_MS - 3_500);
  });

  it("an execution that died with its process is charged for all runs when its process dies again, even at once", async (context) => {
    const { clock, start } = openFile(context);
    await begin(await start(), 1);
    const second = await start();
    await begin(second, 1, { when: "restarted" });
    clock.at = 1_500;
    await second.noteHeld();
    await begin(await start(), 1, { when: "restarted" });
    const fourth = await start();
    await fourth.releaseLost(idOf(1));
    assert.equal(await left(fourth), HOUR_MS - 2_000 - 1_500 - 2_000 - 2_000);
  });

  it("an execution that died with its process is recovered without a charge if it had reserved nothing", async (context) => {
    const { start } = openFile(context);
    const quotas = await start();
    const grant = await begin(quotas, 1, { when: "restarted" });
    await grant.release(5_000);
    assert.deepEqual([grant.wallMs, await left(quotas)], [10_000, HOUR_MS]);
  });

  it("releases no time into a later hour", async (context) => {
    const { clock, start } = openFile(context);
    await begin(await start(), 1);
    const second = await start();
    clock.at = 3_600_000;
    await begin(second, 2, { wallMs: HOUR_MS });
    await second.releaseLost(idOf(1));
    assert.equal(await left(second), 0);
  });

  it("frees its own slot only, after recovery when it ends", async (context) => {
    const { start } = openFile(context, { concurrentExecutions: 2 });
    const first = await start();
    await begin(first, 1);
    await begin(first, 2);
    const second = await start();
    await assert.rejects(begin(second, 3), { code: "LIMIT_QUOTA" });
    await second.releaseLost(idOf(1));
    const third = await begin(second, 3);
    await assert.rejects(begin(second, 4), { code: "LIMIT_QUOTA" });
    const goneOn = await begin(second, 2, { when: "restarted" });
    await assert.rejects(begin(second, 4), { code: "LIMIT_QUOTA" });
    await goneOn.release(1);
    await begin(second, 4);
    await assert.rejects(begin(second, 5), { code: "LIMIT_QUOTA" });
    await third.release(1);
    await begin(second, 5);
  });
});

it("loses no unit and grants none twice, in any order of ends, crashes and recoveries", async (context) => {
  const step = fc.record({
    kind: fc.constantFrom("begin", "end", "die", "return"),
    which: fc.nat(9),
    ms: fc.nat(4_000),
  });
  const { clock, start } = openFile(context, { executionMsPerHour: 10_000_000 });
  const quotas = await start();
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 20 }), async (steps) => {
      clock.at += 3_600_000; // another window each time
      const all = 10_000_000;
      const running = new Map<number, { readonly grant: Awaited<ReturnType<typeof begin>>; readonly before: number }>();
      let charged = 0;
      for (const { kind, which, ms } of steps) {
        const one = running.get(which);
        if (kind === "begin" && !one) running.set(which, { grant: await begin(quotas, which), before: 0 });
        if (!one || kind === "begin") continue;
        if (kind === "return") {
          const grant = await begin(quotas, which, { when: "restarted" });
          running.set(which, { grant, before: one.before + 2_000 });
          continue;
        }
        running.delete(which);
        if (kind === "end") await one.grant.release(ms);
        else await quotas.releaseLost(idOf(which));
        charged += Math.min(10_000, one.before + (kind === "end" ? ms : 2_000));
      }
      for (const [which, { before }] of running) {
        await quotas.releaseLost(idOf(which));
        charged += Math.min(10_000, before + 2_000);
      }
      const grant = await begin(quotas, 999, { wallMs: all });
      await grant.release(0);
      assert.equal(grant.wallMs, all - charged);
    }),
    { numRuns: 40 },
  );
});
