/** Which scopes the messages of one request need. */

import { isJsonObject } from "../../domain/index.ts";
import type { Json } from "../../domain/index.ts";
import type { TokenScope } from "../../identity/index.ts";

const FINDING: ReadonlySet<unknown> = new Set(["search", "describe"]);

/** All scopes of all messages, in one fixed order. A message that needs none, such as a list of tools, adds none. */
export function findNeededScopes(parsedBody: Json | undefined): readonly TokenScope[] {
  const messages: readonly (Json | undefined)[] = Array.isArray(parsedBody) ? parsedBody : [parsedBody];
  const needed = new Set(messages.flatMap(scopesOf));
  return (["execute", "search"] as const).filter((scope) => needed.has(scope));
}

function scopesOf(message: Json | undefined): readonly TokenScope[] {
  if (!isJsonObject(message)) return [];
  const { method, params } = message;
  if (method === "tools/call") {
    const name = isJsonObject(params) ? params["name"] : undefined;
    return FINDING.has(name) ? ["search"] : ["execute"];
  }
  // Resources, prompts and skills are calls of upstreams.
  return typeof method === "string" && /^(?:prompts|resources|skills)\//.test(method) ? ["execute"] : [];
}
