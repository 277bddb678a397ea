/** What an upstream asks a person while a call is under way (elicitation), from servers to clients of both eras. */

import assert from "node:assert/strict";
import { once } from "node:events";
import { resolve } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { ERAS } from "../../../src/surfaces/mcp/fixtures/try-client.ts";
import { call, connectHttp, openGatewayOf } from "../../fixtures/elicitation-client.ts";
import type { Person } from "../../fixtures/elicitation-client.ts";
import { EVERYTHING, makeUntypedFolder, runGlovebox, serveFor } from "../../fixtures/product.ts";

const MODERN = { command: process.execPath, args: [resolve("src/connectors/mcp/fixtures/modern-stdio.ts")] };
const ASK = {
  "2025-11-25": "return JSON.stringify(await everything.triggerElicitationRequest({}))",
  "2026-07-28": "return JSON.stringify(await modern.question({}))",
} as const;
const VISIT = {
  "2025-11-25":
    'return JSON.stringify(await everything.triggerUrlElicitation({ url: "https://login.example/start?n=1" }))',
  "2026-07-28": "return JSON.stringify(await modern.visit({}))",
} as const;
/** More than the question needs on its way to the queue. */
const STAYS_MS = 5_000;
const ADDRESS = "https://login.example/start?n=1";
const BOTH_MODES = { form: {}, url: {} };

