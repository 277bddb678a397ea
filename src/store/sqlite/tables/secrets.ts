/** Sealed secrets by name, the check value of the key that wraps them, and single facts about the installation. */

import { readColumn, text } from "../../row.ts";
import { SECRET } from "../../store.ts";
import type { MetaStore, SecretStore } from "../../store.ts";

import { insertInto, writeAndErase } from "../connection.ts";
import type { Connection } from "../connection.ts";

/** The key of the check value in `meta`. */
const CHECK = "vault.check";

export function createSecrets(connection: Connection): SecretStore {
  const { database, read, write } = connection;
  const put = database.prepare(insertInto("secrets", SECRET, "OR REPLACE"));
  const select = database.prepare("SELECT * FROM secrets WHERE name = ?");
  const selectAll = database.prepare("SELECT * FROM secrets ORDER BY name");
  const remove = database.prepare("DELETE FROM secrets WHERE name = ?");
  const update = database.prepare("UPDATE secrets SET wrapped_key = ? WHERE name = ?");
  const facts = prepareFacts(connection);

  return {
    keyCheck: () => read(() => facts.find(CHECK)),
    claimKey: (check) => write(() => facts.claim(CHECK, check)),
    put: (row, check) =>
      write(() => {
        if (facts.find(CHECK) !== check) return false;
        put.run(...SECRET.toValues(row));
        return true;
      }),
    claim: (row, check) =>
      write(() => {
        if (facts.find(CHECK) !== check) return undefined;
        const known = SECRET.parseIfFound(select.get(row.name));
        if (!known) put.run(...SECRET.toValues(row));
        return known ?? row;
      }),
    find: (name) => read(() => SECRET.parseIfFound(select.get(name))),
    list: () => read(() => selectAll.all().map(SECRET.parse)),
    remove: (name) => write(() => Number(remove.run(name).changes) > 0),
    rewrap: ({ from, to }, wrap) =>
      writeAndErase(connection, () => {
        if (facts.find(CHECK) !== from) return false;
        for (const row of selectAll.all().map(SECRET.parse)) update.run(wrap(row), row.name);
        facts.set(CHECK, to);
        return true;
      }),
    whileKey: (check, work) => write(() => (facts.find(CHECK) === check ? work() : undefined)),
  };
}

export function createMeta(connection: Connection): MetaStore {
  const { database, read, write } = connection;
  const remove = database.prepare("DELETE FROM meta WHERE key = ?");
  const facts = prepareFacts(connection);
  return {
    get: (key) => read(() => facts.find(key)),
    set: (key, value) => write(() => facts.set(key, value)),
    erase: (key) => writeAndErase(connection, () => void remove.run(key)),
    claim: (key, value) => write(() => facts.claim(key, value)),
  };
}

/** Call the returned functions in a transaction. */
function prepareFacts({ database }: Connection) {
  const select = database.prepare("SELECT value FROM meta WHERE key = ?");
  const upsert = database.prepare("INSERT INTO meta VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value");
  const insert = database.prepare("INSERT INTO meta VALUES (?, ?) ON CONFLICT DO NOTHING");
  const find = (key: string): string | undefined => {
    const row = select.get(key);
    return row && readColumn(row, "value", text);
  };
  return {
    find,
    set: (key: string, value: string): void => void upsert.run(key, value),
    claim: (key: string, value: string): string => {
      insert.run(key, value);
      return find(key) ?? value;
    },
  };
}
