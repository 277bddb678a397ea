/** The cause of a failure as the operator reads it: facts first, then the server's own words. */

import type { ConnectorId, GloveboxError } from "../../domain/index.ts";

import type { Wire } from "./wire/wire.ts";

const LAST_WORDS = 5;

/** Contains output of the server, so it belongs into status displays and never into an error for a model. */
export function describeCause(error: GloveboxError, id: ConnectorId, wire: Pick<Wire, "stderr" | "garbage">): string {
  const prefix = `${id}: `;
  const fact = error.message.startsWith(prefix) ? error.message.slice(prefix.length) : error.message;
  const garbage = wire.garbage();
  const lastWords = wire.stderr().slice(-LAST_WORDS);
  return [
    fact,
    ...(garbage ? [`${garbage.count} lines on its standard output were no messages, the first: ${garbage.first}`] : []),
    ...(lastWords.length > 0 ? [`its last words: ${lastWords.join(" | ")}`] : []),
  ].join("; ");
}
