/** Reads a text file that an operator named: a configuration, or a document that it names. */

import { readFile, stat } from "node:fs/promises";

import { GloveboxError } from "../../domain/index.ts";

const MAX_REASON_CHARACTERS = 500;

/** What a file may be. */
export interface TextFileOptions {
  readonly maxBytes: number;
  /** What it is called when it is too large, as in "more than … bytes that a configuration may have". */
  readonly kind: string;
}

/** The text of a regular file, which must be UTF-8; anything else is `CONFIG_INVALID` with what to do. */
export async function readTextFile(path: string, options: TextFileOptions): Promise<string> {
  await checkFile(path, options);
  const bytes = await readFile(path).catch((cause: unknown) => {
    throw refuseFile(path, `cannot be read (${toReason(cause)})`, { hint: "Check the permissions of the file", cause });
  });
  checkSize(path, bytes.length, options);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw refuseFile(path, "is not UTF-8 text", { hint: "Save the file as UTF-8", cause });
  }
}

/** Looked at before it is opened: opening a pipe would wait for whoever writes into it. */
export async function checkFile(path: string, options: TextFileOptions): Promise<void> {
  const status = await stat(path).catch((cause: unknown) => {
    throw refuseFile(path, `cannot be read (${toReason(cause)})`, {
      hint: "Check the path and the permissions",
      cause,
    });
  });
  if (status.isDirectory()) throw refuseFile(path, "is a folder", { hint: "Name the file in it" });
  if (!status.isFile()) throw refuseFile(path, "is not a regular file", { hint: "Name a regular file" });
  checkSize(path, status.size, options);
}

function checkSize(path: string, bytes: number, { maxBytes, kind }: TextFileOptions): void {
  if (bytes <= maxBytes) return;
  const message = `has ${bytes} bytes, more than the ${maxBytes} that ${kind} may have`;
  throw refuseFile(path, message, { hint: "Check that this is the right file" });
}

/** The short reason of a failure that may be shown; the system's own code where there is one. */
export function toReason(cause: unknown): string {
  if (!(cause instanceof Error)) return "it threw something that is no Error";
  if ("syscall" in cause && "code" in cause && typeof cause.code === "string") return cause.code;
  return `${cause.name}: ${cause.message}`.slice(0, MAX_REASON_CHARACTERS);
}

/** The one shape of a refused file; messages start with its path. */
export function refuseFile(
  path: string,
  message: string,
  details: { readonly hint: string; readonly cause?: unknown },
): GloveboxError {
  return new GloveboxError("CONFIG_INVALID", `${path}: ${message}`, details);
}
