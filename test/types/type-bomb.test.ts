/** A program whose types take too long to check costs only its own session the type check. */

import assert from "node:assert/strict";
import { after, describe, it } from "node:test";

import { createGlovebox, defineAdapter } from "../../src/main.ts";

const shop = defineAdapter({
  name: "shop",
  tools: {
    get: {
      description: "Gets",
      input: { type: "object", properties: { id: { type: "string" } }, required: ["id"] },
      effect: "read",
      run: () => "got",
    },
  },
});
const glovebox = await createGlovebox({ adapters: [shop], store: { url: "sqlite::memory:" } });
after(() => glovebox.close());

let rounds = 0;
/** Each text is new: the answers to known programs are cached. */
function createBomb(): string {
  rounds += 1;
  return `type B<T, N extends any[] = []> = N["length"] extends 40 ? T : B<T | [T, N], [...N, 0]> | B<[T], [...N, 0]>;
let b: B<${rounds}>; return await shop.get({ id: "bomb" })`;
}

async function sendBomb(session: string): Promise<readonly unknown[]> {
  const { state, value, findings } = await glovebox.execute({ code: createBomb(), session });
  return [state, value, findings.map(({ severity, message }) => `${severity}: ${message}`)];
}

const UNCHECKED = ["completed", "got", ["warn: The types were not checked: the check took too long"]];

/** Returns the error code of a mistaken program, and the state and number of findings of a correct one. */
async function sendBoth(session: string): Promise<readonly unknown[]> {
  rounds += 1;
  const mistaken = await glovebox.execute({ code: `return await shop.get({ ix: ${rounds} })`, session });
  const correct = await glovebox.execute({ code: `return await shop.get({ id: "${rounds}" })`, session });
  return [mistaken.error?.code, correct.state, correct.findings.length];
}

const CHECKED = ["PROGRAM_TYPES", "completed", 0];

describe("a type bomb", () => {
  it("runs unchecked, with a warning (positive control)", async () => {
    assert.deepEqual(await sendBomb("control"), UNCHECKED);
  });
  it("does not cost other sessions the type check, however often a session sends one", async () => {
    for (let round = 0; round < 3; round += 1) {
      const [bomb, other] = await Promise.all([sendBomb("attacker"), sendBoth("other")]);
      assert.deepEqual([bomb, other], [UNCHECKED, CHECKED]);
    }
  });
  it("does not cost other sessions the type check if many sessions send one", async () => {
    const attackers = ["1", "2", "3", "4", "5"];
    const [others, ...bombs] = await Promise.all([
      sendBoth("other"),
      ...attackers.map((attacker) => sendBomb(attacker)),
    ]);
    assert.deepEqual([others, ...bombs], [CHECKED, ...attackers.map(() => UNCHECKED)]);
    assert.deepEqual(await sendBoth("newcomer"), CHECKED);
  });
  it("does not cost its own session the type check of later programs", async () => {
    assert.deepEqual(await sendBoth("attacker"), CHECKED);
  });
});
