/** How pages of the list are found: along an index, never by sorting or reading the whole table. */

import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";

import { MIGRATIONS } from "../migrations.ts";
import { listExecutions, skipExecutions } from "./list-executions.ts";

function openDatabase(t: { after: (end: () => void) => void }): DatabaseSync {
  const database = new DatabaseSync(":memory:");
  t.after(() => database.close());
  for (const script of MIGRATIONS) database.exec(script);
  return database;
}

/** The plan of the page, which is the last statement that was prepared. */
function explain(database: DatabaseSync, ask: (database: DatabaseSync) => unknown): string {
  const prepared: string[] = [];
  const prepare = (sql: string) => {
    prepared.push(sql);
    return database.prepare(sql);
  };
  ask(Object.assign(Object.create(database), { prepare }));
  const plan = database.prepare(`EXPLAIN QUERY PLAN ${prepared.at(-1)}`).all();
  return plan.map(({ detail }) => String(detail)).join("\n");
}

test("every page of executions is read along an index, and sorts at most the executions of a rare tool", (t) => {
  const database = openDatabase(t);
  const add = database.prepare("INSERT INTO execution_tools (execution, tool) VALUES (?, 'busy.tool')");
  for (let n = 0; n < 2_000; n += 1) add.run(String(n));
  const explainPage = (query: object): string =>
    explain(database, (spied) => listExecutions({ database: spied, columns: "id" }, { limit: 50, ...query }));
  const along = [
    {},
    { state: "failed" },
    { state: "running" },
    { principal: "agent:local" },
    { since: 1, until: 2 },
    { search: "pay" },
    { tool: "busy.tool" },
    { namespace: "busy" },
    { state: "failed", principal: "agent:local", namespace: "busy", since: 1 },
  ];
  for (const query of along) {
    const plan = explainPage(query);
    assert.match(plan, /(?:SEARCH|SCAN) executions USING (?:COVERING )?INDEX/, JSON.stringify(query));
    assert.doesNotMatch(plan, /USE TEMP B-TREE FOR ORDER BY/, JSON.stringify(query));
  }
  for (const query of [{ tool: "rare.tool" }, { namespace: "rare" }])
    assert.match(explainPage(query), /SEARCH execution_tools USING COVERING INDEX execution_tools_by_tool/);
  const skipped = explain(database, (spied) => skipExecutions(spied, { count: 5_000 }));
  assert.match(skipped, /SCAN executions USING COVERING INDEX/);
});
