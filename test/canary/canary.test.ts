/**
 * Twenty planted secrets, upstreams and programs that leak them in every way, and a search through everything that
 * leaves: responses, pages, logs, records, files, environments. Marks beside the secrets prove that each place was
 * reached, and receipts prove that the upstreams received the secrets.
 */

import assert from "node:assert/strict";
import { after, before, describe, it, test } from "node:test";

import { ERAS } from "../../src/surfaces/mcp/fixtures/try-client.ts";
import { CANARIES, findCanaries } from "./canaries.ts";
import { collectOutput } from "./collect-output.ts";
import type { CollectedOutput } from "./collect-output.ts";
import { CRASHING_SERVER, ALLOWED_CANARIES } from "./leaking-upstreams.ts";

/** Starting everything takes long on a busy machine. */
const PATIENCE = { timeout: 300_000 };
let output: CollectedOutput;

/** Asserts that no canary occurs, and that every mark does. */
function assertClean(
  text: Buffer | string,
  marks: readonly string[],
  secrets: Record<string, string> = CANARIES,
): void {
  assert.deepEqual(findCanaries(text, secrets), []);
  const missing = marks.filter((mark) => !text.includes(mark));
  assert.deepEqual(missing, [], "the place was not reached");
}

test("the search finds each canary in each encoding, also inside a longer string", () => {
  const wrap = (text: string): string => `{"before":"${text}"}`;
  for (const [name, secret] of Object.entries(CANARIES)) {
    const longer = ["", "x", "xy"].map((before) => Buffer.from(`${before}${secret} and more`));
    const forms = [
      secret,
      encodeURIComponent(secret),
      JSON.stringify({ secret }),
      Buffer.from(secret).toString("hex").toUpperCase(),
      ...longer.flatMap((text) => [text.toString("base64"), text.toString("base64url")]),
    ];
    for (const form of forms) assert.deepEqual(findCanaries(wrap(form), CANARIES), [name]);
  }
  assert.equal(Object.keys(CANARIES).length, 20);
});

describe("canaries", PATIENCE, () => {
  before(async () => {
    output = await collectOutput();
  }, PATIENCE);
  after(() => output[Symbol.asyncDispose]());

  it("every upstream received the canaries that were planted for it", () => {
    const got = output.receipts();
    const planted = { ...CANARIES, encryptionKey: "" };
    const missing = Object.entries(planted).filter(([, secret]) => !got.includes(JSON.stringify(secret).slice(1, -1)));
    assert.deepEqual(missing, []);
  });

  for (const { era } of ERAS) {
    it(`no canary is in the responses to a client of ${era}`, () => {
      const marks = [
        "value",
        "threw",
        "text",
        "frame",
        "missing",
        "large",
        "log",
        "result",
        "failure",
        "protocol",
        "api",
      ];
      const listed = ["description", "resource", "contents", "prompt", "message", "operation", "progress", "adapter"];
      assertClean(
        output.answers(era),
        [...marks, ...listed].map((mark) => `MARK-${mark}`),
      );
    });
  }

  it("neither a canary nor the token is on the admin page, in its API or in the health response", () => {
    assertClean(output.pages(), ["MARK-stderr", "crasher", "MARK-description", '"status":"ok"', "<html"], {
      ...CANARIES,
      token: output.token,
    });
  });

  it("no canary is in the output of the gateway, including incidents", () => {
    assertClean(output.printed(), ["incident in_", "MARK-incident"]);
    assert.deepEqual(findCanaries(output.printed("stderr"), { token: output.token }), []);
  });

  it("no canary is in the output of commands", () => {
    const marks = [
      "MARK-value",
      "MARK-log",
      "MARK-crash",
      "MARK-description",
      "call.ended",
      "secret.lent",
      "ADAPTER_KEY",
    ];
    assertClean(output.commands(), [...marks, "resourceLogs"]);
  });

  it("no canary is in files: the store with its log, the ledger, temporary files, caches", () => {
    const marks = ["MARK-value", "MARK-large", "MARK-frame", "MARK-description", "execution.closed"];
    assertClean(output.files(), marks, { ...CANARIES, token: output.token });
  });

  it("no canary is in the environment or options of a process that it was not meant for", () => {
    const seen = output.processes();
    const wrong = seen.map(({ name, text }) => [name, findCanaries(text, CANARIES)] as const);
    const strangers = wrong.filter(([name]) => ALLOWED_CANARIES[name] === undefined);
    assert.ok(strangers.length >= 3, "sandbox, checker and reaper are there");
    assert.deepEqual(
      strangers.filter(([, found]) => found.length > 0),
      [],
    );
    const granted = new Map(wrong.filter(([name]) => ALLOWED_CANARIES[name] !== undefined));
    const expected = Object.entries(ALLOWED_CANARIES).filter(([name]) => name !== CRASHING_SERVER || granted.has(name));
    assert.deepEqual(
      new Map([...granted].map(([name, found]) => [name, found.toSorted()])),
      new Map(expected.map(([name, found]) => [name, found.toSorted()])),
    );
  });
});
