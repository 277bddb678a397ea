/** The signed head of the ledger, in a file beside the store. The chain has always reached this record. */

import { constants } from "node:fs";
import { open, rename, rm } from "node:fs/promises";

import { parseStatementText, toStatementText } from "../statement.ts";
import type { HeadStatement, SignedStatement } from "../statement.ts";

/** Larger than any head. */
const MOST_BYTES = 4_096;

/** `unreadable`: the file exists but does not contain a head. */
export type FoundHead = SignedStatement<HeadStatement> | "missing" | "unreadable";

/** Does not verify the signature. */
export async function readHeadFile(path: string): Promise<FoundHead> {
  try {
    await using file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const { bytesRead, buffer } = await file.read(Buffer.alloc(MOST_BYTES), 0, MOST_BYTES, 0);
    const parsed = parseStatementText(buffer.toString("utf8", 0, bytesRead).trimEnd());
    return parsed?.kind === "head" ? parsed : "unreadable";
  } catch (thrown) {
    return thrown instanceof Error && "code" in thrown && thrown.code === "ENOENT" ? "missing" : "unreadable";
  }
}

/** Writes a temporary file, flushes it and renames it: after a crash the file has the former head or this one. */
export async function writeHeadFile(path: string, head: SignedStatement<HeadStatement>): Promise<void> {
  const draft = `${path}.${process.pid}.new`;
  try {
    await using file = await open(draft, "w", 0o600);
    await file.writeFile(`${toStatementText(head)}\n`);
    await file.datasync();
  } catch (thrown) {
    await rm(draft, { force: true });
    throw thrown;
  }
  await rename(draft, path);
}

/** Removes a head after the ledger has recorded that it is wrong. */
export async function removeHeadFile(path: string): Promise<void> {
  await rm(path, { force: true });
}
