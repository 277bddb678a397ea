/** Sealed secrets by name, and the check value of the key that wraps them. */

import { parseSecretName } from "../../../domain/index.ts";
import type { SecretRow, SecretStore } from "../../store.ts";

import { writeAndErase } from "../connection.ts";
import type { Connection } from "../connection.ts";
import { bytesOf, idOf, integerOf, textOf } from "../row.ts";
import type { Row } from "../row.ts";

/** The key of the check value in `meta`. */
const CHECK = "vault.check";

export function createSecrets(connection: Connection): SecretStore {
  const { database, read, write } = connection;
  const put = database.prepare("INSERT OR REPLACE INTO secrets VALUES (?, ?, ?, ?, ?, ?)");
  const select = database.prepare("SELECT * FROM secrets WHERE name = ?");
  const selectAll = database.prepare("SELECT * FROM secrets ORDER BY name");
  const remove = database.prepare("DELETE FROM secrets WHERE name = ?");
  const claim = database.prepare("INSERT INTO meta VALUES (?, ?) ON CONFLICT DO NOTHING");
  const findCheck = createFindCheck(connection);

  return {
    keyCheck: () => read(findCheck),
    claimKey: (check) =>
      write(() => {
        claim.run(CHECK, check);
        return findCheck() ?? check;
      }),
    put: ({ name, version, wrappedKey, nonce, ciphertext, createdAt }, check) =>
      write(() => {
        if (findCheck() !== check) return false;
        put.run(name, version, wrappedKey, nonce, ciphertext, createdAt);
        return true;
      }),
    claim: ({ name, version, wrappedKey, nonce, ciphertext, createdAt }, check) =>
      write(() => {
        if (findCheck() !== check) return undefined;
        const row = select.get(name);
        if (row) return toSecretRow(row);
        put.run(name, version, wrappedKey, nonce, ciphertext, createdAt);
        return { name, version, wrappedKey, nonce, ciphertext, createdAt };
      }),
    find: (name) =>
      read(() => {
        const row = select.get(name);
        return row && toSecretRow(row);
      }),
    list: () => read(() => selectAll.all().map(toSecretRow)),
    remove: (name) => write(() => Number(remove.run(name).changes) > 0),
    rewrap: createRewrap(connection),
    whileKey: (check, work) => write(() => (findCheck() === check ? work() : undefined)),
  };
}

function createFindCheck({ database }: Connection): () => string | undefined {
  const select = database.prepare("SELECT value FROM meta WHERE key = ?");
  return () => {
    const row = select.get(CHECK);
    return row && textOf(row, "value");
  };
}

function createRewrap(connection: Connection): SecretStore["rewrap"] {
  const { database } = connection;
  const selectAll = database.prepare("SELECT * FROM secrets");
  const update = database.prepare("UPDATE secrets SET wrapped_key = ? WHERE name = ?");
  const setCheck = database.prepare("UPDATE meta SET value = ? WHERE key = ?");
  const findCheck = createFindCheck(connection);

  return ({ from, to }, wrap) =>
    writeAndErase(connection, () => {
      if (findCheck() !== from) return false;
      for (const row of selectAll.all().map(toSecretRow)) update.run(wrap(row), row.name);
      setCheck.run(to, CHECK);
      return true;
    });
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
