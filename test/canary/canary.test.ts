/**
 * Twenty planted secrets, upstreams and programs that give them away wherever they can, and a search through everything
 * that leaves: answers, texts, pages, logs, records, files, environments. Marks beside the secrets prove that each place
 * was reached, and receipts that the upstreams really had them.
 */

import assert from "node:assert/strict";
import { after, before, describe, it, test } from "node:test";

import { ERAS } from "../../src/surfaces/mcp/fixtures/try-client.ts";
import { CANARIES, findCanaries } from "./canaries.ts";
import { openScene } from "./scene.ts";
import type { Scene } from "./scene.ts";
import { FLEETING, GRANTED } from "./stage.ts";

/** Much is started; on a busy machine that takes its time. */
const PATIENCE = { timeout: 300_000 };
let scene: Scene;

/** No canary anywhere, and every mark somewhere. */
function assertClean(
  text: Buffer | string,
  marks: readonly string[],
  secrets: Record<string, string> = CANARIES,
): void {
  assert.deepEqual(findCanaries(text, secrets), []);
  const missing = marks.filter((mark) => !text.includes(mark));
  assert.deepEqual(missing, [], "the place was not reached");
}

test("the search finds each canary in each encoding, also inside a longer text", () => {
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

describe("no canary leaves", PATIENCE, () => {
  before(async () => {
    scene = await openScene();
  }, PATIENCE);
  after(() => scene[Symbol.asyncDispose]());

  it("though every upstream received what was planted for it", () => {
    const got = scene.receipts();
    const planted = { ...CANARIES, encryptionKey: "" };
    const missing = Object.entries(planted).filter(([, secret]) => !got.includes(JSON.stringify(secret).slice(1, -1)));
    assert.deepEqual(missing, []);
  });

  for (const { era } of ERAS) {
    it(`in answers to a client of ${era}`, () => {
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
        scene.answers(era),
        [...marks, ...listed].map((mark) => `MARK-${mark}`),
      );
    });
  }

  it("on the admin page, in its API, in the health and to nobody's eyes the token", () => {
    assertClean(scene.pages(), ["MARK-stderr", "crasher", "MARK-description", '"status":"ok"', "<html"], {
      ...CANARIES,
      token: scene.token,
    });
  });

  it("in what the gateway prints, incidents included", () => {
    assertClean(scene.printed(), ["incident in_", "MARK-incident"]);
    assert.deepEqual(findCanaries(scene.printed("stderr"), { token: scene.token }), []);
  });

  it("in what commands print", () => {
    const marks = [
      "MARK-value",
      "MARK-log",
      "MARK-crash",
      "MARK-description",
      "call.ended",
      "secret.lent",
      "ADAPTER_KEY",
    ];
    assertClean(scene.commands(), [...marks, "resourceLogs"]);
  });

  it("into files: the store with its log, the ledger, temporary files, caches", () => {
    const marks = ["MARK-value", "MARK-large", "MARK-frame", "MARK-description", "execution.closed"];
    assertClean(scene.files(), marks, { ...CANARIES, token: scene.token });
  });

  it("into the environment or the options of a process that it was not meant for", () => {
    const seen = scene.processes();
    const wrong = seen.map(({ name, text }) => [name, findCanaries(text, CANARIES)] as const);
    const strangers = wrong.filter(([name]) => GRANTED[name] === undefined);
    assert.ok(strangers.length >= 3, "sandbox, checker and reaper are there");
    assert.deepEqual(
      strangers.filter(([, found]) => found.length > 0),
      [],
    );
    const granted = new Map(wrong.filter(([name]) => GRANTED[name] !== undefined));
    const expected = Object.entries(GRANTED).filter(([name]) => name !== FLEETING || granted.has(name));
    assert.deepEqual(
      new Map([...granted].map(([name, found]) => [name, found.toSorted()])),
      new Map(expected.map(([name, found]) => [name, found.toSorted()])),
    );
  });
});
