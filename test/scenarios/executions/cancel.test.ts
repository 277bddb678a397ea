/**
 * An execution that is cancelled at any stage, by its client, by an operator in another process or by shutdown, leaves
 * a ledger in which everything that started has one end.
 */

import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, test } from "node:test";
import type { TestContext } from "node:test";

import { createGlovebox } from "glovebox";
import type { ExecutionResult, Glovebox } from "glovebox";

import type { ExecutionEvent } from "../../../src/domain/index.ts";
import { openStore } from "../../../src/store/index.ts";
import type { StoredRecord } from "../../../src/store/index.ts";
import { findStore, makeUntypedFolder, probe, runGlovebox } from "../../fixtures/product.ts";

/** A program of each stage, and the event that shows that it is there. */
const STAGES = {
  running: ["console.log('begun'); for (let n = 0; n >= 0; n = (n + 1) % 7) { }", "log"],
  "in a call that reads": ["await probe.hang({})", "called"],
  "in a call that changes something": ["await probe.change({})", "called"],
  "between calls": ["for (;;) await probe.echo({})", "answered"],
  "waiting for a person": ["await probe.destroy({})", "asked"],
  // The five programs above use all workers.
  "waiting for its turn": ["await probe.hang({})", "opened"],
} as const satisfies Record<string, readonly [string, ExecutionEvent["kind"]]>;

const WAITING_FOR_A_PERSON = Object.keys(STAGES).indexOf("waiting for a person");

interface Begun {
  readonly execution: string;
  readonly result: Promise<ExecutionResult>;
}

interface StartedGlovebox {
  readonly folder: string;
  readonly glovebox: Glovebox;
  readonly cancel: AbortController;
}

/** How an execution is ended from outside; an operator uses another process. */
const CAUSES: Readonly<Record<string, (started: StartedGlovebox, begun: readonly Begun[]) => Promise<unknown>>> = {
  "the client": async ({ cancel }) => cancel.abort(),
  "an operator": ({ folder }, begun) => Promise.all(begun.map(({ execution }) => cancelFrom(folder, execution))),
  "the shutdown of Glovebox": ({ glovebox }) => glovebox.close(),
};

const ENOUGH = { wallMs: 120_000, cpuMs: 120_000, callMs: 120_000, calls: 100_000 };

async function startWith(context: TestContext, server: ReturnType<typeof probe>): Promise<StartedGlovebox> {
  const folder = makeUntypedFolder(context, {
    mcpServers: { probe: { ...server, startupTimeoutMs: 120_000 } },
    policy: { profile: "open", rules: [{ decision: "ask", tools: ["probe.destroy"], reason: "It destroys" }] },
    approvals: { graceMs: 120_000 },
    analysis: { rules: { "no-infinite-loop": "off" } },
    sandbox: { concurrency: 5, limits: ENOUGH },
  });
  const glovebox = await createGlovebox(join(folder, "glovebox.config.json"));
  context.after(() => glovebox.close());
  return { folder, glovebox, cancel: new AbortController() };
}

/** Resolves when the program has reached its stage. */
async function begin(
  { glovebox, cancel }: StartedGlovebox,
  code: string,
  stage: ExecutionEvent["kind"],
): Promise<Begun> {
  const there = Promise.withResolvers<void>();
  const opened = Promise.withResolvers<string>();
  const onEvent = (event: ExecutionEvent): void => {
    if (event.kind === "opened") opened.resolve(event.execution);
    if (event.kind === stage) there.resolve();
  };
  const result = glovebox.execute({ code, signal: cancel.signal, onEvent });
  await Promise.race([there.promise, result.then((early) => assert.fail(JSON.stringify(early)))]);
  return { execution: await opened.promise, result };
}

async function cancelFrom(folder: string, execution: string): Promise<void> {
  const { code, stdout, stderr } = await runGlovebox(["executions", "cancel", execution, "--json"], { folder });
  const { id, state } = JSON.parse(stdout) as { readonly id: string; readonly state: string };
  assert.deepEqual([code, id, state, stderr], [0, execution, "cancelled", ""]);
}

async function readLedger(folder: string): Promise<readonly StoredRecord[]> {
  await using store = await openStore({ path: findStore(folder), now: Date.now });
  return store.ledger.read({ from: 1, limit: 1_000_000 });
}

const nameOf = ({ detail }: StoredRecord): string => {
  const { execution, seq } = JSON.parse(detail) as { readonly execution: string; readonly seq: number };
  return `${execution} ${seq}`;
};

/** Checks that each execution is opened once and closed once, and that each intended call has one end. */
async function checkLedger(folder: string, begun: readonly Begun[]): Promise<void> {
  const records = await readLedger(folder);
  const of = (action: string): readonly StoredRecord[] => records.filter((record) => record.action === action);
  const expected = begun.map(({ execution }) => execution).toSorted();
  for (const action of ["execution.opened", "execution.closed"])
    assert.deepEqual(
      of(action)
        .map(({ subject }) => subject)
        .toSorted(),
      expected,
      action,
    );
  const ended = of("call.ended");
  assert.deepEqual(ended.map(nameOf).toSorted(), of("call.intended").map(nameOf).toSorted());
  assert.ok(!ended.some(({ detail }) => detail.includes("INTERNAL_BUG")));
  const { code, stdout } = await runGlovebox(["audit", "verify"], { folder });
  assert.equal(code, 0, stdout);
}

describe("a cancelled execution", { concurrency: 2 }, () => {
  for (const [cause, act] of Object.entries(CAUSES)) {
    test(`the ledger has one end for everything when ${cause} cancels executions at each stage`, async (context) => {
      const started = await startWith(context, probe("--mute"));
      const begun: Begun[] = [];
      for (const [code, stage] of Object.values(STAGES)) begun.push(await begin(started, code, stage));
      await act(started, begun);
      const results = await Promise.all(begun.map(({ result }) => result));
      const codes = results.flatMap(({ error }) => error?.code ?? []);
      assert.deepEqual(new Set(codes), new Set(["REQUEST_CANCELLED"]));
      const states = results.map(({ state }) => state);
      const [waiting] = states.splice(WAITING_FOR_A_PERSON, 1);
      assert.deepEqual(new Set(states), new Set(["cancelled"]));
      assert.deepEqual(
        results[2]?.calls.map(({ outcome }) => outcome),
        ["unknown"],
      );
      await started.glovebox.close();
      // It can stay suspended without a running Glovebox, and then has no owner.
      assert.equal(waiting, cause === "the shutdown of Glovebox" ? "paused" : "cancelled");
      if (waiting === "paused") await cancelFrom(started.folder, begun[WAITING_FOR_A_PERSON]?.execution ?? "");
      await checkLedger(started.folder, begun);
    });

    test(`the ledger has one end for everything when ${cause} cancels while the program waits for its server`, async (context) => {
      const started = await startWith(context, probe("--silent"));
      const begun = [await begin(started, "await probe.echo({})", "opened")];
      await act(started, begun);
      const [{ state, calls } = assert.fail()] = await Promise.all(begun.map(({ result }) => result));
      assert.deepEqual([state, calls], ["cancelled", []]);
      await started.glovebox.close();
      await checkLedger(started.folder, begun);
    });
  }
});
