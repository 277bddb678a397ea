/** Quotas: exact for concurrent requests, kept after restarts, with errors that name what is left and the reset time. */

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import * as fc from "fast-check";

import { GloveboxError, parseExecutionId, parsePrincipalId } from "../../domain/index.ts";
import type { Principal, QuotaSettings } from "../../domain/index.ts";
import { openStore } from "../../store/index.ts";
import { known, toolOf } from "../rules/fixtures/decision-case.ts";
import { openQuotas } from "./open-quotas.ts";
import type { QuotaGrant, Quotas } from "./open-quotas.ts";

const NONE: QuotaSettings["total"] = {
  executionsPerMinute: 0,
  executionMsPerHour: 0,
  concurrentExecutions: 0,
  costPerDay: 0,
};
const ADA = principal("ada");
const BOB = principal("bob");
const TOOL = toolOf("shop.pay", "write");

function principal(name: string, kind: Principal["kind"] = "agent"): Principal {
  return { id: known(parsePrincipalId(name)), kind, groups: [] };
}

function sessionOf(session: string, who = ADA): Principal {
  return { ...who, session };
}

async function open(settings: Partial<QuotaSettings>, { clock = { at: 0 }, path = ":memory:" } = {}) {
  const store = await openStore({ path, now: () => clock.at });
  const quotas = openQuotas({
    settings: { ...NONE, session: NONE, total: NONE, rates: [], prices: new Map(), ...settings },
    store: store.quotas,
    now: () => clock.at,
  });
  return { quotas, clock, close: () => store.close() };
}

let begun = 0;
const begin = (quotas: Quotas, who: Principal = ADA, wallMs = 100): Promise<QuotaGrant> => {
  const execution = known(parseExecutionId(`ex_${(begun += 1).toString().padStart(24, "0")}`));
  return quotas.take({ kind: "execution", execution, principal: who, wallMs });
};
const call = async (quotas: Quotas, who: Principal = ADA, tool = TOOL): Promise<void> => quotas.takeCall(who, tool);

/** Returns how many were granted. Any error but LIMIT_QUOTA fails the test. */
async function countGranted(takes: readonly Promise<unknown>[]): Promise<number> {
  const settled = await Promise.allSettled(takes);
  const refused = settled.filter((one) => one.status === "rejected");
  for (const { reason } of refused) assert.ok(reason instanceof GloveboxError && reason.code === "LIMIT_QUOTA");
  return settled.length - refused.length;
}

async function refusalOf(take: Promise<unknown>): Promise<unknown> {
  const thrown: unknown = await take.then(
    () => "granted",
    (error: unknown) => error,
  );
  return thrown instanceof GloveboxError ? [thrown.code, thrown.message, thrown.details.hint] : thrown;
}

describe("executionsPerMinute", () => {
  it("grants executions below and at the quota and refuses one above it, with the rest and the reset time", async () => {
    const { quotas, clock } = await open({ executionsPerMinute: 2 });
    await begin(quotas);
    clock.at = 20_000;
    await begin(quotas);
    assert.deepEqual(await refusalOf(begin(quotas)), [
      "LIMIT_QUOTA",
      "The quota quotas.executionsPerMinute is used up: 2 of 2 executions in a minute by ada, 0 left; it resets in 40 s (at the latest 1970-01-01T00:01:00.000Z)",
      "Wait and retry, or ask the operator to raise quotas.executionsPerMinute",
    ]);
    await begin(quotas, BOB);
    clock.at = 59_999;
    assert.equal(await countGranted([begin(quotas)]), 0);
    clock.at = 60_000;
    assert.equal(await countGranted([begin(quotas), begin(quotas), begin(quotas)]), 2);
  });
  it("counts the executions of all principals for total", async () => {
    const { quotas } = await open({ total: { ...NONE, executionsPerMinute: 3 } });
    assert.equal(await countGranted([begin(quotas), begin(quotas, BOB), begin(quotas), begin(quotas, BOB)]), 3);
  });
  it("grants a session executions below and at its quota, refuses one above it, and lets another session run", async () => {
    const { quotas } = await open({ executionsPerMinute: 4, session: { ...NONE, executionsPerMinute: 2 } });
    const [one, other] = [sessionOf("one"), sessionOf("other")];
    await begin(quotas, one);
    await begin(quotas, one);
    assert.deepEqual(await refusalOf(begin(quotas, one)), [
      "LIMIT_QUOTA",
      "The quota quotas.session.executionsPerMinute is used up: 2 of 2 executions in a minute by one session of ada, 0 left; it resets in 60 s (at the latest 1970-01-01T00:01:00.000Z)",
      "Wait and retry, or ask the operator to raise quotas.session.executionsPerMinute",
    ]);
    // A refused execution takes nothing from the principal.
    assert.equal(await countGranted([begin(quotas, other), begin(quotas, other), begin(quotas, ADA)]), 2);
  });
  it("counts sessions of two principals with the same name separately, and requests without a session as one", async () => {
    const { quotas } = await open({ session: { ...NONE, executionsPerMinute: 1 } });
    const takes = [sessionOf("one"), sessionOf("one", BOB), ADA, ADA].map((who) => begin(quotas, who));
    assert.equal(await countGranted(takes), 3);
  });
  it("executionsPerMinute does not count executions of an operator", async () => {
    const { quotas } = await open({ executionsPerMinute: 1, total: { ...NONE, executionsPerMinute: 1 } });
    const operator = { ...principal("operator", "person"), roles: ["operator"] as const };
    assert.equal(await countGranted(Array.from({ length: 5 }, () => begin(quotas, operator))), 5);
  });
  it("takes nothing from any quota when one of them refuses", async () => {
    const { quotas } = await open({ executionsPerMinute: 10, total: { ...NONE, executionsPerMinute: 1 } });
    await begin(quotas, BOB);
    assert.equal(await countGranted(Array.from({ length: 20 }, () => begin(quotas))), 0);
    const { quotas: own } = await open({ executionsPerMinute: 10 });
    assert.equal(await countGranted(Array.from({ length: 20 }, () => begin(own))), 10);
  });
});

