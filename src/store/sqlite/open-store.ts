/** Opens the SQLite store: creates, checks and migrates the file, and assembles its tables. */

import { existsSync, statSync } from "node:fs";

import { GloveboxError } from "../../domain/index.ts";
import type { Instant } from "../../domain/index.ts";
import type { Store } from "../store.ts";

import { createApprovals } from "./tables/approvals.ts";
import { createSpaceCheck } from "./check-space.ts";
import type { SpaceOptions } from "./check-space.ts";
import { createColumnSeal } from "./column-seal.ts";
import { MEMORY, connect, connectToRead, openReadOnly, whenFree } from "./connection.ts";
import type { Connection } from "./connection.ts";
import { isLatest, migrateOnce } from "./migrate.ts";
import { moveFormer } from "./move-former.ts";
import type { MoveOptions } from "./move-former.ts";
import { prepareFile } from "./prepare-file.ts";
import { createSealOlder } from "./seal-older.ts";
import { createCancellations, createExecutions, createJournals } from "./tables/executions.ts";
import { notStore } from "./to-store-error.ts";
import { createExports, createLedger, createStatements } from "./tables/ledger.ts";
import { createIdentity } from "./tables/identity.ts";
import { createPins, createShapes } from "./tables/pins.ts";
import { createQuotas } from "./tables/quotas.ts";
import { createLabels, createResults } from "./tables/results.ts";
import { createMeta, createSecrets } from "./tables/secrets.ts";
import { createSkills } from "./tables/skills.ts";

/** About as much as the records of a small execution. */
const CHECK_BYTES = 16 * 1024;

export interface StoreOptions extends MoveOptions, SpaceOptions {
  readonly now: () => Instant;
}

/**
 * Rejects with STORE_UNAVAILABLE if the file cannot be used. A file that is damaged, newer than this version or of another
 * program is refused before anything in it changes.
 */
export async function openStore(options: StoreOptions): Promise<Store> {
  const { path, now } = options;
  await moveFormer(options);
  if (path !== MEMORY) {
    prepareFile(path);
    await whenFree(options, () => inspect(path));
  }
  const connection = await connect(options);
  try {
    const { database, write } = connection;
    while ((await write(() => migrateOnce(database, path, now))) === "migrated");
    return await connection.read(() => assemble(connection, options));
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
  await moveFormer(options);
  if (!existsSync(path))
    throw new GloveboxError("REQUEST_NOT_FOUND", `The store ${path} does not exist`, {
      hint: "Glovebox creates it at its first start. If it has run before, the store and its ledger were removed",
    });
  if (statSync(path).isDirectory()) throw notStore(path);
  const connection = await connectToRead(options);
  try {
    const store = await connection.read(() =>
      isLatest(connection.database, path) ? assemble(connection, options) : undefined,
    );
    if (store) return store;
  } catch (thrown) {
    await connection.close();
    throw thrown;
  }
  await connection.close();
  return openStore(options);
}

/** Uses a read-only connection: even closing a writable one may move pages from the log into the file. */
function inspect(path: string): void {
  using database = openReadOnly(path);
  isLatest(database, path);
}

/** Needs new pages, so that it also fails when the file cannot grow. They are free for reuse afterwards. */
function createCheck({ database, write }: Connection, checkSpace: Store["checkSpace"]): Store["check"] {
  const insert = database.prepare("INSERT INTO meta VALUES ('check', ?)");
  const remove = database.prepare("DELETE FROM meta WHERE key = 'check'");
  const filler = " ".repeat(CHECK_BYTES);
  return async () => {
    await checkSpace();
    await write(() => {
      insert.run(filler);
      remove.run();
    });
  };
}

function assemble(connection: Connection, options: StoreOptions): Store {
  const checkSpace = createSpaceCheck(options);
  const seal = createColumnSeal();
  const close = (): Promise<void> => connection.close();
  return {
    executions: createExecutions(connection, seal),
    journals: createJournals(connection),
    ledger: createLedger(connection),
    statements: createStatements(connection),
    exports: createExports(connection),
    secrets: createSecrets(connection),
    pins: createPins(connection),
    meta: createMeta(connection),
    shapes: createShapes(connection),
    results: createResults(connection, seal),
    quotas: createQuotas(connection),
    labels: createLabels(connection),
    approvals: createApprovals(connection),
    identity: createIdentity(connection),
    skills: createSkills(connection),
    cancellations: createCancellations(connection),
    unlock: seal.unlock,
    sealOlder: createSealOlder(connection, seal),
    checkSpace,
    check: createCheck(connection, checkSpace),
    close,
    [Symbol.asyncDispose]: close,
  };
}
