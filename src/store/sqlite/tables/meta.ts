/** Single facts about the installation, by key. */

import type { MetaStore } from "../../store.ts";

import { writeAndErase } from "../connection.ts";
import type { Connection } from "../connection.ts";
import { textOf } from "../row.ts";

export function createMeta(connection: Connection): MetaStore {
  const { database, read, write } = connection;
  const select = database.prepare("SELECT value FROM meta WHERE key = ?");
  const upsert = database.prepare("INSERT INTO meta VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value");
  const insert = database.prepare("INSERT INTO meta VALUES (?, ?) ON CONFLICT DO NOTHING");
  const remove = database.prepare("DELETE FROM meta WHERE key = ?");

  const find = (key: string): string | undefined => {
    const row = select.get(key);
    return row && textOf(row, "value");
  };

  return {
    get: (key) => read(() => find(key)),
    set: async (key, value) => {
      await write(() => upsert.run(key, value));
    },
    erase: async (key) => {
      await writeAndErase(connection, () => remove.run(key));
    },
    claim: (key, value) =>
      write(() => {
        insert.run(key, value);
        return find(key) ?? value;
      }),
  };
}