describe("executionMsPerHour", () => {
  it("reserves time before and releases it after, and a shorter grant names its quota", async () => {
    const { quotas } = await open({ executionMsPerHour: 25_000 });
    const start = () => begin(quotas, ADA, 10_000);
    const [one, two, three] = [await start(), await start(), await start()];
    assert.deepEqual(
      [one, two, three].map(({ wallMs, shortenedBy }) => [wallMs, shortenedBy]),
      [
        [10_000, undefined],
        [10_000, undefined],
        [5_000, "quotas.executionMsPerHour"],
      ],
    );
    await one.release(3_000.2);
    assert.equal((await start()).wallMs, 6_999);
    await two.release(50_000);
    await three.release(-1);
    assert.equal((await start()).wallMs, 5_000);
    assert.equal(await countGranted([start()]), 0);
  });
  it("names the reserved time of running programs and when it is released", async () => {
    const { quotas } = await open({ executionMsPerHour: 25_000 });
    const [one, two] = [await begin(quotas, ADA, 10_000), await begin(quotas, ADA, 15_000)];
    await one.release(9_500);
    assert.deepEqual(await refusalOf(begin(quotas, ADA, 10_000)), [
      "LIMIT_QUOTA",
      "The quota quotas.executionMsPerHour has too little left: of 25000 ms of execution time in an hour by ada, 9500 are used and 15000 are reserved by running programs; unused time is released when they end, and all of it in 3600 s (at the latest 1970-01-01T01:00:00.000Z)",
      "Retry when a running program has ended, or ask the operator to raise quotas.executionMsPerHour",
    ]);
    await two.release(15_000);
    assert.deepEqual(await refusalOf(begin(quotas, ADA, 10_000)), [
      "LIMIT_QUOTA",
      "The quota quotas.executionMsPerHour is used up: 24500 of 25000 ms of execution time in an hour by ada, 500 left; it resets in 3600 s (at the latest 1970-01-01T01:00:00.000Z)",
      "Wait and retry, or ask the operator to raise quotas.executionMsPerHour",
    ]);
  });
  it("shortens a program to the time that its session has left, and another session has its own time", async () => {
    const { quotas } = await open({ session: { ...NONE, executionMsPerHour: 1_500 } });
    const shortened = await begin(quotas, sessionOf("one"), 2_000);
    assert.deepEqual([shortened.wallMs, shortened.shortenedBy], [1_500, "quotas.session.executionMsPerHour"]);
    assert.equal(await countGranted([begin(quotas, sessionOf("one"), 2_000)]), 0);
    assert.equal((await begin(quotas, sessionOf("other"), 1_000)).wallMs, 1_000);
  });
  it("grants at least one second or the whole request, and refuses less", async () => {
    for (const [left, wallMs, expected] of [
      [1_000, 5_000, 1_000],
      [999, 5_000, undefined],
      [300, 300, 300],
      [299, 300, undefined],
    ] as const) {
      const { quotas } = await open({ executionMsPerHour: 10_000 });
      await begin(quotas, ADA, 10_000 - left);
      const grant = await begin(quotas, ADA, wallMs).catch(() => undefined);
      assert.equal(grant?.wallMs, expected, `${left} ${wallMs}`);
    }
  });
  it("supports quotas of less than a second", async () => {
    const { quotas } = await open({ executionMsPerHour: 50 });
    assert.equal((await begin(quotas)).wallMs, 50);
  });
  it("releases no time into another hour", async () => {
    const { quotas, clock } = await open({ executionMsPerHour: 10_000 });
    const old = await begin(quotas, ADA, 10_000);
    clock.at = 3_600_000;
    assert.equal((await begin(quotas, ADA, 6_000)).wallMs, 6_000);
    await old.release(0);
    assert.equal((await begin(quotas, ADA, 10_000)).wallMs, 4_000);
  });
});

