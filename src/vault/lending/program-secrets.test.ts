/** The secrets of programs with a real vault and ledger: grants, tokens, and values that come back. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { GloveboxError, parseExecutionId, parsePrincipalId } from "../../domain/index.ts";
import type { SecretGrants } from "../../domain/index.ts";
import { history, name, setUp } from "../fixtures/set-up.ts";
import type { Fixture } from "../fixtures/set-up.ts";
import { createMask } from "../mask.ts";
import { Secret } from "../secret.ts";
import { createProgramSecrets } from "./program-secrets.ts";

const VALUE = "s3cr3t-value/31415";
const id = parseExecutionId(`ex_${"a".repeat(24)}`);
const principal = parsePrincipalId("ada");
const other = parsePrincipalId("eve");
assert.ok(id && principal && other);
const EXECUTION = { id, principal };
const GRANTED: SecretGrants = new Map([[name("KEY"), { hosts: [], places: ["header"], principals: [principal] }]]);

async function open({ vault, ledger }: Fixture, grants = GRANTED) {
  await vault.set(name("KEY"), new Secret(VALUE), "operator");
  const mask = createMask();
  const secrets = createProgramSecrets({ grants, vault, ledger, mask, seal: { derive: () => Buffer.alloc(32, 1) } });
  return { secrets, mask };
}

const answerOf = (text: string) => ({
  url: `https://${text}/`,
  statusText: text,
  headers: [["echo", text]] as const,
  body: Buffer.from(text),
  status: 200,
});

describe("the tokens of a program", () => {
  test("tokens exist for the principals that a secret is granted to, and for no other", async () => {
    await using fixture = await setUp();
    const { secrets } = await open(fixture);
    assert.deepEqual(Object.keys(secrets.tokensOf(EXECUTION) ?? {}), ["KEY"]);
    assert.equal(secrets.tokensOf({ id, principal: other }), undefined);
    assert.deepEqual([secrets.grantsOf(principal).size, secrets.grantsOf(other).size], [1, 0]);
  });

  test("tokens in a result are recorded, and other results leave no record", async () => {
    await using fixture = await setUp();
    const { secrets } = await open(fixture);
    const token = secrets.tokensOf(EXECUTION)?.["KEY"] ?? "";
    await secrets.noticeIn(EXECUTION, { value: { a: "plain" }, logs: [] });
    await secrets.noticeIn(EXECUTION, { value: { a: token }, logs: [{ level: "log", text: token, atMs: 0 }] });
    const noticed = (await history(fixture.ledger)).slice(1).map((record) => JSON.stringify(record));
    assert.deepEqual(
      noticed.map((record) => /"place":"(\w+)"/.exec(record)?.[1]),
      ["result", "log"],
    );
  });
});

describe("an answer of a host", () => {
  test("values are removed from all parts of an answer, and the mask learns them", async () => {
    await using fixture = await setUp();
    const { secrets, mask } = await open(fixture);
    const send = async (text: string) => answerOf(text);
    await secrets.guard(send)("hello");
    const answer = await secrets.guard(send)(VALUE);
    const shown = [answer.url, answer.statusText, answer.headers[0]?.[1] ?? "", Buffer.from(answer.body).toString()];
    assert.ok(
      shown.every((text) => !text.includes(VALUE) && text.includes("[secret]")),
      shown.join(" "),
    );
    assert.equal(mask.hide(VALUE), "[secret]");
  });

  test("values are removed from a refusal too", async () => {
    await using fixture = await setUp();
    const { secrets } = await open(fixture);
    await secrets.guard(async (text: string) => answerOf(text))("hello");
    const refuse = (): Promise<never> =>
      Promise.reject(new GloveboxError("EGRESS_DENIED", `${VALUE}.example.com`, { hint: `not ${VALUE}` }));
    const isMasked = (error: unknown): boolean =>
      error instanceof GloveboxError && !`${error.message} ${String(error.details.hint)}`.includes(VALUE);
    await assert.rejects(secrets.guard(refuse)(undefined), isMasked);
  });

  test("an answer is unchanged when nothing is granted", async () => {
    await using fixture = await setUp();
    const { secrets } = await open(fixture, new Map());
    const send = async (text: string) => answerOf(text);
    assert.equal(secrets.guard(send), send);
    assert.equal(secrets.open(EXECUTION), undefined);
  });
});
