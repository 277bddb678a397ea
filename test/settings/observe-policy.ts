/** Observations of the settings of policy and quotas: the same programs with two configurations. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { defineAdapter } from "../../src/main.ts";
import { compare, outcomeOf, run, shareGlovebox, sideBySide, withGlovebox } from "../fixtures/observe-settings.ts";
import type { Case, EntryPair, Observation } from "../fixtures/observe-settings.ts";

const CHANGE = "return (await probe.change({})).done";
const PAY = 'return (await probe.change({ to: ["a@x", "b@y"], amount: 5, region: "eu" })).done';
const DENIED = "POLICY_DENIED";

/** Two rules for two tools of their own, in one gateway: the first one denies. */
const rulePair = (denied: object, other: object): EntryPair => ({
  observe: async (name) => outcomeOf(await (await openRules()).execute({ code: PAY.replace("change", name) })),
  cases: [
    [{ decision: "deny", ...denied }, DENIED],
    [{ decision: "deny", ...other }, true],
  ],
});

const condition = (denied: object, allowed: object): EntryPair => rulePair({ when: [denied] }, { when: [allowed] });

const { entries, observations } = sideBySide("policy.rules[]", {
  decision: rulePair({}, { decision: "allow" }),
  effects: rulePair({ effects: ["write"] }, { effects: ["destroy"] }),
  principals: rulePair({ principals: ["library"] }, { principals: ["local"] }),
  groups: rulePair({ groups: ["none"], principals: ["library"] }, { groups: ["none"] }),
  servers: rulePair({ servers: ["probe"] }, { servers: ["other"] }),
  "when[].path": condition({ path: "region", equals: "eu" }, { path: "to[0]", equals: "eu" }),
  "when[].equals": condition({ path: "amount", equals: 5 }, { path: "amount", equals: 6 }),
  "when[].is": condition({ path: "amount", is: 5 }, { path: "amount", is: 6 }),
  "when[].oneOf": condition({ path: "amount", oneOf: [4, 5] }, { path: "amount", oneOf: [4, 6] }),
  "when[].prefix": condition({ path: "to[*]", prefix: "b@" }, { path: "to[*]", prefix: "c@" }),
  "when[].matches": condition({ path: "to[*]", matches: "*@y" }, { path: "to[*]", matches: "*@z" }),
  "when[].min": condition({ path: "amount", min: 5 }, { path: "amount", min: 5.1 }),
  "when[].max": condition({ path: "amount", max: 5 }, { path: "amount", max: 4.9 }),
  "when[].not": condition({ path: "region", equals: "us", not: true }, { path: "region", equals: "us", not: false }),
  "when[].missing": condition(
    { path: "force", equals: true, missing: "holds" },
    { path: "force", equals: true, missing: "fails" },
  ),
});

const openRules = shareGlovebox(() => ({
  policy: { rules: Object.entries(entries).map(([name, rule]) => ({ tools: [`probe.${name}`], ...Object(rule) })) },
  adapters: [
    defineAdapter({
      name: "probe",
      tools: Object.fromEntries(
        Object.keys(entries).map((name) => [
          name,
          { description: "Pays.", input: { type: "object" }, effect: "write", run: () => ({ done: true }) } as const,
        ]),
      ),
    }),
  ],
}));

/** Runs the program this many times in sequence and returns how many runs no quota refused. */
const repeat =
  (code: string, times: number): Observation =>
  (config) =>
    withGlovebox(config, async (glovebox) => {
      let granted = 0;
      for (let count = 0; count < times; count += 1) {
        const outcome = outcomeOf(await glovebox.execute({ code }));
        if (outcome !== "LIMIT_QUOTA") granted += 1;
      }
      return granted;
    });

/** Like `repeat`, but all at once. */
const atOnce =
  (code: string, times: number): Observation =>
  (config) =>
    withGlovebox(config, async (glovebox) => {
      const results = await Promise.all(Array.from({ length: times }, () => glovebox.execute({ code })));
      return results.filter((result) => outcomeOf(result) !== "LIMIT_QUOTA").length;
    });

const quotas = (observe: Observation, ...cases: readonly [Case, Case]): (() => Promise<void>) => {
  const [one, other] = cases;
  return compare(observe, [{ quotas: one[0] }, one[1]], [{ quotas: other[0] }, other[1]]);
};

const EXECUTIONS = repeat("return 1", 3);
const HELD = atOnce("await probe.wait({ ms: 150 })", 3);
const CALLS = repeat(CHANGE, 3);
const PRICES = { "probe.*": 1 };
const rate = (more: object): object => ({ rates: [{ tools: ["probe.*"], calls: 2, ...more }] });

