/** A knowledge graph and a shop. */

import { call } from "../task.ts";
import type { Conversation } from "../task.ts";

export const GRAPH_AND_SHOP: Conversation = {
  title: "A graph and a shop",
  tasks: [
    {
      name: "what is known about a person",
      ask: "What do you remember about Ada?",
      needs: ["memory.openNodes"],
      searches: ["what do you know about a person", "open nodes of the knowledge graph"],
      program: `const { entities } = await memory.openNodes({ names: ["Ada"] });
return entities[0].observations;`,
      expected: ["lives in London", "writes programs", "likes flying"],
      plain: [[call("memory", "open_nodes", { names: ["Ada"] })]],
    },
    {
      name: "entities by type",
      ask: "How many entities of each type are in the knowledge graph?",
      needs: ["memory.readGraph"],
      searches: ["read the knowledge graph"],
      program: `const { entities } = await memory.readGraph({});
const counts = {};
for (const { entityType } of entities) counts[entityType] = (counts[entityType] ?? 0) + 1;
return counts;`,
      expected: { person: 3, machine: 2 },
      plain: [[call("memory", "read_graph", {})]],
    },
    {
      name: "an entity with a relation",
      ask: "Remember that Alan is a person who designs a machine, the Bombe.",
      needs: ["memory.createEntities", "memory.createRelations"],
      searches: ["create entities and relations"],
      program: `await memory.createEntities({
  entities: [
    { name: "Alan", entityType: "person", observations: ["designs machines"] },
    { name: "Bombe", entityType: "machine", observations: [] },
  ],
});
const { relations } = await memory.createRelations({ relations: [{ from: "Alan", to: "Bombe", relationType: "designs" }] });
return relations.length;`,
      expected: 1,
      verify: {
        program: `const { entities, relations } = await memory.openNodes({ names: ["Alan", "Bombe"] });
return [entities.map(({ name }) => name), relations.length];`,
        expected: [["Alan", "Bombe"], 1],
      },
      plain: [
        [
          call("memory", "create_entities", {
            entities: [
              { name: "Alan", entityType: "person", observations: ["designs machines"] },
              { name: "Bombe", entityType: "machine", observations: [] },
            ],
          }),
        ],
        [
          call("memory", "create_relations", {
            relations: [{ from: "Alan", to: "Bombe", relationType: "designs" }],
          }),
        ],
      ],
    },
    {
      name: "a field that does not exist",
      ask: "Who programs a machine?",
      needs: ["memory.readGraph"],
      searches: [],
      mistake: "reads `edges` of the graph, which are `relations`",
      program: `const graph = await memory.readGraph({});
return graph.edges.filter((relation) => relation.relationType === "programs").map((relation) => relation.from);`,
      expected: ["Ada", "Grace"],
      plain: [[call("memory", "read_graph", {})]],
    },
    {
      name: "a fact is added",
      ask: "Add to Grace that she was an admiral.",
      needs: ["memory.addObservations"],
      searches: ["add a fact to an entity", "add observations"],
      program: `const { results } = await memory.addObservations({ observations: [{ entityName: "Grace", contents: ["was an admiral"] }] });
return results[0].addedObservations;`,
      expected: ["was an admiral"],
      verify: {
        program: `return (await memory.openNodes({ names: ["Grace"] })).entities[0].observations.at(-1)`,
        expected: "was an admiral",
      },
      plain: [
        [
          call("memory", "add_observations", {
            observations: [{ entityName: "Grace", contents: ["was an admiral"] }],
          }),
        ],
      ],
    },
    {
      name: "sold out products",
      ask: "Which products are sold out?",
      needs: ["inventory.listProducts"],
      searches: ["list products in stock"],
      program: `const { products } = await inventory.listProducts({ in_stock: false });
return products.map((product) => product.name);`,
      expected: ["Watering can", "Paper tray", "Puzzle box", "Thermos flask"],
      plain: [[call("inventory", "list_products", { in_stock: false })]],
    },
    {
      name: "value of the stock",
      ask: "What is the stock of each category worth, in whole euros?",
      needs: ["inventory.listProducts"],
      searches: ["list products"],
      program: `const { products } = await inventory.listProducts({});
const worth = {};
for (const { category, price_cents, stock } of products) worth[category] = (worth[category] ?? 0) + price_cents * stock;
return Object.fromEntries(Object.entries(worth).map(([category, cents]) => [category, Math.round(cents / 100)]));`,
      expected: { kitchen: 4451, garden: 2860, office: 3443, toys: 4143, outdoor: 5190 },
      plain: [[call("inventory", "list_products", {})]],
    },
    {
      name: "open orders of a customer",
      ask: "What is the total of Ada Verne's pending orders?",
      needs: ["inventory.listOrders"],
      searches: ["orders of a customer"],
      program: `const { orders } = await inventory.listOrders({ customer: "Ada Verne", status: "pending" });
return orders.reduce((sum, order) => sum + order.total_cents, 0) / 100;`,
      expected: 1543.5,
      plain: [[call("inventory", "list_orders", { customer: "Ada Verne", status: "pending" })]],
    },
    {
      name: "a result taken for an array",
      ask: "Give me the ids of the first three cancelled orders.",
      needs: ["inventory.listOrders"],
      searches: [],
      mistake: "takes the result object for the array in it",
      program: `const orders = await inventory.listOrders({ status: "cancelled" });
return orders.slice(0, 3).map((order) => order.id);`,
      expected: ["ORD-1004", "ORD-1011", "ORD-1018"],
      plain: [[call("inventory", "list_orders", { status: "cancelled" })]],
    },
    {
      name: "a positional argument",
      ask: "What does SKU-008 cost?",
      needs: ["inventory.getProduct"],
      searches: [],
      mistake: "passes a string instead of an object",
      program: `const product = await inventory.getProduct("SKU-008");
return product.price_cents;`,
      expected: 475,
      plain: [[call("inventory", "get_product", { sku: "SKU-008" })]],
    },
  ],
};
