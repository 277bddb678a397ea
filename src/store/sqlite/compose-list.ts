/** Composes the queries that depend on what was asked. The only file that loads the query builder; load it late. */

import type { SQLInputValue } from "node:sqlite";

import { DummyDriver, Kysely, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from "kysely";

import type { ExecutionId } from "../../domain/index.ts";
import type { Page } from "../executions.ts";

interface Tables {
  readonly executions: {
    readonly id: string;
    readonly principal: string;
    readonly source: string;
    readonly started_at: number;
    readonly owner: string | null;
    readonly ended_at: number | null;
    readonly state: string | null;
    readonly error_code: string | null;
  };
}

/** A statement and its values, ready to be prepared. */
export interface ComposedQuery {
  readonly sql: string;
  readonly parameters: readonly SQLInputValue[];
}

/** Compiles only: statements run on the store's own connection, under its locks and its errors. */
const builder = new Kysely<Tables>({
  dialect: {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (database) => new SqliteIntrospector(database),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  },
});

/** Newest first; ids break ties, so that a page never repeats or skips an execution of the same millisecond. */
export function composeList({ limit, before, state }: Page): ComposedQuery {
  const all = builder
    .selectFrom("executions")
    .select(["id", "principal", "source", "started_at", "owner", "ended_at", "state", "error_code"])
    .orderBy("started_at", "desc")
    .orderBy("id", "desc")
    .limit(Math.max(0, limit));
  const page = state === undefined ? all : all.where("state", "is", state === "running" ? null : state);
  if (before === undefined) return parseQuery(page.compile());
  const older = page.where((build) => build(build.refTuple("started_at", "id"), "<", positionOf(before)));
  return parseQuery(older.compile());
}

function positionOf(id: ExecutionId) {
  return builder
    .selectFrom("executions as cursor")
    .select(["cursor.started_at", "cursor.id"])
    .where("cursor.id", "=", id)
    .$asTuple("started_at", "id");
}

/** The builder types its parameters as unknown; here they are what `composeList` put in. */
function parseQuery(query: { readonly sql: string; readonly parameters: readonly unknown[] }): ComposedQuery {
  return { sql: query.sql, parameters: query.parameters as readonly SQLInputValue[] };
}
