/** Reads a text file of the operator: a configuration, or a document that it names. */

import { readFile, stat } from "node:fs/promises";

import { GloveboxError } from "../../domain/index.ts";

const MAX_REASON_CHARACTERS = 500;

export interface TextFileOptions {
  readonly maxBytes: number;
  /** For the message about a large file: "more than the … that a configuration may have". */
  readonly kind: string;
}

/** Returns the text of a regular UTF-8 file. Throws `CONFIG_INVALID` with a hint otherwise. */
export async function readTextFile(path: string, options: TextFileOptions): Promise<string> {
  await checkFile(path, options);
  const bytes = await readFile(path).catch((cause: unknown) => {
    throw refuseFile(path, `cannot be read (${toReason(cause)})`, { hint: "Check the permissions of the file", cause });
  });
  checkSize(path, bytes.length, options);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw refuseFile(path, "is not valid UTF-8", { hint: "Save the file as UTF-8", cause });
  }
}

/** Checks the file before it is opened, because opening a pipe would wait for a writer. */
async function checkFile(path: string, options: TextFileOptions): Promise<void> {
  const status = await stat(path).catch((cause: unknown) => {
    const hint = "Check the path and the permissions";
    throw refuseFile(path, `cannot be read (${toReason(cause)})`, { hint, cause });
  });
  if (status.isDirectory()) throw refuseFile(path, "is a folder", { hint: "Use the path of a file" });
  if (!status.isFile()) throw refuseFile(path, "is not a regular file", { hint: "Use a regular file" });
  checkSize(path, status.size, options);
}

function checkSize(path: string, bytes: number, { maxBytes, kind }: TextFileOptions): void {
  if (bytes <= maxBytes) return;
  const message = `has ${bytes} bytes, more than the ${maxBytes} that ${kind} may have`;
  throw refuseFile(path, message, { hint: "Check that this is the right file" });
}

/** Returns a short reason that may be shown: the system's error code if there is one. */
export function toReason(cause: unknown): string {
  if (!(cause instanceof Error)) return "it threw a value that is not an Error";
  if ("syscall" in cause && "code" in cause && typeof cause.code === "string") return cause.code;
  return `${cause.name}: ${cause.message}`.slice(0, MAX_REASON_CHARACTERS);
}

export function refuseFile(
  path: string,
  message: string,
  details: { readonly hint: string; readonly cause?: unknown },
): GloveboxError {
  return new GloveboxError("CONFIG_INVALID", `${path}: ${message}`, details);
}
