/** A large server does not disable the type check, neither for its own tools nor for other servers. */

import assert from "node:assert/strict";
import { after, describe, it } from "node:test";

import { createGlovebox, defineAdapter } from "../../src/main.ts";

const PROPERTIES = Object.fromEntries(
  Array.from({ length: 300 }, (_, at) => [`the_property_number_${at}`, { type: "string" }]),
);
const large = defineAdapter({
  name: "alpha",
  tools: Object.fromEntries(
    Array.from({ length: 500 }, (_, at) => [
      `tool${at}`,
      {
        description: `Tool ${at}`,
        input: { type: "object", properties: PROPERTIES, additionalProperties: false },
        effect: "read" as const,
        run: () => at,
      },
    ]),
  ),
});
const small = defineAdapter({
  name: "zeta",
  tools: {
    get: {
      description: "Gets",
      input: { type: "object", properties: { id: { type: "string" } }, required: ["id"] },
      effect: "read",
      run: () => "got",
    },
  },
});
const glovebox = await createGlovebox({
  adapters: [large, small],
  analysis: { typeCheck: "before" },
  store: { url: "sqlite::memory:" },
});
after(() => glovebox.close());

const NUMBER = /^The types of alpha\.tool\d+, alpha\.tool\d+, alpha\.tool\d+ and \d+ more were not checked: /;

describe("the type check with a large server", () => {
  for (const code of ["return await zeta.get({ ix: 1 })", "return await alpha.tool99({ the_property_number_5: 1 })"]) {
    it(`refuses ${code}`, async () => {
      const { error, calls } = await glovebox.execute({ code });
      assert.deepEqual([error?.code, calls], ["PROGRAM_TYPES", []]);
    });
  }
  it("runs a correct program without findings", async () => {
    const code = 'return [await zeta.get({ id: "a" }), await alpha.tool99({ the_property_number_5: "b" })]';
    const { value, findings } = await glovebox.execute({ code });
    assert.deepEqual([value, findings], [["got", 99], []]);
  });
  it("lists the tools whose types were not checked if a program can reach too many", async () => {
    const code = "return await alpha[input.tool]({ the_property_number_5: 'b' })";
    const { value, findings } = await glovebox.execute({ code, input: { tool: "tool99" } });
    assert.equal(value, 99);
    const [found, ...others] = findings.filter(({ rule }) => rule === "types");
    assert.match(found?.message ?? "", NUMBER);
    assert.deepEqual([found?.severity, others], ["warn", []]);
  });
});
