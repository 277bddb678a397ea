/** Opens the SQLite store: creates, checks and migrates the file, and assembles its tables. */

import { existsSync } from "node:fs";

import { GloveboxError, defined } from "../../domain/index.ts";
import type { Instant } from "../../domain/index.ts";
import type { Store } from "../store.ts";

import { createApprovals } from "./tables/approvals.ts";
import { connect, connectToRead, openReadOnly, whenFree } from "./connection.ts";
import type { Connection, ConnectionOptions } from "./connection.ts";
import { checkPages, isLatest, migrateOnce, readVersion } from "./migrate.ts";
import { prepareFile } from "./prepare-file.ts";
import { createCancellations, createExecutions, createJournals } from "./tables/executions.ts";
import { createExports, createLedger, createStatements } from "./tables/ledger.ts";
import { createPins, createShapes } from "./tables/pins.ts";
import { createQuotas } from "./tables/quotas.ts";
import { createLabels, createResults } from "./tables/results.ts";
import { createMeta, createSecrets } from "./tables/secrets.ts";

const MEMORY = ":memory:";
const BUSY_MS = 5_000;

export interface StoreOptions {
  /** A file, or `:memory:` for a store that is lost when it is closed. */
  readonly path: string;
  readonly now: () => Instant;
  /** How long to wait for a lock of another process. Defaults to 5 s. */
  readonly busyMs?: number;
  /** The maximum size of the file in pages of 4 KiB; a larger write fails as on a full disk. */
  readonly maxPages?: number;
}

/**
 * Rejects with STORE_UNAVAILABLE if the file cannot be used. A file that is damaged, newer than this version or of another
 * program is refused before anything in it changes.
 */
export async function openStore(options: StoreOptions): Promise<Store> {
  const where: ConnectionOptions = {
    path: options.path,
    busyMs: options.busyMs ?? BUSY_MS,
    ...defined({ maxPages: options.maxPages }),
  };
  if (where.path !== MEMORY) {
    prepareFile(where.path);
    await whenFree(where, () => inspect(where.path));
  }
  const connection = await connect(where);
  try {
    await migrate(connection, options);
    return assemble(connection);
  } catch (thrown) {
    await connection.close();
    throw thrown;
  }
}

/**
 * Read-only: creates nothing and refuses writes. A store of an older version is migrated first. Rejects with
 * REQUEST_NOT_FOUND if the file does not exist.
 */
export async function openStoreToRead(options: StoreOptions): Promise<Store> {
  const { path } = options;
  if (path === MEMORY) return openStore(options);
  if (!existsSync(path))
    throw new GloveboxError("REQUEST_NOT_FOUND", `The store ${path} does not exist`, {
      hint: "Glovebox creates it at its first start. If it has run before, the store and its ledger were removed",
    });
  const connection = await connectToRead({ path, busyMs: options.busyMs ?? BUSY_MS });
  try {
    if (isLatest(connection.database, path)) return assemble(connection);
  } catch (thrown) {
    await connection.close();
    throw thrown;
  }
  await connection.close();
  return openStore(options);
}

/** Uses a read-only connection: even closing a writable one may move pages from the log into the file. */
function inspect(path: string): void {
  const database = openReadOnly(path);
  try {
    readVersion(database, path);
    checkPages(database, path);
  } finally {
    database.close();
  }
}

async function migrate({ database, write }: Connection, { path, now }: StoreOptions): Promise<void> {
  for (;;) {
    const step = await write(() => migrateOnce(database, path, now));
    if (step === "current") return;
  }
}

function assemble(connection: Connection): Store {
  const close = (): Promise<void> => connection.close();
  return {
    executions: createExecutions(connection),
    journals: createJournals(connection),
    ledger: createLedger(connection),
    statements: createStatements(connection),
    exports: createExports(connection),
    secrets: createSecrets(connection),
    pins: createPins(connection),
    meta: createMeta(connection),
    shapes: createShapes(connection),
    results: createResults(connection),
    quotas: createQuotas(connection),
    labels: createLabels(connection),
    approvals: createApprovals(connection),
    cancellations: createCancellations(connection),
    flush: () => connection.flush(),
    close,
    [Symbol.asyncDispose]: close,
  };
}
