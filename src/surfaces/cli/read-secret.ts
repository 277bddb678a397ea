/** Reads what must not be seen: from a terminal without showing it, or from whatever is piped in. */

import { createInterface } from "node:readline";

import { GloveboxError } from "../../domain/index.ts";
import { Secret } from "../../vault/index.ts";
import type { Terminal } from "./powers.ts";

/** Above what a secret may have, so that a longer one is refused by its size and not cut. */
const MAX_BYTES = 1024 * 1024;

/** One line of a terminal; all that is piped in, without a line break at its end. */
export async function readSecret({ stdin, stderr }: Terminal, label: string): Promise<Secret> {
  const text = stdin.isTTY === true ? await readLine({ stdin, stderr }, label) : await readAll(stdin);
  if (text !== "") return new Secret(text);
  throw new GloveboxError("REQUEST_INVALID", "No value came in on standard input", { hint: "Type it, or pipe it in" });
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

/** Bytes that are no text would be stored as something else than what came in. */
function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (thrown) {
    throw new GloveboxError("REQUEST_INVALID", "What came in on standard input is no text in UTF-8", {
      cause: thrown,
      hint: "Encode it, for example with `base64`",
    });
  }
}
