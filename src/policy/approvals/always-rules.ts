/** Decisions that last: an approval becomes an allow rule, which is shown first, listed, and can be revoked. */

import { GloveboxError, defined, isJsonObject, hasRole } from "../../domain/index.ts";
import type { Approval, Instant, Json, JsonObject, Principal } from "../../domain/index.ts";
import { digestOf } from "../../text/index.ts";
import { PROFILE_RULES, isFlowRule } from "../decision.ts";

/** What a decision covers that becomes a rule: every call of the tool by the principal, or those with these arguments. */
export type AlwaysScope = "always-tool" | "always-arguments";

/** As it is written in the rule file. */
export interface AlwaysRule extends JsonObject {
  readonly id: string;
  readonly decision: "allow";
  readonly principals: readonly string[];
  readonly tools: readonly string[];
  readonly effects: readonly string[];
  readonly reason: string;
}

export interface AlwaysRules {
  /** The rule that a decision would write. Rejects with REQUEST_CONFLICT if a rule cannot loosen this question. */
  propose(approval: Approval, scope: AlwaysScope, by: Principal): AlwaysRule;
  /** Where rules are written; `undefined` if that is impossible. */
  readonly file: string | undefined;
  /**
   * Records the rule, then writes it. A failure is recorded too, and nothing is written then. Returns false if an earlier
   * decision has written it.
   */
  add(rule: AlwaysRule, approval: Approval, by: Principal): Promise<boolean>;
  /** The rules that decisions made, in the order of the file. */
  list(): Promise<readonly JsonObject[]>;
  /** Rejects with POLICY_DENIED unless `by` is an operator, and with REQUEST_NOT_FOUND for any other rule. */
  revoke(id: string, by: Principal): Promise<void>;
}

interface RulePowers {
  /** The rule file. */
  readonly book: {
    readonly path: string | undefined;
    list(): Promise<readonly JsonObject[]>;
    add(rule: AlwaysRule): Promise<boolean>;
    remove(id: string): Promise<boolean>;
  };
  readonly record: (entry: {
    readonly actor: string;
    readonly action: "policy.allowed" | "policy.failed" | "policy.revoked";
    readonly subject: string;
    readonly detail: JsonObject;
  }) => Promise<unknown>;
  readonly hide: (text: string) => string;
  readonly now: () => Instant;
}

const PREFIX = "always-";
const ID_DIGITS = 12;
/** Longer arguments are not a habit that a person can read in a rule. */
export const MAX_RULE_ARGUMENTS = 4_000;

export function isAlwaysScope(scope: string | undefined): scope is AlwaysScope {
  return scope === "always-tool" || scope === "always-arguments";
}

export function createAlwaysRules({ book, record, hide, now }: RulePowers): AlwaysRules {
  return {
    file: book.path,
    propose: (approval, scope, by) => {
      refuseUnlessLoosened(approval);
      return toRule(approval, {
        args: scope === "always-arguments" ? readArguments(approval, hide) : undefined,
        by,
        now,
      });
    },
    async add(rule, { id: approval, tool, principal }, by) {
      const entry = { actor: by.id, subject: rule.id };
      const detail = { approval, tool, principal, definition: digestOf(rule) };
      await record({ ...entry, action: "policy.allowed", detail });
      return book.add(rule).catch(async (thrown: unknown) => {
        const message = thrown instanceof Error ? thrown.message.slice(0, 500).toWellFormed() : "unknown";
        await record({ ...entry, action: "policy.failed", detail: { ...detail, message } });
        throw thrown;
      });
    },
    list: async () => (await book.list()).filter(isOfDecision),
    async revoke(id, by) {
      if (!hasRole(by, "operator")) throw new GloveboxError("POLICY_DENIED", "Only an operator can revoke a rule");
      const isKnown = (await book.list()).some((rule) => rule["id"] === id && isOfDecision(rule));
      if (isKnown) await record({ actor: by.id, action: "policy.revoked", subject: id, detail: {} });
      if (isKnown && (await book.remove(id))) return;
      throw new GloveboxError("REQUEST_NOT_FOUND", `No decision made a rule ${JSON.stringify(id.slice(0, 64))}`, {
        hint: "`glovebox policy rules` lists them; edit the rule file to change other rules",
      });
    },
  };
}

/** An operator's own rule may have such an id, but decisions only allow. */
function isOfDecision({ id, decision }: JsonObject): boolean {
  return typeof id === "string" && id.startsWith(PREFIX) && decision === "allow";
}

/** Only a profile's default gives way to an allow rule: of rules the strictest decides, and none loosens the guard. */
function refuseUnlessLoosened({ rule, tool }: Approval): void {
  if (Object.values(PROFILE_RULES).some((id) => id === rule)) return;
  const hint = isFlowRule(rule)
    ? "Approve it for this session, or change what counts as private, untrusted or external with policy.labels"
    : `Change or remove the rule ${rule}, or approve it for this session`;
  throw new GloveboxError("REQUEST_CONFLICT", `${rule} asks about ${tool}, and an allow rule cannot loosen it`, {
    hint,
  });
}

function readArguments({ args, argsShown }: Approval, hide: RulePowers["hide"]): Json {
  const text = JSON.stringify(args);
  const isWhole = argsShown === undefined && isJsonObject(args);
  const problem = !isWhole
    ? "are not known"
    : text.length > MAX_RULE_ARGUMENTS
      ? `have more than ${MAX_RULE_ARGUMENTS} characters`
      : hide(text) === text
        ? undefined
        : "contain a secret";
  if (problem === undefined) return args;
  throw new GloveboxError("REQUEST_CONFLICT", `The arguments ${problem}, so they cannot be written in a rule`, {
    hint: "Approve it for this call or this session",
  });
}

/** The same decision has the same id, so that it is written once. */
function toRule(
  { id: approval, principal, tool, effect }: Approval,
  { args, by, now }: { readonly args: Json | undefined; readonly by: Principal; readonly now: () => Instant },
): AlwaysRule {
  const what = { principals: [principal], tools: [tool], effects: [effect] };
  const when = args === undefined ? undefined : [{ path: "$", is: args }];
  const [, digits = ""] = digestOf({ ...what, ...defined({ when }) }).split(":");
  const day = new Date(now()).toISOString().slice(0, 10);
  return {
    id: `${PREFIX}${digits.slice(0, ID_DIGITS)}`,
    decision: "allow",
    ...what,
    ...defined({ when }),
    reason: `Always allowed by ${by.id} on ${day}, approval ${approval}`,
  };
}