test("upstream questions", async (context) => {
  const gateway = await openGatewayOf(context, {
    mcpServers: { everything: EVERYTHING, modern: MODERN },
    policy: { profile: "open" },
    // A client that is not asked does not wait for so long.
    approvals: { graceMs: 120_000 },
  });
  const run = async (code: string, era: (typeof ERAS)[number], person?: Person) => {
    const { client, forms } = await connectHttp(context, gateway, era, person);
    return { client, forms, view: await call(client, "execute", { code }) };
  };
  const glovebox = (...args: readonly string[]) => runGlovebox(args, { folder: gateway.folder });

  for (const era of ERAS) {
    for (const [server, code] of Object.entries(ASK)) {
      await context.test(`of a server of ${server} reach the person behind a client of ${era.era}`, async () => {
        const { view, forms } = await run(code, era, {
          answer: () => ({ action: "accept", content: { name: "Ada Quill" } }),
        });
        assert.equal(view.state, "completed", JSON.stringify(view));
        assert.match(String(view.value), /Ada Quill/);
        assert.equal(forms.length, 1);
        assert.match(
          forms[0]?.message ?? "",
          /^The server \w+ asks you, while a program calls \w+\.\w+\. .*\nIt says: /,
        );
      });
      await context.test(`of a server of ${server} can be declined by a client of ${era.era}`, async () => {
        const { view } = await run(code, era, { answer: () => ({ action: "decline" }) });
        assert.equal(view.state, "completed", JSON.stringify(view));
        assert.match(String(view.value), /declined|"decline/);
      });
    }
  }

  for (const era of ERAS)
    await context.test(`are asked again after an answer that does not fit, by a client of ${era.era}`, async () => {
      const answers = [{ name: 7 }, { name: "Ada Quill" }];
      const { view, forms } = await run(ASK["2025-11-25"], era, {
        answer: () => ({ action: "accept", content: JSON.parse(JSON.stringify(answers.shift())) }),
      });
      assert.deepEqual([view.state, /Ada Quill/.test(String(view.value))], ["completed", true], JSON.stringify(view));
      assert.deepEqual(
        forms.map(({ message }) => /^Please answer again\. .* name must be a string$/m.test(message)),
        [false, true],
      );
    });

  for (const era of ERAS)
    for (const [server, code] of Object.entries(VISIT))
      await context.test(`with an address of a server of ${server} reach a client of ${era.era}`, async () => {
        const { view, forms } = await run(code, era, { answer: () => ({ action: "accept" }), modes: BOTH_MODES });
        assert.equal(view.state, "completed", JSON.stringify(view));
        assert.match(String(view.value), /accept|completed/i);
        assert.deepEqual(
          forms.map(({ url }) => url),
          [ADDRESS],
        );
        const declined = await run(code, era, { answer: () => ({ action: "decline" }), modes: BOTH_MODES });
        assert.match(String(declined.view.value), /declin/i, JSON.stringify(declined.view));
      });

  await context.test("with an address wait for an operator if the client shows none", async () => {
    const { view, forms, client } = await run(VISIT["2026-07-28"], ERAS[0], {
      answer: () => ({ action: "accept" }),
    });
    const [id = assert.fail(JSON.stringify(view))] = view.approvals ?? [];
    assert.deepEqual([view.state, forms], ["paused", []]);
    assert.ok((await glovebox("approvals", "show", id)).stdout.includes(ADDRESS));
    const answered = await glovebox("answer", id);
    assert.equal(answered.code, 0, answered.stderr);
    const again = await call(client, "resume", { execution: view.execution });
    assert.deepEqual([again.state, /accept/.test(String(again.value))], ["completed", true], JSON.stringify(again));
  });

  await context.test(
    "wait like an approval for a client without forms, and are answered at the command line",
    async () => {
      const { view, client } = await run(ASK["2026-07-28"], ERAS[0]);
      const [question = assert.fail()] = view.questions ?? [];
      assert.deepEqual([view.state, view.approvals], ["paused", [question.approval]]);
      assert.match(question.approval, /^ir_/);
      assert.match(question.commands?.approve ?? "", /glovebox answer ir_/);
      const shown = await glovebox("approvals", "show", question.approval);
      assert.match(shown.stdout, /"message": "Who are you\?"/);
      const wrong = await glovebox("answer", question.approval, "--field", "nom=Zoe");
      assert.equal(wrong.code, 2);
      assert.match(wrong.stderr, /"nom" is not a field of this form/);
      assert.equal((await glovebox("approve", question.approval, "--yes")).code, 2);
      const answered = await glovebox("answer", question.approval, "--field", "name=Zoe Quill");
      assert.equal(answered.code, 0, answered.stderr);
      const again = await call(client, "resume", { execution: view.execution });
      assert.deepEqual(
        [again.state, /Zoe Quill/.test(String(again.value))],
        ["completed", true],
        JSON.stringify(again),
      );
      const twice = await glovebox("answer", question.approval, "--field", "name=Eve");
      assert.match(twice.stderr, /REQUEST_CONFLICT/);
    },
  );

  await context.test(
    "keep a call in memory beyond its wall time, and a client without forms is told of them",
    async () => {
      const { client } = await connectHttp(context, gateway, ERAS[0]);
      const startedAt = performance.now();
      const limits = { wallMs: STAYS_MS };
      const view = await call(client, "execute", { code: ASK["2025-11-25"], limits });
      const [question = assert.fail(JSON.stringify(view))] = view.questions ?? [];
      assert.deepEqual([view.state, view.approvals], ["running", [question.approval]]);
      assert.match(question.commands?.approve ?? "", /glovebox answer ir_/);
      const again = await call(client, "resume", { execution: view.execution });
      assert.deepEqual([again.state, again.approvals], ["running", view.approvals]);
      await sleep(startedAt + STAYS_MS * 1.2 - performance.now());
      const answered = await glovebox("answer", question.approval, "--field", "name=Zoe Quill");
      assert.match(answered.stdout, /^ir_[0-9a-f]{24}: answered$/m, answered.stderr);
      const done = await call(client, "resume", { execution: view.execution });
      assert.deepEqual([done.state, /Zoe Quill/.test(String(done.value))], ["completed", true], JSON.stringify(done));
    },
  );

  await context.test("are recorded without the values of the answer", async () => {
    const { stdout } = await glovebox("audit", "--action", "input", "--limit", "500", "--json");
    assert.match(stdout, /"input\.requested"/);
    assert.match(stdout, /"fields":\["name"\]/);
    assert.doesNotMatch(stdout, /Quill/);
  });
});

test("an input request survives kill -9 of its gateway, and is answered and used after a restart", async (context) => {
  const folder = makeUntypedFolder(context, { mcpServers: { modern: MODERN }, policy: { profile: "open" } });
  const connect = async () => {
    const { mcp, child } = await serveFor(context, folder);
    return { child, client: (await connectHttp(context, { mcp: async () => mcp }, ERAS[0])).client };
  };
  const first = await connect();
  const view = await call(first.client, "execute", { code: ASK["2026-07-28"] });
  const [id = assert.fail()] = view.approvals ?? [];
  first.child.kill("SIGKILL");
  await once(first.child, "close");
  const listed = await runGlovebox(["approvals", "show", id], { folder });
  assert.match(listed.stdout, /"message": "Who are you\?"/);
  const second = await connect();
  assert.equal((await runGlovebox(["answer", id, "--field", "name=Zoe Quill"], { folder })).code, 0);
  const done = await call(second.client, "resume", { execution: view.execution });
  assert.deepEqual([done.state, /Zoe Quill/.test(String(done.value))], ["completed", true], JSON.stringify(done));
});
