/** The library for programs with people of their own: events, approvals, principals, secrets and skills. */

import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, test } from "node:test";
import type { TestContext } from "node:test";

import { createGlovebox, defineAdapter } from "glovebox";
import type { Approval, Glovebox, GloveboxConfig, LibraryEvent } from "glovebox";

import { toTexts } from "../../fixtures/skill-gateway.ts";

const DESTROY = 'return await desk.remove({ what: "x" })';

async function openDesk(context: TestContext, config: GloveboxConfig = {}) {
  const removed: unknown[] = [];
  const desk = defineAdapter({
    name: "desk",
    tools: {
      look: { description: "Looks.", input: { type: "object" }, effect: "read", run: () => "seen" },
      key: {
        description: "Returns the length of a secret.",
        input: { type: "object" },
        effect: "read",
        run: async (_, { secret }) => (await secret("KEY")).length,
      },
      remove: {
        description: "Removes.",
        input: { type: "object" },
        effect: "destroy",
        run: (args) => {
          removed.push(args);
          return "removed";
        },
      },
    },
  });
  const analysis = { types: "off" } as const;
  const glovebox = await createGlovebox({ adapters: [desk], store: { url: "sqlite::memory:" }, analysis, ...config });
  context.after(() => glovebox.close());
  return { glovebox, removed };
}

const nextApproval = (glovebox: Glovebox): Promise<Approval> =>
  new Promise((resolve) => {
    const stop = glovebox.approvals.onApproval((approval) => {
      stop();
      resolve(approval);
    });
  });

describe("events of the library", () => {
  test("the iterator yields logs and calls while the program runs, and ends with the result", async (context) => {
    const { glovebox } = await openDesk(context);
    const seen: LibraryEvent[] = [];
    for await (const event of glovebox.events({ code: 'console.log("hello"); return await desk.look({})' })) {
      seen.push(event);
    }
    assert.deepEqual(
      seen.map(({ kind }) => kind),
      ["opened", "log", "called", "answered", "ended"],
    );
    const last = seen.at(-1);
    assert.deepEqual(last?.kind === "ended" && [last.result.state, last.result.value], ["completed", "seen"]);
  });

  test("leaving the loop cancels the execution, and an invalid request is thrown", async (context) => {
    const { glovebox } = await openDesk(context);
    let execution = "";
    for await (const event of glovebox.events({
      code: "await new Promise((resolve) => setTimeout(resolve, 20_000))",
    })) {
      if (event.kind === "opened") execution = event.execution;
      break;
    }
    const { state } = await glovebox.resume({ execution });
    assert.equal(state, "cancelled");
    await assert.rejects(
      async () => {
        for await (const _ of glovebox.events({ code: "1", limits: { calls: 0 } })) assert.fail();
      },
      { code: "REQUEST_INVALID" },
    );
  });
});

describe("approvals of the library", () => {
  test("a person whom the program names decides a call, which then runs once", async (context) => {
    const { glovebox, removed } = await openDesk(context);
    const asked = nextApproval(glovebox);
    const running = glovebox.execute({ code: DESTROY });
    const { id, tool, args } = await asked;
    assert.deepEqual([tool, args, removed], ["desk.remove", { what: "x" }, []]);
    const [listed] = await glovebox.approvals.list({ isPending: true });
    assert.equal(listed?.id, id);
    await assert.rejects(glovebox.approvals.decide(id, { verdict: "approve", by: "ada", roles: ["agent"] }), {
      code: "POLICY_DENIED",
    });
    await assert.rejects(glovebox.approvals.decide(id, JSON.parse('{ "verdict": "approve" }')), {
      code: "REQUEST_INVALID",
    });
    await assert.rejects(glovebox.approvals.decide(id, { verdict: "approve", by: "Ada Lovelace" }), {
      code: "REQUEST_INVALID",
    });
    assert.deepEqual(removed, []);
    const decided = await glovebox.approvals.decide(id, { verdict: "approve", by: "ada" });
    assert.deepEqual([decided.state, decided.decidedBy], ["approved", "person:ada"]);
    const { state, value } = await running;
    assert.deepEqual([state, value, removed], ["completed", "removed", [{ what: "x" }]]);
    await assert.rejects(glovebox.approvals.decide(id, { verdict: "reject", by: "ada" }), { code: "REQUEST_CONFLICT" });
  });

  test("a program that was suspended resumes for its own principal after a decision, and a rejection is thrown in it", async (context) => {
    const { glovebox, removed } = await openDesk(context, { approvals: { graceMs: 0 } });
    const paused = await glovebox.execute({ code: DESTROY, principal: "ada" });
    const [id = ""] = paused.approvals ?? [];
    assert.equal(paused.state, "paused");
    await glovebox.approvals.decide(id, { verdict: "approve", by: "ada" });
    const { execution } = paused;
    await assert.rejects(glovebox.resume({ execution }), { code: "REQUEST_NOT_FOUND" });
    await assert.rejects(glovebox.resume({ execution, principal: "bob" }), { code: "REQUEST_NOT_FOUND" });
    const { state, value } = await glovebox.resume({ execution, principal: "ada" });
    assert.deepEqual([state, value, removed.length], ["completed", "removed", 1]);
    const other = await glovebox.execute({ code: `try { ${DESTROY} } catch (error) { return error.code }` });
    await glovebox.approvals.decide(other.approvals?.[0] ?? "", { verdict: "reject", by: "ada", note: "no" });
    const rejected = await glovebox.resume({ execution: other.execution });
    assert.deepEqual([rejected.value, removed.length], ["POLICY_APPROVAL_REJECTED", 1]);
  });

  test("with separate duties the person behind a program cannot approve its calls, and another one can", async (context) => {
    const { glovebox } = await openDesk(context, { approvals: { separate: true, graceMs: 0 } });
    const { approvals = [] } = await glovebox.execute({ code: DESTROY, principal: "ada" });
    const [id = ""] = approvals;
    await assert.rejects(glovebox.approvals.decide(id, { verdict: "approve", by: "ada" }), { code: "POLICY_DENIED" });
    const { state } = await glovebox.approvals.decide(id, { verdict: "approve", by: "bob" });
    assert.equal(state, "approved");
  });
});

