/** What a session has read, when it counts, and how long it is remembered. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import * as fc from "fast-check";

import { AGENT, EXECUTION, known } from "../../../test/fixtures/bridge/test-bridge.ts";
import { ERRORS, parseExecutionId } from "../../domain/index.ts";
import type { CallPlan, ErrorCode, Principal, Reply, Tool } from "../../domain/index.ts";
import { openStore } from "../../store/index.ts";
import { FORGET_MS } from "./open-flows.ts";
import type { CallFlow, ExecutionFlow } from "./open-flows.ts";
import {
  SECRET,
  STRANGE,
  PLAIN,
  SEND,
  SNAPSHOT,
  CALL,
  PLAN,
  OK,
  judge,
  read,
  readLabels,
  send,
  sendAs,
  openWorld,
  inSession,
  GRACE,
} from "./fixtures/flow-world.ts";
import type { World } from "./fixtures/flow-world.ts";

describe("CallFlow", () => {
  it("requires approval if and only if both labels were delivered before the call is decided", async () => {
    const event = fc.record({ kind: fc.constantFrom("arrive", "deliver", "judge"), which: fc.nat(3), at: fc.nat(8) });
    await fc.assert(
      fc.asyncProperty(fc.array(event, { maxLength: 40 }), async (events) => {
        const flow = (await openWorld()).open();
        const calls: { readonly arrival: CallFlow; readonly tool: Tool }[] = [];
        const delivered = new Set<string>();
        for (const { kind, which, at } of events) {
          const call = calls[at % Math.max(1, calls.length)];
          if (kind === "arrive") {
            const tool = [SECRET, STRANGE, PLAIN, SEND][which] ?? SEND;
            calls.push({ arrival: flow.arrive(), tool });
          } else if (call) {
            const isDue = call.tool === SEND && delivered.size === 2;
            assert.equal(judge(call.arrival, call.tool), isDue ? "ask" : undefined);
            if (kind !== "deliver") continue;
            await call.arrival.deliver(OK, true);
            for (const label of readLabels(call.tool)) delivered.add(label);
          }
        }
      }),
      { numRuns: 60 },
    );
  });

  it("adds the labels of a failed call, and none of a refused call", async () => {
    const failed = (code: ErrorCode): Reply => ({ ok: false, error: { code, message: "", retry: ERRORS[code].retry } });
    for (const [code, isSent, expected] of [
      ["UPSTREAM_FAILED", true, "ask"],
      ["UPSTREAM_FAILED", false, "ask"],
      ["UPSTREAM_TIMEOUT", true, "ask"],
      ["POLICY_DENIED", false, undefined],
      ["POLICY_APPROVAL_PENDING", false, undefined],
      ["LIMIT_QUOTA", false, undefined],
      ["LIMIT_QUOTA", true, "ask"],
      ["EGRESS_DENIED", false, undefined],
      // The first host redirected to one that is not allowed.
      ["EGRESS_DENIED", true, "ask"],
    ] as const) {
      const flow = (await openWorld()).open();
      await read(flow, SECRET);
      await read(flow, STRANGE, failed(code), isSent);
      assert.equal(send(flow), expected, `${code} ${isSent}`);
    }
    const flow = (await openWorld()).open();
    await flow.arrive().deliver(OK, true);
    assert.deepEqual(flow.sources(), []);
  });

  it("allows a call that the program begins with once, and only in a program from before both labels", async () => {
    const world = await openWorld();
    const first = world.open(undefined, PLAN);
    await read(first, SECRET);
    await read(first, STRANGE);
    assert.deepEqual([sendAs(first, 3), sendAs(first, 4)], [undefined, "ask"]);
    assert.equal(sendAs(world.open(undefined, PLAN), 3), "ask");
  });

  it("allows such a call only to the last program, and if no other has read labeled data since it arrived", async () => {
    for (const [others, expected] of [
      [[], undefined],
      [[PLAIN], undefined],
      [[SECRET], "ask"],
    ] as const) {
      const world = await openWorld();
      const other = known(parseExecutionId(`ex_${"b".repeat(24)}`));
      const principal = inSession("a");
      const first = world.flows.open({ principal, execution: other, snapshot: SNAPSHOT, plan: PLAN });
      const last = world.open(principal, PLAN);
      for (const tool of others) await read(first, tool);
      await read(last, SECRET);
      await read(last, STRANGE);
      assert.deepEqual([sendAs(first, 3, other), sendAs(last, 3)], ["ask", expected]);
    }
  });

  it("delivers a reply with both labels after the calls that left before have settled", async () => {
    for (const [tools, isHeld] of [
      [[SECRET], false],
      [[SECRET, STRANGE], true],
    ] as const) {
      const flow = (await openWorld()).open();
      const sending = flow.arrive();
      judge(sending, SEND);
      sending.leave();
      const events: string[] = [];
      const delivered = Promise.all(tools.map((tool) => read(flow, tool))).then(() => events.push("delivered"));
      await new Promise((done) => setImmediate(done));
      events.push("settled");
      sending.settle();
      await delivered;
      assert.deepEqual(events, isHeld ? ["settled", "delivered"] : ["delivered", "settled"]);
    }
  });

  it("holds no reply back for a call that needs approval or has settled", async () => {
    const flow = (await openWorld()).open();
    const [early, late] = [flow.arrive(), flow.arrive()];
    judge(early, SEND);
    early.leave();
    early.settle();
    await read(flow, SECRET);
    await read(flow, STRANGE);
    assert.equal(judge(late, SEND), "ask");
    late.leave();
    await read(flow, SECRET);
  });
});

describe("a client session", () => {
  it("carries labels to the next execution with the first call that returned each", async () => {
    const world = await openWorld();
    await read(world.open(), SECRET);
    const [first] = world.open().sources();
    await read(world.open(), SECRET);
    const flow = world.open();
    assert.equal(send(flow), undefined);
    await read(flow, STRANGE);
    assert.equal(send(world.open()), "ask");
    assert.deepEqual(
      flow.sources().map(({ label, tool }) => [label, tool]),
      [
        ["private", "files.secret"],
        ["untrusted", "files.strange"],
      ],
    );
    assert.deepEqual(flow.sources()[0], first);
  });

  it("a client session is separate from other sessions, other principals and requests without a session", async () => {
    const world = await openWorld();
    await read(world.open(), SECRET);
    await read(world.open(), STRANGE);
    const others = [inSession("b"), AGENT, GRACE, { ...GRACE, session: "a" }];
    assert.deepEqual(
      others.map((other) => send(world.open(other))),
      others.map(() => undefined),
    );
    assert.equal(send(world.open()), "ask");
  });

  it("adds the labels of data that reaches the client without a call", async () => {
    const world = await openWorld();
    const source = { tool: SECRET.address, execution: EXECUTION, seq: 1 };
    const flow = world.open();
    await world.flows.takeIn(inSession("a"), [
      { ...source, label: "private" },
      { ...source, label: "untrusted" },
    ]);
    assert.equal(send(flow), "ask");
  });

  it("a client session can be read through a running execution", async () => {
    const world = await openWorld();
    await read(world.open(), SECRET);
    assert.deepEqual(
      world.flows.sourcesOf(EXECUTION).map(({ label }) => label),
      ["private"],
    );
  });

  it("returns in advance what it will have read after a call", async () => {
    const flow = (await openWorld()).open();
    await read(flow, STRANGE);
    assert.deepEqual(
      flow.sourcesWith(SECRET, 9).map(({ label, seq: at }) => [label, at === 9]),
      [
        ["untrusted", false],
        ["private", true],
      ],
    );
    assert.equal(flow.sources().length, 1);
  });

  it("a client session is forgotten after ten thousand newer sessions and not earlier", async () => {
    const world = await openWorld();
    await read(world.open(), SECRET);
    for (let n = 1; n < 10_000; n += 1) world.open(inSession(`other ${n}`));
    assert.equal(world.open().sources().length, 1);
    for (let n = 0; n < 10_000; n += 1) world.open(inSession(`more ${n}`));
    assert.equal(world.open().sources().length, 0);
  });
});

describe("a principal without sessions", () => {
  const taint = async (world: World): Promise<void> => {
    await read(world.open(AGENT), SECRET);
    await read(world.open(AGENT), STRANGE);
  };

  it("keeps its labels after a restart; a named session does not", async () => {
    const world = await openWorld();
    await taint(world);
    await read(world.open(inSession("a")), SECRET);
    const again = await openWorld(world.store);
    assert.deepEqual(again.open(AGENT).sources(), world.open(AGENT).sources());
    assert.equal(send(again.open(AGENT)), "ask");
    assert.deepEqual(again.open(inSession("a")).sources(), []);
  });

  it("a principal without sessions loses its labels after eight hours without labeled reads, also after a restart", async () => {
    for (const [later, expected] of [
      [FORGET_MS - 1, "ask"],
      [FORGET_MS, undefined],
      [FORGET_MS + 1, undefined],
    ] as const) {
      const world = await openWorld();
      await taint(world);
      world.now = 1 + later;
      assert.equal(send(world.open(AGENT)), expected, String(later));
    }
  });

  it("keeps its labels longer when it continues to read, also in the store", async () => {
    const world = await openWorld();
    await taint(world);
    world.now = FORGET_MS - 1;
    await read(world.open(AGENT), SECRET);
    world.now = FORGET_MS + 10;
    assert.equal(send(world.open(AGENT)), "ask");
    assert.deepEqual(
      (await world.store.labels.list(0)).map(({ takenAt }) => takenAt),
      [FORGET_MS - 1],
    );
  });

  it("a principal without sessions is not stored again for every call", async () => {
    const world = await openWorld();
    await taint(world);
    for (const [now, written] of [
      [60_000, 1],
      [60_001, 60_001],
    ] as const) {
      world.now = now;
      await read(world.open(AGENT), SECRET);
      const [row] = await world.store.labels.list(0);
      assert.equal(row?.takenAt, written);
    }
  });
});

describe("a session that passes its labels on", () => {
  const LABEL_MS = 1_000;
  const passing = (session: string): Principal => ({ ...inSession(session), passesLabels: true });
  const labelsOf = (flow: ExecutionFlow) => flow.sources().map(({ label }) => label);

  it("gives its labels to later sessions and to requests without one, and to no other principal", async () => {
    const world = await openWorld(undefined, LABEL_MS);
    await read(world.open(passing("a")), SECRET);
    await read(world.open(passing("b")), STRANGE);
    assert.equal(send(world.open(passing("c"))), "ask");
    assert.equal(send(world.open(AGENT)), "ask");
    assert.deepEqual(world.open(passing("c")).sources(), world.open(passing("b")).sources());
    assert.deepEqual(labelsOf(world.open({ ...GRACE, session: "c", passesLabels: true })), []);
    assert.deepEqual(labelsOf(world.open(inSession("d"))), [], "a session that passes nothing on inherits nothing");
  });

  it("gives no labels to a session that was in use before, and takes none from one that keeps them", async () => {
    const world = await openWorld(undefined, LABEL_MS);
    const early = world.open(passing("early"));
    await read(world.open(inSession("a")), SECRET);
    await read(world.open(passing("b")), STRANGE);
    assert.deepEqual(labelsOf(early), []);
    assert.deepEqual(labelsOf(world.open(passing("c"))), ["untrusted"]);
  });

  it("passes labels on just before the time is over, and not at its end or later", async () => {
    for (const [later, expected] of [
      [LABEL_MS - 1, ["private"]],
      [LABEL_MS, []],
      [LABEL_MS + 1, []],
    ] as const) {
      const world = await openWorld(undefined, LABEL_MS);
      await read(world.open(passing("a")), SECRET);
      world.now = 1 + later;
      assert.deepEqual(labelsOf(world.open(passing("b"))), expected, String(later));
      assert.deepEqual(labelsOf(world.open(passing("a"))), ["private"], "the session itself keeps them");
      const again = await openWorld(world.store, LABEL_MS);
      again.now = world.now;
      assert.deepEqual(labelsOf(again.open(passing("b"))), expected, `${later}, after a restart`);
    }
  });

  it("passes labels on for longer than eight hours where that is set", async () => {
    const world = await openWorld(undefined, 2 * FORGET_MS);
    await read(world.open(passing("a")), SECRET);
    world.now = 2 * FORGET_MS;
    assert.deepEqual(labelsOf(world.open(passing("b"))), ["private"]);
  });

  it("passes nothing on that was stored before labels were passed on", async () => {
    const store = await openStore({ path: ":memory:", now: () => 0 });
    const source = { label: "private", tool: SECRET.address, execution: EXECUTION, seq: 1 } as const;
    await store.labels.put({ principal: AGENT.id, sources: [source], takenAt: 0 });
    const world = await openWorld(store, LABEL_MS);
    assert.deepEqual([labelsOf(world.open(passing("a"))), labelsOf(world.open(AGENT))], [[], ["private"]]);
    await read(world.open(AGENT), STRANGE);
    assert.deepEqual(labelsOf(world.open(passing("b"))), ["private", "untrusted"]);
  });

  it("passes nothing on where that is turned off", async () => {
    const world = await openWorld(undefined, 0);
    await read(world.open(passing("a")), SECRET);
    assert.deepEqual([labelsOf(world.open(passing("b"))), labelsOf(world.open(AGENT))], [[], []]);
    assert.deepEqual(await world.store.labels.list(0), []);
  });

  it("has no exempt call after it inherited a label", async () => {
    for (const [inherited, expected] of [
      [true, "ask"],
      [false, undefined],
    ] as const) {
      const world = await openWorld(undefined, LABEL_MS);
      if (inherited) await read(world.open(passing("a")), SECRET);
      const flow = world.open(passing("b"), PLAN);
      await read(flow, SECRET);
      await read(flow, STRANGE);
      assert.equal(sendAs(flow, 3), expected);
    }
  });

  it("keeps what it passes on while ten thousand newer sessions are opened", async () => {
    const world = await openWorld(undefined, LABEL_MS);
    await read(world.open(passing("a")), SECRET);
    for (let n = 0; n < 10_001; n += 1) world.open(passing(`other ${n}`));
    assert.deepEqual(labelsOf(world.open(passing("a"))), ["private"]);
  });
});

describe("the calls that a program begins with", () => {
  const args = {};
  const start = [SECRET, STRANGE, SEND, SEND].map(({ address: tool }) => ({ tool, args }));
  const at = [1, 2].map((line) => ({ line, column: 1 }));
  const plan: CallPlan = { exact: true, calls: [{ ...CALL, times: "many", at }], start };
  const sendAs = (flow: ExecutionFlow, number: number) =>
    flow.arrive().judge({ execution: EXECUTION, seq: number, principal: AGENT.id, address: SEND.address, args }, SEND)
      ?.kind;
  const readBoth = async (flow: ExecutionFlow): Promise<void> => {
    await read(flow, SECRET);
    await read(flow, STRANGE);
  };

  it("may send several times after both labels, and nothing else of the program may", async () => {
    const flow = (await openWorld()).open(undefined, plan);
    await readBoth(flow);
    assert.deepEqual([sendAs(flow, 3), sendAs(flow, 4), sendAs(flow, 5)], [undefined, undefined, "ask"]);
  });
  it("need approval without a plan, and in a session that had read both or inherited anything", async () => {
    const world = await openWorld(undefined, 1e6);
    const plain = world.open(inSession("p"));
    await readBoth(plain);
    assert.equal(sendAs(plain, 3), "ask");
    const later = world.open(inSession("p"), plan);
    assert.equal(sendAs(later, 3), "ask");
    const heir = { ...AGENT, passesLabels: true };
    await read(world.open({ ...heir, session: "one" }), SECRET);
    const next = world.open({ ...heir, session: "two" }, plan);
    await readBoth(next);
    assert.equal(sendAs(next, 3), "ask");
  });
});