describe("concurrentExecutions", () => {
  it("limits parallel executions and frees the slot of one that ends", async () => {
    const { quotas } = await open({ concurrentExecutions: 2 });
    const [first] = [await begin(quotas), await begin(quotas)];
    assert.match(
      String(await refusalOf(begin(quotas))),
      /2 of 2 parallel executions by ada, 0 left; a slot is free when/,
    );
    await begin(quotas, BOB);
    await first.release(1);
    assert.equal(await countGranted([begin(quotas), begin(quotas)]), 1);
  });
  it("limits parallel executions of one session, and another session has its own slots", async () => {
    const { quotas } = await open({ session: { ...NONE, concurrentExecutions: 1 } });
    const [one, other] = [sessionOf("one"), sessionOf("other")];
    const first = await begin(quotas, one);
    assert.match(String(await refusalOf(begin(quotas, one))), /1 of 1 parallel executions by one session of ada/);
    assert.equal(await countGranted([begin(quotas, other)]), 1);
    await first.release(1);
    assert.equal(await countGranted([begin(quotas, one)]), 1);
  });
  it("frees slots after a while when their process died", async () => {
    const { quotas, clock } = await open({ concurrentExecutions: 1 });
    await begin(quotas);
    clock.at = 100 + 600_000 - 1;
    assert.equal(await countGranted([begin(quotas)]), 0);
    clock.at += 1;
    assert.equal(await countGranted([begin(quotas)]), 1);
  });
});

describe("quotas.rates and quotas.prices", () => {
  it("counts calls of the tools that a rate names, and no others", async () => {
    const { quotas, clock } = await open({
      rates: [{ tools: ["shop.*"], calls: 3, windowMs: 5_000, per: "principal" }],
    });
    const calls = (who: Principal) => Array.from({ length: 5 }, () => call(quotas, who));
    assert.deepEqual([await countGranted(calls(ADA)), await countGranted(calls(BOB))], [3, 3]);
    assert.equal(await countGranted([call(quotas, ADA, toolOf("files.read", "read"))]), 1);
    assert.match(String(await refusalOf(call(quotas))), /quotas\.rates\[0\] is used up: 3 of 3 calls in 5 s by ada/);
    clock.at = 5_000;
    assert.equal(await countGranted(calls(ADA)), 3);
  });
  it("counts each session separately for per session", async () => {
    const { quotas } = await open({ rates: [{ tools: ["*"], calls: 2, windowMs: 5_000, per: "session" }] });
    const calls = (session: string) => Array.from({ length: 3 }, () => call(quotas, sessionOf(session)));
    assert.deepEqual([await countGranted(calls("one")), await countGranted(calls("other"))], [2, 2]);
  });
  it("adds prices for each session separately for session.costPerDay", async () => {
    const { quotas } = await open({ session: { ...NONE, costPerDay: 2 }, prices: new Map([["*", 1]]) });
    const calls = (session: string) => Array.from({ length: 3 }, () => call(quotas, sessionOf(session)));
    assert.deepEqual([await countGranted(calls("one")), await countGranted(calls("other"))], [2, 2]);
  });
  it("shares one count between principals for per total", async () => {
    const { quotas } = await open({ rates: [{ tools: ["*"], calls: 3, windowMs: 5_000, per: "total" }] });
    assert.equal(await countGranted([ADA, BOB, ADA, BOB].map((who) => call(quotas, who))), 3);
  });
  it("adds prices exactly, by the narrowest pattern", async () => {
    const prices = new Map([
      ["*", 5],
      ["shop.*", 1],
      ["shop.pay", 0.1],
    ]);
    const { quotas } = await open({ prices, costPerDay: 0.3 });
    assert.equal(await countGranted([call(quotas), call(quotas), call(quotas)]), 3);
    assert.match(
      String(await refusalOf(call(quotas))),
      /quotas\.costPerDay is used up: 0\.3 of 0\.3 cost in a day by ada, 0 left, and this call costs 0\.1; it resets in 86400 s/,
    );
    assert.equal(await countGranted([call(quotas, BOB, toolOf("shop.list", "read"))]), 0);
  });
});

