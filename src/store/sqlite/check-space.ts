/** Refuses new work while little is free on the disk of the store, so that the records of running work still fit. */

import { statfsSync } from "node:fs";
import { dirname } from "node:path";

import { GloveboxError } from "../../domain/index.ts";

import { MEMORY } from "./connection.ts";

export interface SpaceOptions {
  readonly path: string;
  /** 0, the default, turns the check off. */
  readonly minFreeBytes?: number;
  /** Returns how many bytes this user can still write to the disk of a folder. */
  readonly readFreeBytes?: (folder: string) => Promise<number>;
}

/** A disk that cannot be asked counts as free: writing to it fails with another error. */
export function createSpaceCheck(options: SpaceOptions): () => Promise<void> {
  const { path, minFreeBytes = 0, readFreeBytes = readFree } = options;
  if (path === MEMORY || minFreeBytes === 0) return async () => undefined;
  const folder = dirname(path);
  return async () => {
    const free = await readFreeBytes(folder).catch(() => Infinity);
    if (free >= minFreeBytes) return;
    const message = `The disk of the store has ${free} bytes left, less than ${minFreeBytes} (store.minFreeBytes)`;
    throw new GloveboxError("STORE_UNAVAILABLE", message, {
      hint: "Free some space on the disk of the store, or ask the operator to lower store.minFreeBytes; no restart is needed after that",
    });
  };
}

/** Takes microseconds, where a thread of the pool takes many times that; SQLite waits for the same disk. */
async function readFree(folder: string): Promise<number> {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}
