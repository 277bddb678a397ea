/** Objects and promises that became text because they were joined to a string, in a result or in arguments of a call. */

import { isJsonObject } from "../../domain/index.ts";
import type { Finding, Json, Program } from "../../domain/index.ts";

/** How an object and a promise look in a string that they were joined to. */
const JOINED = [
  ["[object Promise]", "a promise was joined to a string or a number; await it first"],
  ["[object Object]", "an object was joined to a string; write JSON.stringify(…) or one of its fields"],
] as const;
const MAX_PARTS = 10_000;

export interface JoinedCall {
  readonly tool: string;
  readonly text: string;
}

export function findJoined(text: string): string | undefined {
  return text.includes("[object ") ? JOINED.find(([joined]) => text.includes(joined))?.[0] : undefined;
}

/** In the arguments of a call, which has left. A program that has the text itself may mean it. */
export function explainJoinedCall(
  { source, calls }: Pick<Program, "source" | "calls">,
  joined: JoinedCall | undefined,
): readonly Finding[] {
  if (!joined || source.includes(joined.text)) return [];
  const { tool, text } = joined;
  const cause = JOINED.find((one) => one[0] === text)?.[1] ?? "";
  const at = calls.find(({ address }) => address === tool);
  const message = `${tool} was given ${text}: ${cause}`;
  return [{ rule: "joined-object", severity: "warn", message, line: at?.line ?? 1, column: at?.column ?? 1 }];
}

/** At the last `return`: the source does not tell which expression it was. `wasRead` if a tool returned such a text. */
export function explainJoined(
  { source }: Pick<Program, "source">,
  value: Json | undefined,
  wasRead = false,
): readonly Finding[] {
  if (wasRead) return [];
  const [text, cause] =
    JOINED.find((one) => someString(value, (part) => part.includes(one[0]), { left: MAX_PARTS })) ?? [];
  if (text === undefined || source.includes(text)) return [];
  const message = `The result contains ${text}: ${cause}`;
  const before = source.slice(0, Math.max(0, source.lastIndexOf("return"))).split("\n");
  const column = (before.at(-1)?.length ?? 0) + 1;
  return [{ rule: "joined-object", severity: "warn", message, line: before.length, column }];
}

function someString(value: Json | undefined, matches: (text: string) => boolean, parts: { left: number }): boolean {
  parts.left -= 1;
  if (typeof value === "string") return matches(value);
  if (typeof value !== "object" || value === null) return false;
  for (const part of isJsonObject(value) ? Object.values(value) : value) {
    if (parts.left <= 0) return false;
    if (someString(part, matches, parts)) return true;
  }
  return false;
}
