/** Calls that Glovebox itself answers, in the reserved namespace `glovebox`. They take the same steps as any call. */

import { parseConnectorId, parseRuleId, parseToolAddress } from "../domain/index.ts";
import type {
  Decision,
  Json,
  JsonObject,
  JsonSchema,
  NetworkPolicy,
  SecretGrants,
  Tool,
  ToolCall,
} from "../domain/index.ts";
import { digestOf } from "../text/index.ts";
import type { RunSlice } from "../timing/index.ts";

/**
 * One such call. Without `judge` it reads only what its principal may read anyway, so rules do not apply; the labels of
 * its tool do.
 */
export interface Builtin {
  readonly tool: Tool;
  readonly answer: (
    args: JsonObject,
    options: {
      readonly signal: AbortSignal;
      readonly onSent: () => void;
      /** Runs and counts work of this thread that is not done in the same turn of the event loop as the call. */
      readonly spend: RunSlice;
      /** Decides about this call with other arguments, such as the address of a redirect. */
      readonly decide: (args: JsonObject) => Decision;
    },
  ) => Promise<Json>;
  /** Returns the tool with the effect that this very call has. Rules apply to a builtin with this function. */
  readonly judge?: (args: JsonObject) => Tool;
  /** Answers a call in a dry run; throws the error that the call would be refused with. */
  readonly answerDryRun?: (args: JsonObject) => Json;
  /** What the ledger keeps of the call, and of its result, beside digests. Must not contain a secret. */
  readonly noteCall?: (args: JsonObject) => JsonObject;
  readonly noteResult?: (value: Json) => JsonObject;
}

/** What a guest named: a tool of an upstream, or a builtin. */
export type CallTarget = Pick<Builtin, "tool"> & Partial<Builtin>;

/** A call whose arguments have passed the schema of its tool. */
export type ParsedCall = ToolCall & { readonly args: JsonObject };

const RULE = parseRuleId("builtin");
if (RULE === undefined) throw new TypeError("The rule id of builtins is not valid");

/** Recorded in place of the decision of a rule. */
export const ALLOWED_BUILTIN: Decision = Object.freeze({ kind: "allow", rule: RULE });

/** The tool of a builtin. Rules and records name it like a tool of an upstream. */
export function createBuiltinTool(name: string, input: JsonSchema): Tool {
  const address = parseToolAddress(`glovebox.${name}`);
  const connector = parseConnectorId("glovebox");
  if (!address || !connector) throw new TypeError(`The builtin name ${JSON.stringify(name)} is invalid`);
  return {
    address,
    origin: { kind: "upstream", connector, remoteName: name },
    summary: "",
    description: "",
    input,
    output: null,
    effect: "read",
    digest: digestOf(JSON.stringify([name, input])),
  };
}

/** What an approved skill may do beyond its caller: requests to these hosts, with these secrets. */
export interface SkillPowers {
  readonly network: NetworkPolicy;
  readonly secrets: SecretGrants;
}
