/** `secrets` of programs, from outside: their tokens, what the host receives, and the errors if a secret is missing. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";

import { loadSettings } from "../../../src/config/index.ts";
import { LIBRARY } from "../../../src/identity/index.ts";
import type { ExecutionResult } from "../../../src/main.ts";
import { openGateway } from "../../../src/open-gateway.ts";
import { openRecords } from "../../../src/open-records.ts";
import { runGlovebox } from "../../fixtures/product.ts";
import { openSecretGateway } from "../../fixtures/secret-gateway.ts";

const VALUE = "pa55-word/31415";
const TOKEN = /^glovebox-secret-[0-9a-f]{32}$/;
const outcome = ({ value, error }: ExecutionResult): unknown => error?.code ?? value;

const PROGRAM = `
  const attempt = (work) => { try { return work() } catch (error) { return [error.name, error.code ?? null, error.message] } };
  const authorization = "Basic " + btoa("user:" + secrets.KEY);
  const answer = await fetch(input, { method: "POST", headers: { "x-key": "key " + secrets.KEY, authorization }, body: JSON.stringify({ key: secrets.KEY }) });
  return {
    token: secrets.KEY,
    names: Object.keys(secrets),
    answer: await answer.text(),
    unknown: attempt(() => secrets["OTHER"]),
    changed: [attempt(() => { secrets.KEY = "x" }), attempt(() => { delete secrets.KEY }), attempt(() => { secrets.NEW = "x" })].map(([name]) => name),
    has: ["KEY" in secrets, "OTHER" in secrets, Object.isFrozen(secrets), typeof (await secrets).KEY],
  };`;

for (const engine of ["isolate", "quickjs", "workerd"] as const) {
  test(`${engine}: a program uses a secret that it cannot read or change`, async () => {
    await using gateway = await openSecretGateway({ in: ["header", "body"] });
    await gateway.setSecret("KEY", VALUE);
    await using glovebox = await gateway.open(engine);
    const run = async (): Promise<Record<string, unknown>> => {
      const result = await glovebox.execute({ code: PROGRAM, input: `http://${gateway.boundHost.hostAndPort}/plain` });
      assert.equal(result.state, "completed", JSON.stringify(result.error));
      return result.value as Record<string, unknown>;
    };
    const [{ token, ...seen }, { token: another }] = [await run(), await run()];
    assert.match(String(token), TOKEN);
    assert.match(String(another), TOKEN);
    assert.notEqual(another, token);
    assert.deepEqual(seen, {
      names: ["KEY"],
      answer: 'you said key [secret]{"key":"[secret]"}!',
      unknown: ["ToolError", "POLICY_DENIED", "No secret OTHER is granted to this program; granted are KEY"],
      changed: ["TypeError", "TypeError", "TypeError"],
      has: [true, false, true, "string"],
    });
    const [arrived] = gateway.boundHost.requests;
    assert.deepEqual(
      [arrived?.headers["x-key"], arrived?.headers["authorization"], arrived?.body],
      [`key ${VALUE}`, `Basic ${Buffer.from(`user:${VALUE}`).toString("base64")}`, `{"key":"${VALUE}"}`],
    );
  });
}

const SEND = 'return (await fetch(input, { headers: { "x-key": secrets.KEY } })).status';

describe("errors and records of program secrets", () => {
  test("a secret that is not granted fails before the program runs, and describe lists the granted ones", async () => {
    await using gateway = await openSecretGateway({}, { analysis: {} });
    await using glovebox = await gateway.open();
    const { error } = await glovebox.execute({ code: "return secrets.KEX" });
    assert.deepEqual(
      [error?.code, error?.message, error?.hint],
      [
        "PROGRAM_TYPES",
        "No secret KEX is granted to this program",
        "Granted: secrets.KEY; an operator can grant more with sandbox.secrets",
      ],
    );
    assert.match(await glovebox.describe({ names: ["glovebox"] }), /readonly KEY: string;/);
    await using plain = await gateway.open("isolate", { secrets: {} });
    assert.doesNotMatch(await plain.describe({ names: ["glovebox"] }), /secrets/);
    const { error: thrown } = await plain.execute({ code: 'return secrets["KEY"]' });
    assert.deepEqual(
      [thrown?.code, thrown?.message],
      ["PROGRAM_THREW", "ToolError: No secret KEY is granted to this program; none is"],
    );
  });

  test("a call with a secret that is not set fails, and succeeds after the secret was set", async () => {
    await using gateway = await openSecretGateway();
    await using glovebox = await gateway.open();
    const input = `http://${gateway.boundHost.hostAndPort}/plain`;
    const { error } = await glovebox.execute({ code: SEND, input });
    assert.deepEqual(
      [error?.code, error?.message],
      ["VAULT_SECRET_MISSING", "A secret that this call needs is not set"],
    );
    await gateway.setSecret("KEY", VALUE);
    assert.equal(outcome(await glovebox.execute({ code: SEND, input })), 200);
    await gateway.setSecret("KEY", `${VALUE}-2`);
    assert.equal(outcome(await glovebox.execute({ code: SEND, input })), 200);
    assert.deepEqual(
      gateway.boundHost.requests.map(({ headers }) => headers["x-key"]),
      [VALUE, `${VALUE}-2`],
    );
  });

  test("the ledger has the intent, the loan and the end of a call with a secret, all of one execution", async () => {
    await using gateway = await openSecretGateway();
    await gateway.setSecret("KEY", VALUE);
    const glovebox = await gateway.open();
    const { execution } = await glovebox.execute({
      code: SEND,
      input: `http://${gateway.boundHost.hostAndPort}/plain`,
    });
    await glovebox.close();
    await using records = await openRecords(await loadSettings(`${gateway.folder}/glovebox.config.json`, {}));
    const told: unknown[] = [];
    for await (const { action, actor, subject, detail } of records.ledger.records()) {
      const said = detail as Readonly<Record<string, unknown>>;
      if (said["execution"] === execution) told.push([action, actor, subject, said["host"]]);
    }
    const { hostAndPort: place } = gateway.boundHost;
    assert.deepEqual(told, [
      ["call.intended", "library", "glovebox.fetch", place],
      ["secret.lent", "library", "KEY", place],
      ["call.ended", "library", "glovebox.fetch", place],
    ]);
  });
});

test("a program that is suspended while its gateway ends resumes with the same tokens", async () => {
  const ask = { decision: "ask", tools: ["glovebox.fetch"], effects: ["write"] };
  const config = { policy: { rules: [ask] }, approvals: { graceMs: 1 } };
  await using gateway = await openSecretGateway({}, config);
  await gateway.setSecret("KEY", VALUE);
  const first = await gateway.open();
  const code = `
    const before = secrets.KEY;
    const { status } = await fetch(input, { method: "POST", headers: { "x-key": before } });
    return [status, before, before === secrets.KEY]`;
  const {
    execution,
    state,
    approvals = [],
  } = await first.execute({ code, input: `http://${gateway.boundHost.hostAndPort}/plain` });
  assert.deepEqual([state, approvals.length, gateway.boundHost.requests.length], ["paused", 1, 0]);
  await first.close();
  const decided = await runGlovebox(["approve", String(approvals[0]), "--yes"], { folder: gateway.folder });
  assert.equal(decided.code, 0, decided.stderr);
  const settings = await loadSettings(`${gateway.folder}/glovebox.config.json`, {});
  await using second = await openGateway(settings, { lasting: true });
  const principal = LIBRARY;
  const look = () => second.view({ principal, execution });
  let view = await look();
  for (; view.state === "paused" || view.state === "running"; view = await look()) await wait(20);
  const { value } = view;
  const [status, token, isSame] = value as readonly unknown[];
  assert.deepEqual([status, TOKEN.test(String(token)), isSame], [200, true, true]);
  assert.deepEqual(
    gateway.boundHost.requests.map(({ headers }) => headers["x-key"]),
    [VALUE],
  );
});

test("a replayed execution has the same tokens, and nothing is lent for it", async () => {
  await using gateway = await openSecretGateway();
  await gateway.setSecret("KEY", VALUE);
  const { folder } = gateway;
  const url = JSON.stringify(`http://${gateway.boundHost.hostAndPort}/plain`);
  const input = `const answer = await fetch(${url}, { headers: { "x-key": secrets.KEY } }); return [secrets.KEY, await answer.text()]`;
  const ran = await runGlovebox(["run", "-", "--json"], { folder, input });
  const { execution, value } = JSON.parse(ran.stdout) as { execution: string; value: readonly unknown[] };
  assert.deepEqual([TOKEN.test(String(value[0])), value[1]], [true, "you said [secret]!"]);
  const file = `${folder}/recording.json`;
  assert.equal((await runGlovebox(["executions", "export", execution, file], { folder })).code, 0);
  for (const subject of [execution, file]) {
    const shown = await runGlovebox(["executions", "replay", subject, "--json"], { folder });
    assert.deepEqual([shown.code, shown.stdout.includes(String(value[0]))], [0, true], shown.stderr + shown.stdout);
  }
  const lent = (await gateway.records()).filter(({ action }) => action === "secret.lent");
  assert.deepEqual([lent.length, gateway.boundHost.requests.length], [1, 1]);
});

test("a request without network access gets no secrets", async () => {
  await using gateway = await openSecretGateway();
  await gateway.setSecret("KEY", VALUE);
  await using glovebox = await gateway.open();
  const input = `http://${gateway.boundHost.hostAndPort}/plain`;
  const closed = await glovebox.execute({ code: SEND, input, networkPolicy: { mode: "blocked" } });
  assert.equal(outcome(closed), "EGRESS_DENIED");
  assert.equal(outcome(await glovebox.execute({ code: SEND, input })), 200);
  assert.equal(gateway.boundHost.requests.length, 1);
});
