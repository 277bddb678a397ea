/** Calls that the product itself answers, in the reserved namespace `glovebox`: counted, parsed and recorded like any. */

import { parseRuleId, parseToolAddress } from "../domain/index.ts";
import type { Decision, Json, JsonObject, Tool, ToolAddress } from "../domain/index.ts";

/**
 * One such call. Without `judge` it reads only what its principal may read anyway, so no rule is asked; labels of its
 * tool are guarded as those of any other.
 */
export interface Builtin {
  readonly tool: Tool;
  readonly answer: (
    args: JsonObject,
    options: {
      readonly signal: AbortSignal;
      readonly onSent: () => void;
      /** What rules say of this call with other arguments, for what turns out only on the way. */
      readonly decide: (args: JsonObject) => Decision;
    },
  ) => Promise<Json>;
  /** For one that reaches further: the tool with the effect that this call has. Rules then decide about it. */
  readonly judge?: (args: JsonObject) => Tool;
  /** What a dry run answers to a call that may change something; throws what the call would be refused with. */
  readonly answerDryRun?: (args: JsonObject) => Json;
  /** What the record says of the call, and of its result, beside digests. Must hold no secret. */
  readonly noteCall?: (args: JsonObject) => JsonObject;
  readonly noteResult?: (value: Json) => JsonObject;
}

const RULE = parseRuleId("builtin");
if (RULE === undefined) throw new TypeError("The rule of builtins has no name");

/** Stands in the record where a rule's decision would. */
export const ALLOWED_BUILTIN: Decision = Object.freeze({ kind: "allow", rule: RULE });

/** No upstream can have this namespace: the naming rule keeps it free. */
export function findBuiltin(
  builtins: ReadonlyMap<ToolAddress, Builtin> | undefined,
  rawAddress: unknown,
): Builtin | undefined {
  const address = parseToolAddress(rawAddress);
  return address && builtins?.get(address);
}
