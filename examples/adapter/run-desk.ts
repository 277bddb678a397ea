/**
 * Custom adapters in a program of your own: the lending desk beside this file, and one that keeps a diary. Copy both
 * files beside your own code and run this one with `node run-desk.ts`.
 */

import { createGlovebox, defineAdapter } from "glovebox";

import { desk } from "./library-desk.ts";

const entries: string[] = [];

const diary = defineAdapter({
  name: "diary",
  tools: {
    write: {
      description: "Writes one line into the diary.",
      input: { type: "object", properties: { line: { type: "string" } }, required: ["line"] },
      effect: "write",
      run: ({ line }) => typeof line === "string" && entries.push(line),
    },
  },
});

const glovebox = await createGlovebox({ adapters: [desk, diary], store: { url: "sqlite::memory:" } });
try {
  const { state, value, error } = await glovebox.execute({
    code: `
      const free = await desk.listBooks({ free: true });
      await Promise.all(free.map(({ id }) => desk.lendBook({ id, person: input.person })));
      await diary.write({ line: input.person + " took " + free.length });
      return free.map(({ title }) => title);
    `,
    input: { person: "Ada" },
  });
  console.log(state, value ?? error?.message, entries);
} finally {
  await glovebox.close();
}
