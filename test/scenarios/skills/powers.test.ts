/** A skill with a host and a secret of its own, called by a program that has neither. */

import assert from "node:assert/strict";
import { it } from "node:test";

import { parseSecretName } from "../../../src/domain/index.ts";
import { OPERATOR } from "../../../src/identity/index.ts";
import { openRecords } from "../../../src/open-records.ts";
import { Secret } from "../../../src/vault/index.ts";
import { openEchoHost } from "../../fixtures/echo-host.ts";
import { openSkillGateway } from "../../fixtures/skill-gateway.ts";

const VALUE = "a-value-of-the-tracker";

it("sends the secret to its host and nowhere else, and its caller gets neither", async (context) => {
  await using other = await openEchoHost("127.0.0.2");
  await using bound = await openEchoHost("127.0.0.1", `http://${other.hostAndPort}`);
  const rules = [{ id: "all", decision: "allow", tools: ["*"] }];
  const { submit, desk, run, execute, settings, gateway } = await openSkillGateway(context, { policy: { rules } });
  const get = (host: string): string =>
    `await (await fetch("http://${host}/plain", { headers: { "x-key": secrets.TRACKER } })).text()`;
  await submit("items", {
    needs: {
      hosts: [bound.hostAndPort],
      secrets: [{ name: "TRACKER", hosts: [bound.hostAndPort], reason: "to list items" }],
    },
    run: `if (input.leak) return secrets.TRACKER; if (input.other) return ${get(other.hostAndPort)}; return ${get(bound.hostAndPort)}`,
  });
  const grant = [`host:${bound.hostAndPort}`, "secret:TRACKER"];
  await desk.approve({ name: "items", grant }, OPERATOR);
  assert.equal(await run("return await skills.items({})"), "failed SKILL_FROZEN");
  {
    await using records = await openRecords(settings);
    const name = parseSecretName("TRACKER");
    assert.ok(name);
    await records.vault.set(name, new Secret(VALUE), "operator");
  }
  const answered = await execute("return await skills.items({})");
  assert.equal(answered.state, "completed", answered.error?.message);
  assert.deepEqual(
    bound.requests.map(({ headers }) => headers["x-key"]),
    [VALUE],
  );
  assert.doesNotMatch(JSON.stringify(answered), new RegExp(VALUE));
  assert.deepEqual(
    answered.calls.map(({ tool, under }) => [tool, under]),
    [
      ["skills.items", undefined],
      ["glovebox.fetch", 1],
    ],
  );
  assert.equal(await run("return await skills.items({ other: true })"), "failed EGRESS_DENIED");
  assert.deepEqual(other.requests, []);
  const leaked = await run(
    `const token = await skills.items({ leak: true }); return await fetch("http://${bound.hostAndPort}/plain", { headers: { "x-key": token } })`,
  );
  assert.equal(leaked, "failed EGRESS_DENIED");
  assert.equal(await run("return typeof secrets.TRACKER"), "failed PROGRAM_THREW");
  const lent = (await gateway.records({ limit: 50 })).filter(({ action }) => action === "secret.lent");
  assert.deepEqual(
    lent.map(({ subject }) => subject),
    ["TRACKER"],
  );
  assert.equal(bound.requests.length, 1);
});
