/** The signed head of the ledger in a file beside the store: always a place that the chain has really reached. */

import { constants } from "node:fs";
import { open, rename, rm } from "node:fs/promises";

import { parseStatementText, toStatementText } from "./statement.ts";
import type { HeadStatement, SignedStatement } from "./statement.ts";

/** More than the longest head; a file that is larger is none of ours. */
const MOST_BYTES = 4_096;

/** `unreadable`: something is there, and it is not a head that we wrote. */
export type FoundHead = SignedStatement<HeadStatement> | "missing" | "unreadable";

/** What it says is checked by whoever asks. */
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

/** Written beside its place, flushed and then moved there: a crash leaves the former head or this one. */
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

/** Forgets a head that the ledger itself has written down as wrong. */
export async function removeHeadFile(path: string): Promise<void> {
  await rm(path, { force: true });
}
