/** The token that only the owner of the store can read: it opens `/mcp` in local mode for processes of other users. */

import { randomBytes } from "node:crypto";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { GloveboxError } from "../../domain/index.ts";
import { createTokenText, isTokenText } from "../../identity/index.ts";

const OTHERS = 0o077;

/** Returns `undefined` for a store in memory. Creates the file once; rejects one that others can read. */
export function loadLocalToken(storePath: string): { readonly token: string; readonly file: string } | undefined {
  if (storePath === ":memory:") return undefined;
  const file = join(dirname(storePath), "local.token");
  try {
    writeFileSync(file, `${createTokenText(randomBytes)}\n`, { mode: 0o600, flag: "wx" });
  } catch (thrown) {
    if (!(thrown instanceof Error && "code" in thrown && thrown.code === "EEXIST")) throw thrown;
  }
  const token = readFileSync(file, "utf8").trim();
  if (process.platform !== "win32" && (statSync(file).mode & OTHERS) !== 0)
    throw damaged(file, "other users can read it");
  if (!isTokenText(token)) throw damaged(file, "it does not contain a token");
  return { token, file };
}

function damaged(file: string, why: string): GloveboxError {
  return new GloveboxError("CONFIG_INVALID", `${file} cannot be used: ${why}`, {
    hint: "Delete the file; Glovebox writes a new one at its next start",
  });
}