/** The first one uses all the available time, and the quota ends it. */
const TIME = repeat("await new Promise((done) => setTimeout(done, 120)); return 1", 3);

/** The counter that refused. */
const REFUSED = run(
  `${CHANGE.replace("return", "")}; ${CHANGE}`,
  ({ error }) => / by (.*), 0 left/.exec(error?.message ?? "")?.[1],
);

function total(more: object): unknown {
  return { prices: PRICES, total: more };
}

function session(more: object): unknown {
  return { prices: PRICES, session: more };
}

export const QUOTA_OBSERVATIONS: Readonly<Record<string, () => Promise<void>>> = {
  "quotas.executionsPerMinute": quotas(EXECUTIONS, [{ executionsPerMinute: 2 }, 2], [{ executionsPerMinute: 3 }, 3]),
  "quotas.executionMsPerHour": quotas(TIME, [{ executionMsPerHour: 50 }, 0], [{ executionMsPerHour: 0 }, 3]),
  "quotas.concurrentExecutions": quotas(HELD, [{ concurrentExecutions: 2 }, 2], [{ concurrentExecutions: 3 }, 3]),
  "quotas.costPerDay": quotas(CALLS, [{ costPerDay: 2.5, prices: PRICES }, 2], [{ costPerDay: 3, prices: PRICES }, 3]),
  "quotas.prices": quotas(
    CALLS,
    [{ costPerDay: 2, prices: PRICES }, 2],
    [{ costPerDay: 2, prices: { ...PRICES, "probe.change": 0.5 } }, 3],
  ),
  "quotas.rates[].calls": quotas(CALLS, [rate({ calls: 1 }), 1], [rate({ calls: 3 }), 3]),
  "quotas.rates[].per": quotas(
    REFUSED,
    [rate({ calls: 1, per: "total" }), "all principals together"],
    [rate({ calls: 1 }), "library"],
  ),
  "quotas.rates[].tools": quotas(CALLS, [rate({}), 2], [rate({ tools: ["probe.echo"] }), 3]),
  "quotas.rates[].windowMs": quotas(
    repeat(`await new Promise((done) => setTimeout(done, 1_100)); ${CHANGE}`, 2),
    [rate({ calls: 1, windowMs: 60_000 }), 1],
    [rate({ calls: 1, windowMs: 1_000 }), 2],
  ),
  "quotas.session.executionsPerMinute": quotas(EXECUTIONS, [session({ executionsPerMinute: 1 }), 1], [session({}), 3]),
  "quotas.session.executionMsPerHour": quotas(TIME, [session({ executionMsPerHour: 50 }), 0], [session({}), 3]),
  "quotas.session.concurrentExecutions": quotas(HELD, [session({ concurrentExecutions: 1 }), 1], [session({}), 3]),
  "quotas.session.costPerDay": quotas(CALLS, [session({ costPerDay: 1 }), 1], [session({}), 3]),
  "quotas.total.executionsPerMinute": quotas(EXECUTIONS, [total({ executionsPerMinute: 1 }), 1], [total({}), 3]),
  "quotas.total.executionMsPerHour": quotas(TIME, [total({ executionMsPerHour: 50 }), 0], [total({}), 3]),
  "quotas.total.concurrentExecutions": quotas(HELD, [total({ concurrentExecutions: 1 }), 1], [total({}), 3]),
  "quotas.total.costPerDay": quotas(CALLS, [total({ costPerDay: 1 }), 1], [total({}), 3]),
};

/** `folder` is where rule files are written. */
export function policyObservations(folder: string): Readonly<Record<string, () => Promise<void>>> {
  const file = (rule: object): unknown => {
    const path = join(folder, `rules-${JSON.stringify(rule).length}.json`);
    writeFileSync(path, JSON.stringify({ rules: [rule] }));
    return { policy: { file: path } };
  };
  return {
    "policy.file": compare(
      run(CHANGE),
      [file({ decision: "deny", effects: ["write"] }), DENIED],
      [file({ decision: "deny", effects: ["destroy"] }), true],
    ),
    "policy.groups": compare(
      run(CHANGE),
      [{ policy: { groups: { staff: ["library"] }, rules: [{ decision: "deny", groups: ["staff"] }] } }, DENIED],
      [{ policy: { groups: { staff: ["other"] }, rules: [{ decision: "deny", groups: ["staff"] }] } }, true],
    ),
    "policy.effects": compare(
      run(CHANGE),
      [{ policy: { effects: { "probe.change": "destroy" } } }, "paused"],
      [{ policy: { effects: { "probe.change": "read" } } }, true],
    ),
    ...observations,
  };
}
