/** One kept result in a few lines, for whoever wants to read it. */

import type { ResultSummary } from "../../store/index.ts";

/** Comments and a type, as `describe` gives them for tools. */
export function describeResult({ id, mimeType, bytes, shape, expiresAt }: ResultSummary): string {
  const until = new Date(expiresAt).toISOString();
  const head = `// ${id}: ${toShown(mimeType)}, ${bytes} bytes, kept until ${until}`;
  const read = `// Read it in a program: await glovebox.results.read("${id}", { path, offset, limit, grep })`;
  return `${[head, read, ...(shape === "" ? [] : [`// ${shape}`])].join("\n")}\n`;
}

/** A server chose the type's name. */
function toShown(mimeType: string): string {
  return mimeType.replaceAll(/[^\w.+/-]/g, "?").slice(0, 100);
}
