/** Secrets over HTTP: values only come in, and two people do not overwrite each other. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { openOperatorDoor } from "../../../test/fixtures/operator-door.ts";
import { parsePrincipalId, parseSecretName } from "../../domain/index.ts";
import { OPERATOR } from "../../identity/index.ts";
import { secretsSchema } from "./contract/secrets.ts";
import { SESSION, startApp } from "./fixtures/start-app.ts";

function known<Value>(value: Value | undefined): Value {
  assert.ok(value !== undefined);
  return value;
}

const VALUE = "s3cret-value-of-a-token";

test("a person sets, replaces and removes a secret, and no answer contains a value", async (t) => {
  const door = await openOperatorDoor(t, {
    mcpServers: { crm: { url: "https://crm.example.com/mcp", headers: { Authorization: "Bearer ${secret:CRM}" } } },
    sandbox: {
      networkPolicy: { mode: "allowed", domains: ["mail.example.com"] },
      secrets: { MAIL: { hosts: ["mail.example.com"] } },
    },
  });
  const { send } = await startApp(t, undefined, {}, { operator: door });
  const answers: string[] = [];
  const ask = async (method: string, path: string, body?: object) => {
    const answer = await send(path, { method, headers: SESSION, ...(body && { body: JSON.stringify(body) }) });
    answers.push(answer.body);
    return answer;
  };
  const read = async () => secretsSchema.parse(JSON.parse((await ask("GET", "/api/secrets")).body));
  const before = await read();
  assert.equal(before.file, door.settings.source.kind === "file" ? door.settings.source.path : "");
  assert.deepEqual(before.secrets, [
    { name: "CRM", usedBy: ["mcpServers.crm.headers.Authorization"] },
    { name: "MAIL", usedBy: [], boundTo: { hosts: ["mail.example.com"], places: ["header"], principals: [] } },
  ]);

  const put = (version: number) => ask("PUT", "/api/secrets/CRM", { value: VALUE, version });
  assert.deepEqual([(await put(1)).status, (await put(0)).status, (await put(0)).status], [409, 200, 409]);
  assert.equal((await put(1)).body, '{"name":"CRM","version":2}');
  const { vault } = await door.openRecords();
  const [crm] = (await read()).secrets;
  assert.deepEqual([crm?.version, crm?.lastUse], [2, undefined]);
  await vault.lend(known(parseSecretName("CRM")), "headers of crm");
  assert.equal((await read()).secrets[0]?.lastUse?.purpose, "headers of crm");

  assert.equal((await ask("DELETE", "/api/secrets/CRM?version=1")).status, 409);
  assert.equal((await ask("DELETE", "/api/secrets/CRM?version=2")).status, 200);
  assert.deepEqual(await vault.list(), []);
  assert.equal(answers.join().includes(VALUE), false);
});

test("a secret needs a valid name, a value of at most 64 KiB, and an operator", async (t) => {
  const door = await openOperatorDoor(t);
  const { send, identity, listener } = await startApp(t, undefined, {}, { operator: door });
  const put = async (name: string, value: unknown, headers: Record<string, string> = SESSION) =>
    (await send(`/api/secrets/${name}`, { method: "PUT", headers, body: JSON.stringify({ value, version: 0 }) }))
      .status;
  assert.deepEqual(
    [await put("1A", "v"), await put("A", ""), await put("A", 5), await put("A", "\ud800")],
    [400, 400, 400, 400],
  );
  assert.deepEqual([await put("A", "v".repeat(65_537)), await put("A", "v".repeat(65_536))], [400, 200]);
  await identity.people.add("rita", ["reviewer"], OPERATOR);
  const rita = await identity.resolve(known(parsePrincipalId("person:rita")));
  const { secret } = await identity.sessions.open(known(rita), "test");
  const cookie = `glovebox-${listener.port}=${secret}`;
  const origin = `http://127.0.0.1:${listener.port}`;
  assert.equal(await put("B", "v", { cookie, origin }), 403);
  assert.equal(await put("B", "v", { ...SESSION, origin: "https://evil.example" }), 403);
});

test("a gateway with a store in memory says that it has no secrets of its own here", async (t) => {
  const { send } = await startApp(t);
  const { status, body } = await send("/api/secrets", { headers: SESSION });
  assert.deepEqual([status, body.includes("in memory")], [404, true]);
});
