/**
 * An agent loop: a model gets three tools, searches, writes a program and answers. The model is a script here, so that
 * the example runs without an account; replace `askModel` by a call of your model. Copy this file beside your own code
 * and run it with `node agent-loop.ts`.
 */

import { createGlovebox, defineAdapter } from "glovebox";
import type { Json } from "glovebox";

interface Message {
  readonly role: "user" | "assistant" | "tool";
  readonly text: string;
}

type Turn =
  | { readonly kind: "call"; readonly tool: "search" | "describe" | "execute"; readonly argument: string }
  | { readonly kind: "answer"; readonly text: string };

const tickets = new Map([
  ["t1", { title: "The printer is on fire", state: "open" }],
  ["t2", { title: "Please buy tea", state: "open" }],
]);

const helpdesk = defineAdapter({
  name: "helpdesk",
  tools: {
    listTickets: {
      description: "Lists all tickets.",
      input: { type: "object" },
      effect: "read",
      run: () => [...tickets].map(([id, ticket]) => ({ id, ...ticket })),
    },
    deleteTicket: {
      description: "Deletes a ticket for good.",
      input: { type: "object", properties: { id: { type: "string" } }, required: ["id"] },
      effect: "destroy",
      run: ({ id }) => typeof id === "string" && tickets.delete(id),
    },
  },
});

/** What a real model would write after it has read the messages. */
const SCRIPT: readonly Turn[] = [
  { kind: "call", tool: "search", argument: "delete tickets" },
  { kind: "call", tool: "describe", argument: "helpdesk.deleteTicket" },
  {
    kind: "call",
    tool: "execute",
    argument: `const found = (await helpdesk.listTickets({})).filter(({ title }) => title.includes("tea"));
for (const { id } of found) await helpdesk.deleteTicket({ id });
return found.length;`,
  },
  { kind: "answer", text: "I deleted the ticket about tea." },
];

function askModel(messages: readonly Message[]): Turn {
  const turns = messages.filter(({ role }) => role === "assistant").length;
  return SCRIPT[turns] ?? { kind: "answer", text: "I am done." };
}

const glovebox = await createGlovebox({ adapters: [helpdesk], store: { url: "sqlite::memory:" } });

// Deleting needs a person. A real program asks one; this one allows what is about t2.
glovebox.approvals.onApproval(({ id, tool, args }) => {
  const verdict = JSON.stringify(args).includes('"t2"') ? "approve" : "reject";
  console.log(`approval: ${tool} ${JSON.stringify(args)} ${verdict}`);
  void glovebox.approvals.decide(id, { verdict, by: "ada" });
});

async function runTool({ tool, argument }: Extract<Turn, { kind: "call" }>): Promise<string> {
  switch (tool) {
    case "search": {
      const { tools } = await glovebox.search({ query: argument });
      return tools.map(({ signature, name }) => signature ?? name).join("\n");
    }
    case "describe":
      return glovebox.describe({ names: [argument] });
    case "execute": {
      const { state, value, error } = await glovebox.execute({ code: argument, principal: "ada" });
      const answer: Json = error ? { state, error: error.message } : { state, value: value ?? null };
      return JSON.stringify(answer);
    }
    default:
      return tool satisfies never;
  }
}

try {
  const messages: Message[] = [{ role: "user", text: "Delete the ticket about tea." }];
  for (let turn = askModel(messages); turn.kind !== "answer"; turn = askModel(messages)) {
    messages.push({ role: "assistant", text: `${turn.tool}: ${turn.argument}` });
    messages.push({ role: "tool", text: await runTool(turn) });
    console.log(`${turn.tool}: ${messages.at(-1)?.text.split("\n")[0]}`);
  }
  console.log(`tickets left: ${[...tickets.keys()].join(", ")}`);
} finally {
  await glovebox.close();
}
