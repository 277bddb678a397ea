/** Executions that V8 takes over, through the whole gateway: suspended, resumed, killed during the change and after it. */

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { getPriority } from "node:os";
import { describe, test } from "node:test";

import type { ExecutionView } from "../../src/domain/index.ts";
import { LOWEST_PRIORITY } from "../../src/sandbox/priority.ts";
import {
  OPERATOR,
  begin,
  openDurableGateways,
  run,
  waitForPending,
  waitForState,
} from "../fixtures/durable-gateway.ts";
import type { DurableGateways } from "../fixtures/durable-gateway.ts";
import { commandOf, listDescendants, until } from "../fixtures/processes.ts";

/** QuickJS asks for V8 before it reads such a date. */
const ASK = 'new Date("Jan 1, 2026 UTC").getTime();';
/** Keeps V8 from repeating the program: there a match has its keys in another order. */
const STAY = `const keys = Object.keys("a".match(/a/));
  let n = keys.indexOf("index") < keys.indexOf("groups") ? 1 : 0;
  while (n > 0) n = (n % 7) + 1;`;

/** Makes a change before and after the place where `middle` is. */
function programOf(middle: string, start = ""): string {
  return `${start}
    const began = [Date.now(), Math.random(), crypto.randomUUID()];
    console.log("began", began.length);
    const all = [await shop.put({ n: 1 })];
    ${middle}
    all.push(await shop.put({ n: 4 }));
    return { began, all: all.map(({ n }) => n), later: Date.now() >= began[0] };`;
}

const pay = (n: number): string => `all.push(await shop.pay({ n: ${n} }));`;

async function approve(durable: DurableGateways): Promise<void> {
  const approvals = await durable.openApprovals();
  for (const { id } of await waitForPending(approvals, 1)) await approvals.decide(id, { verdict: "approve" }, OPERATOR);
}

/** The engine, the changes so far, and the lines, of an execution in any state. */
function shown({ state, engine, stats, logs }: ExecutionView) {
  return [state, engine, stats.switches, logs.map(({ text }) => text)];
}

function valuesOf({ value }: ExecutionView): unknown {
  const { all, later } = value as { readonly all: unknown; readonly later: unknown };
  return [all, later];
}

describe("a suspended execution and the engine auto", { concurrency: 2 }, () => {
  for (const [when, middle, engines] of [
    ["before it is suspended", `${ASK} ${pay(2)} ${pay(3)}`, ["isolate", "isolate", "isolate", 1]],
    ["after it was resumed", `${pay(2)} ${ASK} ${pay(3)}`, ["quickjs", "isolate", "isolate", 1]],
    ["never", `${pay(2)} ${pay(3)}`, ["quickjs", "quickjs", "quickjs", 0]],
  ] as const)
    test(`a program that changes its engine ${when} continues on its last engine, with each call once`, async () => {
      await using durable = await openDurableGateways();
      const gateway = await durable.open();
      const { execution } = await run(gateway, programOf(middle));
      const [first, second, last, switches] = engines;
      const lines = ["began 3"];
      const paused = await waitForState(gateway, execution, "paused");
      assert.deepEqual(shown(paused), ["paused", first, first === "isolate" ? 1 : 0, lines]);
      await approve(durable);
      await durable.shop.waitForRequest("pay 2");
      const again = await waitForState(gateway, execution, "paused", "failed");
      assert.deepEqual(shown(again), ["paused", second, switches, lines]);
      await approve(durable);
      const done = await waitForState(gateway, execution, "completed", "failed");
      assert.deepEqual(shown(done), ["completed", last, switches, lines]);
      assert.deepEqual(valuesOf(done), [[7, 14, 21, 28], true]);
      assert.deepEqual(durable.shop.received, ["put 1", "pay 2", "pay 3", "put 4"]);
    });
});

/** Waits until a child of V8, not `other`, computes in the loop of `STAY`: then it has the lowest priority. */
async function findStuck(other?: number): Promise<number> {
  const isStuck = (pid: number): boolean =>
    pid !== other && /^\S*node --no-node-snapshot/.test(commandOf(pid)) && priorityOf(pid) === LOWEST_PRIORITY;
  await until(() => listDescendants(process.pid).some(isStuck), 60_000);
  return listDescendants(process.pid).find(isStuck) ?? assert.fail();
}

/** `undefined` for a process that has ended. */
function priorityOf(pid: number): number | undefined {
  try {
    return getPriority(pid);
  } catch {
    return undefined;
  }
}

describe("a gateway that is killed", { skip: !existsSync("/proc/self") }, () => {
  test("an execution continues on V8 if its gateway was killed after the change", async () => {
    await using durable = await openDurableGateways();
    const answer = durable.shop.hold("keep 2");
    const { execution, result } = await begin(durable, programOf(`${ASK} all.push(await shop.keep({ n: 2 }));`));
    await durable.shop.waitForRequest("keep 2");
    await using copy = durable.fork();
    answer();
    const undisturbed = await result;
    const view = await waitForState(await copy.open(), execution, "completed", "failed");
    assert.deepEqual(shown(view), ["completed", "isolate", 0, ["began 3"]]);
    assert.deepEqual([undisturbed.engine, undisturbed.stats.switches], ["isolate", 1]);
    assert.deepEqual(view.value, undisturbed.value);
    assert.deepEqual(copy.shop.received, ["keep 2", "put 4"]);
  });

  test("an execution whose V8 child is killed during the change makes each call once, also after its gateway died", async () => {
    await using durable = await openDurableGateways({ config: { sandbox: { limits: { wallMs: 600_000 } } } });
    const { execution, result } = await begin(durable, programOf(ASK, STAY));
    const stuck = await findStuck();
    await using copy = durable.fork();
    process.kill(stuck, "SIGKILL");
    const undisturbed = await result;
    assert.deepEqual(shown(undisturbed), ["completed", "quickjs", 0, ["began 3"]]);
    const recovered = await copy.open();
    process.kill(await findStuck(stuck), "SIGKILL");
    const view = await waitForState(recovered, execution, "completed", "failed");
    assert.deepEqual(shown(view), shown(undisturbed));
    assert.deepEqual(view.value, undisturbed.value);
    assert.deepEqual([durable.shop.received, copy.shop.received], [["put 1", "put 4"], ["put 4"]]);
  });
});
