/** An adapter for a small lending desk, written by hand. Its functions run in the gateway, not in the sandbox. */

import { defineAdapter } from "glovebox";
import { z } from "zod";

const books = new Map([
  ["b1", { title: "Notes on the Analytical Engine", lentTo: null as string | null }],
  ["b2", { title: "A Compiler for Everyone", lentTo: "Grace" as string | null }],
]);

/** Named in a configuration with `"adapters": ["./library-desk.ts"]`. */
export const desk = defineAdapter({
  name: "desk",
  tools: {
    listBooks: {
      description: "Lists the books of the desk. With free, only those that are not lent.",
      input: z.object({ free: z.boolean().default(false) }),
      output: z.array(z.object({ id: z.string(), title: z.string(), lentTo: z.string().nullable() })),
      effect: "read",
      run: ({ free }) =>
        [...books].map(([id, book]) => ({ id, ...book })).filter(({ lentTo }) => !free || lentTo === null),
    },
    lendBook: {
      description: "Lends a book to a person.",
      input: z.object({ id: z.string(), person: z.string().min(1) }),
      effect: "write",
      run: ({ id, person }) => {
        const book = books.get(id);
        if (!book) throw new Error(`Book ${id} does not exist`);
        if (book.lentTo !== null) throw new Error(`${book.lentTo} has it`);
        book.lentTo = person;
        return { id, ...book };
      },
    },
  },
});
