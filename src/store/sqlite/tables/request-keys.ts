/** Idempotency keys: each belongs to one principal and one execution. */

import type { DatabaseSync } from "node:sqlite";

import { parseDigest, parseExecutionId } from "../../../domain/index.ts";
import type { Execution } from "../../../domain/index.ts";
import type { KeyHolder, RequestKey } from "../../executions.ts";

import { idOf } from "../row.ts";

const REPLACE =
  "UPDATE request_keys SET execution = ? WHERE principal = ? AND key = ? AND request = ? AND execution = ?";

export interface RequestKeys {
  /** Assigns the key to this execution, or returns its holder. Call it in a transaction. */
  take(execution: Pick<Execution, "id" | "principal">, key: RequestKey): KeyHolder | undefined;
}

export function createRequestKeys(database: DatabaseSync): RequestKeys {
  const insert = database.prepare("INSERT INTO request_keys VALUES (?, ?, ?, ?)");
  const replace = database.prepare(REPLACE);
  const select = database.prepare("SELECT request, execution FROM request_keys WHERE principal = ? AND key = ?");
  return {
    take({ id, principal }, { key, request, insteadOf }) {
      if (insteadOf !== undefined && replace.run(id, principal, key, request, insteadOf).changes > 0) return undefined;
      const row = select.get(principal, key);
      if (row)
        return { execution: idOf(row, "execution", parseExecutionId), request: idOf(row, "request", parseDigest) };
      insert.run(principal, key, request, id);
      return undefined;
    },
  };
}
