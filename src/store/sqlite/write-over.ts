/** Writes after which what stood there before is gone from the file too, and not only from its tables. */

import type { Connection } from "./connection.ts";

/** As `write`. SQLite gives space free without touching it, and its log keeps former pages for a while. */
export async function writeAndErase<Value>({ database, read, write }: Connection, work: () => Value): Promise<Value> {
  const value = await write(() => {
    database.exec("PRAGMA secure_delete = ON");
    const done = work();
    database.exec("PRAGMA secure_delete = OFF");
    return done;
  });
  // Moves everything into the file and empties the log, unless somebody reads just now; then that happens later.
  await read(() => database.exec("PRAGMA wal_checkpoint(TRUNCATE)")).catch(() => undefined);
  return value;
}
