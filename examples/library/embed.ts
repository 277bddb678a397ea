/** Glovebox as a library: opens it with one upstream, runs a program and prints its result. */

import { createGlovebox, defineConfig } from "glovebox";

const config = defineConfig({
  mcpServers: {
    memory: { command: process.execPath, args: ["node_modules/@modelcontextprotocol/server-memory/dist/index.js"] },
  },
  store: { url: "sqlite::memory:" },
});

await using glovebox = await createGlovebox(config);

const result = await glovebox.execute({
  code: `
    await memory.createEntities({ entities: [{ name: input.who, entityType: "person", observations: ["likes tea"] }] });
    const { entities } = await memory.readGraph();
    return entities.map(({ name, observations }) => name + " " + observations.join(", "));
  `,
  input: { who: "Ada" },
  limits: { wallMs: 5_000 },
});

console.log(result.state, result.value);
