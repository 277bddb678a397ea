/** Sealed secrets, by name. */

import { parseSecretName } from "../../domain/index.ts";
import type { SecretRow, SecretStore } from "../store.ts";

import type { Connection } from "./connection.ts";
import { bytesOf, idOf, integerOf } from "./row.ts";
import type { Row } from "./row.ts";

/** Works on the connection's own file; the caller closes that. */
export function createSecrets({ database, read, write }: Connection): SecretStore {
  const put = database.prepare("INSERT OR REPLACE INTO secrets VALUES (?, ?, ?, ?, ?, ?)");
  const select = database.prepare("SELECT * FROM secrets WHERE name = ?");
  const selectAll = database.prepare("SELECT * FROM secrets ORDER BY name");
  const remove = database.prepare("DELETE FROM secrets WHERE name = ?");

  return {
    put: async ({ name, version, wrappedKey, nonce, ciphertext, createdAt }) => {
      await write(() => put.run(name, version, wrappedKey, nonce, ciphertext, createdAt));
    },
    find: (name) =>
      read(() => {
        const row = select.get(name);
        return row && toSecretRow(row);
      }),
    list: () => read(() => selectAll.all().map(toSecretRow)),
    remove: (name) => write(() => Number(remove.run(name).changes) > 0),
  };
}

function toSecretRow(row: Row): SecretRow {
  return {
    name: idOf(row, "name", parseSecretName),
    version: integerOf(row, "version"),
    wrappedKey: bytesOf(row, "wrapped_key"),
    nonce: bytesOf(row, "nonce"),
    ciphertext: bytesOf(row, "ciphertext"),
    createdAt: integerOf(row, "created_at"),
  };
}
