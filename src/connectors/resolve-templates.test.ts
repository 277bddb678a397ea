/** Secret references become plain strings, and a missing secret fails the whole. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { Secret, createMask } from "../vault/index.ts";
import { name, setUp } from "../vault/fixtures/set-up.ts";
import { resolveProxyLogin, resolveTemplates } from "./resolve-templates.ts";

test("joins plain parts and secrets in their order", async () => {
  await using fixture = await setUp();
  await fixture.vault.set(name("TOKEN"), new Secret("value"), "operator");
  const templates = { authorization: ["Bearer ", { secret: name("TOKEN") }], plain: ["as it is"] };
  assert.deepEqual(await resolveTemplates(templates, fixture.vault, "test"), {
    authorization: "Bearer value",
    plain: "as it is",
  });
});

test("rejects with VAULT_SECRET_MISSING when one of the secrets is not set", async () => {
  await using fixture = await setUp();
  const templates = { plain: ["as it is"], token: [{ secret: name("MISSING") }] };
  await assert.rejects(resolveTemplates(templates, fixture.vault, "test"), { code: "VAULT_SECRET_MISSING" });
});

test("a proxy password is masked, also a plain one", async () => {
  await using fixture = await setUp();
  const mask = createMask();
  const login = { user: "ada", password: ["plain-password"] };
  assert.deepEqual(await resolveProxyLogin(login, fixture.vault, mask), { user: "ada", password: "plain-password" });
  assert.equal(mask.hide("plain-password"), "[secret]");
});