describe("quotas of a tool that got digits for its name", () => {
  const { origin, ...rest } = toolOf("shop.pay1a2b3c", "write");
  const twin = { ...rest, origin: { ...origin, remoteName: "pay" }, plainName: "pay" };
  it("counts its calls for the rate and the price of its plain name", async () => {
    const rated = await open({ rates: [{ tools: ["shop.pay"], calls: 1, windowMs: 5_000, per: "principal" }] });
    assert.equal(await countGranted([call(rated.quotas, ADA, twin), call(rated.quotas, ADA, twin)]), 1);
    const priced = await open({ prices: new Map([["shop-server.pay", 1]]), costPerDay: 1 });
    assert.equal(await countGranted([call(priced.quotas, ADA, twin), call(priced.quotas, ADA, twin)]), 1);
    const other = await open({ prices: new Map([["shop.pays", 1]]), costPerDay: 1 });
    assert.equal(await countGranted([call(other.quotas, ADA, twin), call(other.quotas, ADA, twin)]), 2);
  });
});

describe("concurrent quota requests", () => {
  it("grants exactly the quota to 1,000 parallel calls", async () => {
    const { quotas } = await open({ rates: [{ tools: ["*"], calls: 100, windowMs: 60_000, per: "principal" }] });
    assert.equal(await countGranted(Array.from({ length: 1_000 }, () => call(quotas))), 100);
  });
  it("loses no unit and grants none twice, in any order of starts, ends and time", async () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant("begin" as const), wallMs: fc.integer({ min: 100, max: 6_000 }) }),
      fc.record({ kind: fc.constant("end" as const), usedMs: fc.nat(8_000), which: fc.nat(5) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        const { quotas, close } = await open({ executionMsPerHour: 10_000 });
        const running: { readonly grant: QuotaGrant }[] = [];
        let used = 0;
        for (const one of steps) {
          const reserved = running.reduce((sum, { grant }) => sum + grant.wallMs, 0);
          if (one.kind === "begin") {
            const left = 10_000 - used - reserved;
            const grant = await begin(quotas, ADA, one.wallMs).catch(() => undefined);
            assert.equal(grant?.wallMs ?? 0, left < Math.min(one.wallMs, 1_000) ? 0 : Math.min(one.wallMs, left));
            if (grant) running.push({ grant });
            continue;
          }
          const [ended] = running.splice(one.which % Math.max(1, running.length), 1);
          await ended?.grant.release(one.usedMs);
          used += Math.min(one.usedMs, ended?.grant.wallMs ?? 0);
        }
        await close();
      }),
      { numRuns: 40 },
    );
  });
});

describe("quotas after a restart", () => {
  it("keep used and unreleased units, and two processes share one count", async (context) => {
    const folder = mkdtempSync(join(tmpdir(), "glovebox-quotas-"));
    context.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));
    const options = { clock: { at: 0 }, path: join(folder, "store.db") };
    const settings = { executionsPerMinute: 4, executionMsPerHour: 30_000 };
    const first = await open(settings, options);
    await (await begin(first.quotas, ADA, 10_000)).release(1_000);
    await begin(first.quotas, ADA, 10_000);
    const second = await open(settings, options);
    assert.equal((await begin(second.quotas, ADA, 15_000)).wallMs, 15_000);
    assert.equal((await begin(first.quotas, ADA, 10_000)).wallMs, 4_000);
    await first.close();
    await second.close();
    const third = await open(settings, options);
    assert.equal(await countGranted([begin(third.quotas)]), 0);
    await third.close();
  });
  it("quotas after a restart do not grant more when the clock is set back", async () => {
    const { quotas, clock } = await open({ executionsPerMinute: 1 }, { clock: { at: 10_000_000 } });
    await begin(quotas);
    clock.at = 5_000;
    assert.equal(await countGranted([begin(quotas)]), 0);
    clock.at = 65_000;
    assert.equal(await countGranted([begin(quotas)]), 1);
  });
});
