/** Branded identifiers. A string becomes an id only through the parser of its kind. */

declare const tag: unique symbol;

/** A string that only the parser of its kind can make. */
export type Id<Name extends string> = string & { readonly [tag]: Name };

export type ExecutionId = Id<"ExecutionId">; // "ex_<24 hex>"
export type ResultId = Id<"ResultId">; // "rs_<24 hex>", the handle of a kept result
export type ApprovalId = Id<"ApprovalId">; // "ap_<24 hex>", or "ir_<24 hex>" of an input request
export type PrincipalId = Id<"PrincipalId">;
export type ConnectorId = Id<"ConnectorId">; // the key of an upstream in the configuration
export type ToolAddress = Id<"ToolAddress">; // "<namespace>.<tool>", e.g. "github.createIssue"
export type RuleId = Id<"RuleId">;
export type SecretName = Id<"SecretName">;
export type Digest = Id<"Digest">; // "sha256:<hex>"

/** Epoch milliseconds, from the injected clock. */
export type Instant = number;

const NAME = /^[^\u0000-\u001f\u007f]{1,256}$/u;

/** Hostile input. Two tools of Glovebox itself have one more level than the address of any other. */
export const parseToolAddress = parserOf<"ToolAddress">(
  /^(?:[a-z][A-Za-z0-9]{0,127}|glovebox\.(?:results|skills))\.[a-z][A-Za-z0-9]{0,127}$/,
);
export const parseExecutionId = parserOf<"ExecutionId">(/^ex_[0-9a-f]{24}$/);
/** Programs and models name handles, so the input is hostile. Access is checked elsewhere. */
export const parseResultId = parserOf<"ResultId">(/^rs_[0-9a-f]{24}$/);
/** Knowing an id grants nothing: access to an approval depends on the principal. */
export const parseApprovalId = parserOf<"ApprovalId">(/^(?:ap|ir)_[0-9a-f]{24}$/);
export const parseSecretName = parserOf<"SecretName">(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/);
export const parseDigest = parserOf<"Digest">(/^sha256:[0-9a-f]{64}$/);
/** Operators name upstreams freely; only control characters and excessive length are refused. */
export const parseConnectorId = parserOf<"ConnectorId">(NAME);
export const parsePrincipalId = parserOf<"PrincipalId">(NAME);
export const parseRuleId = parserOf<"RuleId">(NAME);

/** The parser returns `undefined` for anything that cannot be an id of its kind. */
function parserOf<Name extends string>(pattern: RegExp): (raw: unknown) => Id<Name> | undefined {
  const isId = (raw: unknown): raw is Id<Name> => typeof raw === "string" && pattern.test(raw);
  return (raw) => (isId(raw) ? raw : undefined);
}
