/**
 * Glovebox as a library: opens it with one upstream, runs a program and prints its result. Copy this file beside your
 * own code and run it with `node embed.ts`: Node does not run TypeScript in `node_modules`.
 */

import { createGlovebox, defineAdapter, defineConfig } from "glovebox";
import type { Json } from "glovebox";

const facts: Json[] = [];

const memory = defineAdapter({
  name: "memory",
  tools: {
    addFact: {
      description: "Remembers a fact about a person.",
      input: {
        type: "object",
        properties: { name: { type: "string" }, fact: { type: "string" } },
        required: ["name", "fact"],
      },
      effect: "write",
      run: (fact) => void facts.push(fact),
    },
    listFacts: { description: "Lists all facts.", input: { type: "object" }, effect: "read", run: () => facts },
  },
});

const config = defineConfig({ adapters: [memory], store: { url: "sqlite::memory:" } });

// With Node 24, `await using` closes it as well.
const glovebox = await createGlovebox(config);
try {
  const result = await glovebox.execute({
    code: `
      await memory.addFact({ name: input.who, fact: "likes tea" });
      return (await memory.listFacts({})).map(({ name, fact }) => name + " " + fact);
    `,
    input: { who: "Ada" },
    limits: { wallMs: 5_000 },
  });
  console.log(result.state, result.value);
} finally {
  await glovebox.close();
}
