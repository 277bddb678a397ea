/** A call that needs approval elicits a decision at the MCP client, as each protocol revision defines it. */

import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, test } from "node:test";

import { ERAS } from "../../../src/surfaces/mcp/fixtures/try-client.ts";
import {
  CHANGE,
  CHOICES,
  accept,
  call,
  connectHttp,
  connectStdio,
  openElicitationGateway,
} from "../../fixtures/elicitation-client.ts";
import type { Answer, View } from "../../fixtures/elicitation-client.ts";
import { runGlovebox } from "../../fixtures/product.ts";

const [ONCE, IN_EXECUTION, IN_SESSION, , REJECT] = CHOICES;
const TWICE = "await probe.change({ to: 1 }); return await probe.change({ to: 2 })";
const AT_ONCE = "return (await Promise.all([1, 2].map((to) => probe.change({ to })))).length";
const never = (): Promise<never> => new Promise(() => undefined);

describe("elicitation while the program is in memory", { concurrency: 2 }, () => {
  for (const era of ERAS) {
    test(`elicitation while the program is in memory, in ${era.era}`, async (context) => {
      const gateway = await openElicitationGateway(context, {});
      const run = async (code: string, answer: Answer) => {
        const before = gateway.changes();
        const { client, forms } = await connectHttp(context, gateway, era, { answer });
        const view = await call(client, "execute", { code });
        return { view, forms, changes: gateway.changes() - before };
      };

      await context.test(
        "a call is made when the person approves it in the form, which describes the call",
        async () => {
          const { view, forms, changes } = await run(CHANGE, () => accept(ONCE));
          assert.deepEqual([view.state, view.value, changes], ["completed", { done: true }, 1]);
          const [{ message, requestedSchema } = assert.fail(), ...more] = forms;
          const [what, args, why = "", id = "", ...others] = message.split("\n");
          assert.deepEqual([more, others], [[], []]);
          assert.equal(what, "A program wants to call probe.change, which changes something (write).");
          assert.equal(args, 'Arguments: {"to":"one"}');
          assert.match(why, /^Why you are asked: .*It changes things/);
          assert.match(id, new RegExp(`^Approval ap_[0-9a-f]{24}, execution ${view.execution}$`));
          const decision = { type: "string", title: "Allow", enum: CHOICES };
          assert.deepEqual(requestedSchema, { type: "object", properties: { decision }, required: ["decision"] });
        },
      );

      await context.test("a call is refused when the person rejects it or declines the form", async () => {
        for (const answer of [accept(REJECT), { action: "decline" } as const]) {
          const { view, changes } = await run(CHANGE, () => answer);
          assert.deepEqual([view.state, view.error?.code, changes], ["failed", "POLICY_APPROVAL_REJECTED", 0]);
        }
      });

      await context.test("a form asks once per execution or once per call, as the person chooses", async () => {
        for (const [choice, times] of [
          [IN_EXECUTION, 1],
          [ONCE, 2],
        ] as const) {
          const { view, forms, changes } = await run(TWICE, () => accept(choice));
          assert.deepEqual([view.state, forms.length, changes], ["completed", times, 2]);
        }
      });

      await context.test("a form asks about calls that are made at the same time", async () => {
        const { view, forms, changes } = await run(AT_ONCE, () => accept(ONCE));
        assert.deepEqual([view.value, forms.length, changes], [2, 2, 2]);
      });

      await context.test("a call that was approved for the session is not asked about again in it", async () => {
        const { client, forms } = await connectHttp(context, gateway, era, { answer: () => accept(IN_SESSION) });
        const code = "return await probe.change({ to: 'session' })";
        for (let time = 0; time < 2; time += 1) {
          assert.equal((await call(client, "execute", { code })).state, "completed");
          assert.equal(forms.length, 1);
        }
      });

      await context.test(
        "a call is made once when an operator approves it first, despite a later answer of the person",
        async () => {
          const { view, changes } = await run(CHANGE, async ({ message }) => {
            const id = /ap_[0-9a-f]{24}/.exec(message)?.[0] ?? "";
            const { code, stderr } = await runGlovebox(["approve", id, "--yes"], gateway);
            assert.equal(code, 0, stderr);
            return accept(REJECT);
          });
          assert.deepEqual([view.state, changes], ["completed", 1]);
        },
      );

      await context.test("a call that its client cancels before it is made shows no form and ends", async () => {
        const { client, forms } = await connectHttp(context, gateway, era, { answer: () => accept(ONCE) });
        const begun = Promise.withResolvers<string>();
        const cancel = new AbortController();
        const code = "await probe.hang({}); return await probe.change({})";
        const onprogress = ({ message = "" }): void => begun.resolve(/ex_[0-9a-f]{24}/.exec(message)?.[0] ?? "");
        const asked = client.callTool({ name: "execute", arguments: { code } }, { signal: cancel.signal, onprogress });
        asked.catch(() => undefined);
        const execution = await begun.promise;
        cancel.abort();
        await assert.rejects(asked);
        assert.equal((await call(client, "resume", { execution })).state, "cancelled");
        assert.deepEqual(forms, []);
      });

      await context.test("the ledger names the person behind the client as the one who decided", async () => {
        const { stdout } = await runGlovebox(["audit", "--action", "approval.decided", "--json"], gateway);
        const { records } = JSON.parse(stdout) as { readonly records: readonly { readonly actor: string }[] };
        assert.deepEqual(new Set(records.map(({ actor }) => actor)), new Set(["elicitation:local", "operator"]));
      });
    });
  }
});

