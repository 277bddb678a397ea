/** Opens the SQLite store: makes, checks and migrates the file, and puts the nouns together. */

import { existsSync } from "node:fs";

import { GloveboxError } from "../../domain/index.ts";
import type { Instant } from "../../domain/index.ts";
import type { Store } from "../store.ts";

import { createApprovals } from "./approvals.ts";
import { createCancellations } from "./cancellations.ts";
import { connect, connectToRead, openReadOnly, whenFree } from "./connection.ts";
import type { Connection, ConnectionOptions } from "./connection.ts";
import { createExecutions } from "./executions.ts";
import { createExports } from "./exports.ts";
import { createJournals } from "./journals.ts";
import { createLabels } from "./labels.ts";
import { createLedger } from "./ledger.ts";
import { createMeta } from "./meta.ts";
import { checkPages, isLatest, migrateOnce, readVersion } from "./migrate.ts";
import { createPins } from "./pins.ts";
import { prepareFile } from "./prepare-file.ts";
import { createQuotas } from "./quotas.ts";
import { createResults } from "./results.ts";
import { createSecrets } from "./secrets.ts";
import { createShapes } from "./shapes.ts";
import { createStatements } from "./statements.ts";

const MEMORY = ":memory:";
const BUSY_MS = 5_000;

/** Where the store is and how patient it is. */
export interface StoreOptions {
  /** A file, or `:memory:` for a store that is gone when it is closed. */
  readonly path: string;
  readonly now: () => Instant;
  /** How long a lock of another process is waited for; 5 s when left out. */
  readonly busyMs?: number;
  /** Caps the file at this many pages of 4 KiB; a write beyond fails as on a full disk. */
  readonly maxPages?: number;
}

/**
 * Rejects with STORE_UNAVAILABLE when the file cannot be used. A file that is damaged, newer than this
 * version or somebody else's is refused before anything in it changes.
 */
export async function openStore(options: StoreOptions): Promise<Store> {
  const where: ConnectionOptions = {
    path: options.path,
    busyMs: options.busyMs ?? BUSY_MS,
    ...(options.maxPages !== undefined && { maxPages: options.maxPages }),
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
 * For those who only look: nothing is made, and whatever would write is refused. A store of an older version is brought
 * up to date first. Rejects with REQUEST_NOT_FOUND when there is none.
 */
export async function openStoreToRead(options: StoreOptions): Promise<Store> {
  const { path } = options;
  if (path === MEMORY) return openStore(options);
  if (!existsSync(path))
    throw new GloveboxError("REQUEST_NOT_FOUND", `There is no store at ${path}`, {
      hint: "Glovebox makes it when it first starts. If it has, somebody removed the store, and the ledger with it",
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

/** On a connection that cannot write: even closing a writable one may move pages from the log into the file. */
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
