/** An adapter for a small lending desk, written by hand. Its functions run in the gateway, not in the sandbox. */

import { defineAdapter } from "glovebox";

interface Book {
  readonly title: string;
  lentTo: string | null;
}

const books = new Map<string, Book>([
  ["b1", { title: "Notes on the Analytical Engine", lentTo: null }],
  ["b2", { title: "A Compiler for Everyone", lentTo: "Grace" }],
]);

const book = {
  type: "object",
  properties: { id: { type: "string" }, title: { type: "string" }, lentTo: { type: ["string", "null"] } },
  required: ["id", "title", "lentTo"],
};

/** Named in a configuration with `"adapters": ["./library-desk.ts"]`. */
export const desk = defineAdapter({
  name: "desk",
  tools: {
    listBooks: {
      description: "Lists the books of the desk. With free, only those that are not lent.",
      input: { type: "object", properties: { free: { type: "boolean", default: false } } },
      output: { type: "array", items: book },
      effect: "read",
      run: ({ free }) =>
        [...books].map(([id, found]) => ({ id, ...found })).filter(({ lentTo }) => free !== true || lentTo === null),
    },
    lendBook: {
      description: "Lends a book to a person.",
      input: {
        type: "object",
        properties: { id: { type: "string" }, person: { type: "string", minLength: 1 } },
        required: ["id", "person"],
      },
      effect: "write",
      run: ({ id, person }) => {
        // Glovebox has checked the schema; this tells the compiler.
        if (typeof id !== "string" || typeof person !== "string") throw new TypeError("id and person must be strings");
        const found = books.get(id);
        if (!found) throw new Error(`Book ${id} does not exist`);
        if (found.lentTo !== null) throw new Error(`${found.lentTo} has it`);
        found.lentTo = person;
        return { id, ...found };
      },
    },
  },
});
