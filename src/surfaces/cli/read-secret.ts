/** Reads a secret from a terminal without echo, or from a pipe. */

import { createInterface } from "node:readline";

import { GloveboxError } from "../../domain/index.ts";
import { Secret } from "../../vault/index.ts";
import type { Terminal } from "./powers.ts";

/** Above the limit of a secret, so that a longer one is refused and not cut. */
const MAX_BYTES = 1024 * 1024;

/** One line of a terminal, or all piped input without one final line break. */
export async function readSecret({ stdin, stderr }: Terminal, label: string): Promise<Secret> {
  const text = stdin.isTTY === true ? await readLine({ stdin, stderr }, label) : await readAll(stdin);
  if (text !== "") return new Secret(text);
  throw new GloveboxError("REQUEST_INVALID", "Standard input is empty", { hint: "Type it, or pipe it in" });
}

async function readLine({ stdin, stderr }: Pick<Terminal, "stdin" | "stderr">, label: string): Promise<string> {
  stderr.write(`${label} (not shown): `);
  for await (const line of createInterface({ input: stdin, terminal: true })) {
    stderr.write("\n");
    return line;
  }
  return "";
}

async function readAll(stdin: Terminal["stdin"]): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of stdin) {
    const piece = Buffer.from(chunk);
    bytes += piece.length;
    chunks.push(piece);
    if (bytes > MAX_BYTES) break;
  }
  return decode(Buffer.concat(chunks)).replace(/\r?\n$/, "");
}

/** Invalid UTF-8 would be stored as another value. */
function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (thrown) {
    throw new GloveboxError("REQUEST_INVALID", "Standard input is not valid UTF-8", {
      cause: thrown,
      hint: "Encode it, for example with `base64`",
    });
  }
}