describe("principals of the library", () => {
  test("rules mean a principal by its person, by library and by its own name", async (context) => {
    const deny = (principals: readonly string[]) => ({
      policy: { rules: [{ decision: "deny" as const, tools: ["desk.look"], principals }] },
    });
    const call = "try { return await desk.look({}) } catch (error) { return error.code }";
    const answers: unknown[] = [];
    for (const principals of [["person:ada"], ["library:ada"], ["library"]]) {
      const { glovebox } = await openDesk(context, deny(principals));
      for (const principal of ["ada", "bob"]) answers.push((await glovebox.execute({ code: call, principal })).value);
      await glovebox.close();
    }
    const denied = "POLICY_DENIED";
    assert.deepEqual(answers, [denied, "seen", denied, "seen", denied, denied]);
  });

  test("a name that is not one of a person is refused", async (context) => {
    const { glovebox } = await openDesk(context);
    for (const principal of ["", "Ada", "a/b", "person:ada", "operator", "x".repeat(65)]) {
      await assert.rejects(glovebox.execute({ code: "1", principal }), { code: "REQUEST_INVALID" }, principal);
    }
    const { state } = await glovebox.execute({ code: "1", principal: "x".repeat(64) });
    assert.equal(state, "completed");
    assert.equal((await glovebox.search({ query: "look", principal: "ada" })).tools[0]?.name, "desk.look");
    assert.match(await glovebox.describe({ names: ["desk.look"], principal: "ada" }), /look/);
  });
});

describe("secrets of the library", () => {
  test("a secret that the program sets reaches an adapter, and no interface returns it", async (context) => {
    const { glovebox } = await openDesk(context);
    const read = async () => {
      const { value, error } = await glovebox.execute({ code: "return await desk.key({})" });
      return error?.code ?? value;
    };
    assert.equal(await read(), "UPSTREAM_AUTH_REQUIRED");
    await glovebox.secrets.set("KEY", "open sesame", { by: "ada" });
    assert.equal(await read(), "open sesame".length);
    const listed = await glovebox.secrets.list();
    assert.deepEqual([listed[0]?.name, JSON.stringify(listed).includes("sesame")], ["KEY", false]);
    assert.deepEqual([await glovebox.secrets.remove("KEY"), await glovebox.secrets.remove("KEY")], [true, false]);
    assert.equal(await read(), "UPSTREAM_AUTH_REQUIRED");
    await assert.rejects(glovebox.secrets.set("not a name", "x"), { code: "REQUEST_INVALID" });
    await assert.rejects(glovebox.secrets.set("KEY", JSON.parse("5")), { code: "REQUEST_INVALID" });
  });
});

describe("skills of the library", () => {
  test("a skill runs once a person has approved it, and no longer when it was revoked", async (context) => {
    const folder = mkdtempSync(join(tmpdir(), "glovebox-library-skill-"));
    context.after(() => rmSync(folder, { recursive: true }));
    for (const [path, text] of Object.entries(toTexts("double", { run: "return input.of * 2" }))) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
    const { glovebox } = await openDesk(context);
    const run = async () => {
      const { value, error } = await glovebox.execute({ code: "return await skills.double({ of: 21 })" });
      return error?.code ?? value;
    };
    const { state } = await glovebox.skills.submit(folder, { by: "ada" });
    assert.deepEqual([state, await run()], ["pending_review", "SKILL_NOT_APPROVED"]);
    await assert.rejects(glovebox.skills.approve({ name: "double", by: "bob", roles: ["agent"] }), {
      code: "POLICY_DENIED",
    });
    await assert.rejects(glovebox.skills.reject({ name: "double", by: "bob" }), { code: "REQUEST_INVALID" });
    await glovebox.skills.approve({ name: "double", by: "bob" });
    assert.equal(await run(), 42);
    assert.deepEqual(
      (await glovebox.skills.list()).map(({ name, state: now }) => [name, now]),
      [["double", "approved"]],
    );
    await glovebox.skills.revoke({ name: "double", by: "bob" });
    assert.equal(await run(), "SKILL_NOT_APPROVED");
  });
});