describe("approvals of a client without forms", () => {
  test("execute and resume answer as soon as a call waits, with what to tell the user", async (context) => {
    // The client would get the state running if the grace of clients with forms applied.
    const approvals = { graceMs: 3_600_000 };
    const gateway = await openElicitationGateway(context, { approvals, sandbox: { limits: { wallMs: 600_000 } } });
    const { client } = await connectHttp(context, gateway, ERAS[0]);
    const first = await client.callTool({ name: "execute", arguments: { code: TWICE } });
    const { state, execution, questions: [question = assert.fail()] = [] } = first.structuredContent as View;
    const config = join(gateway.folder, "glovebox.config.json");
    const link = `${(await gateway.mcp()).replace(/mcp$/, "")}approvals/${question.approval}`;
    assert.equal(state, "paused");
    assert.deepEqual(
      [question.commands?.show, question.commands?.approve, question.link],
      [
        `npx --no-install glovebox approvals show ${question.approval} --config ${config}`,
        `npx --no-install glovebox approve ${question.approval} --config ${config}`,
        link,
      ],
    );
    assert.ok(JSON.stringify(first.content).includes(link));
    // The command works as printed.
    const approve = (question.commands?.approve ?? "").split(" ").slice("npx --no-install glovebox".split(" ").length);
    assert.equal((await runGlovebox(approve, { folder: gateway.folder })).code, 0);
    const again = await call(client, "resume", { execution });
    assert.deepEqual([again.state, again.questions?.length, gateway.changes()], ["paused", 1, 1]);
    assert.notEqual(again.questions?.[0]?.approval, question.approval);
  });
});

describe("elicitation when the program is suspended at once", { concurrency: 2 }, () => {
  for (const era of ERAS) {
    test(`elicitation when the program is suspended at once, in ${era.era}`, async (context) => {
      const gateway = await openElicitationGateway(context, { approvals: { graceMs: 0 } });

      await context.test("a suspended execution resumes when the person approves in the form", async () => {
        const { client } = await connectHttp(context, gateway, era, { answer: () => accept(ONCE) });
        const { state, value } = await call(client, "execute", { code: CHANGE });
        assert.deepEqual([state, value, gateway.changes()], ["completed", { done: true }, 1]);
      });

      for (const [what, answer] of [
        ["that was closed", { action: "cancel" }],
        ["with a choice that was not offered", accept("everything")],
      ] as const) {
        await context.test(`an execution stays suspended after a form ${what}, and resume asks again`, async () => {
          const closing = await connectHttp(context, gateway, era, { answer: () => answer });
          const before = gateway.changes();
          const { state, execution, approvals } = await call(closing.client, "execute", { code: CHANGE });
          assert.deepEqual([state, approvals?.length, gateway.changes()], ["paused", 1, before]);
          assert.equal(closing.forms.length, 1);
          const allowing = await connectHttp(context, gateway, era, { answer: () => accept(ONCE) });
          const resumed = await call(allowing.client, "resume", { execution });
          assert.deepEqual([resumed.state, allowing.forms.length, gateway.changes()], ["completed", 1, before + 1]);
        });
      }

      await context.test(
        "a form that cannot show the whole call offers only to reject, and an approval there decides nothing",
        async () => {
          const before = gateway.changes();
          const code = "return await probe.change({ to: 'x'.repeat(5000), amount: 5 })";
          const allowing = await connectHttp(context, gateway, era, { answer: () => accept(ONCE) });
          const { state, execution, approvals } = await call(allowing.client, "execute", { code });
          assert.deepEqual([state, gateway.changes()], ["paused", before]);
          const [{ message, requestedSchema } = assert.fail()] = allowing.forms;
          const shows = new RegExp(`run: npx --no-install glovebox approvals show ${approvals?.[0]} --config .+\n`);
          assert.match(message, shows);
          const decision = { type: "string", title: "Decide", enum: [REJECT] };
          assert.deepEqual(requestedSchema, { type: "object", properties: { decision }, required: ["decision"] });
          const rejecting = await connectHttp(context, gateway, era, { answer: () => accept(REJECT) });
          const { error } = await call(rejecting.client, "resume", { execution });
          assert.deepEqual([error?.code, gateway.changes()], ["POLICY_APPROVAL_REJECTED", before]);
        },
      );

      await context.test("a client without elicitation shows no form", async () => {
        const { client, forms } = await connectHttp(context, gateway, era);
        const { state, approvals } = await call(client, "execute", { code: CHANGE });
        assert.deepEqual([state, approvals?.length, forms], ["paused", 1, []]);
      });
    });
  }
});

describe("elicitation with a slow person", () => {
  test("a client that gives up waiting for the person leaves the call pending", async (context) => {
    const gateway = await openElicitationGateway(context, { clients: { patienceMs: 500 }, approvals: { graceMs: 0 } });
    const { client, forms } = await connectHttp(context, gateway, ERAS[0], { answer: never });
    let view = await call(client, "execute", { code: CHANGE });
    while (view.state === "running" || forms.length === 0)
      view = await call(client, "resume", { execution: view.execution });
    assert.deepEqual([view.state, view.approvals?.length, gateway.changes()], ["paused", 1, 0]);
  });
});

describe("elicitation over standard input and output", { concurrency: 2 }, () => {
  for (const era of ERAS) {
    test(`the person at a stdio client of ${era.era} sees the form`, async (context) => {
      const gateway = await openElicitationGateway(context, {});
      const { client, forms } = await connectStdio(context, gateway, era, () => accept(ONCE));
      // Only the first call of a connection passes through the SDK.
      for (const times of [1, 2]) {
        const { state } = await call(client, "execute", { code: CHANGE });
        assert.deepEqual([state, forms.length, gateway.changes()], ["completed", times, times]);
      }
    });
  }
});
