/** Branded identifiers. A string becomes an id only through the parser of its kind. */

declare const tag: unique symbol;

/** A string that only the parser of its kind can make. */
export type Id<Name extends string> = string & { readonly [tag]: Name };

export type ExecutionId = Id<"ExecutionId">; // "ex_<24 hex>"
export type ResultId = Id<"ResultId">; // "rs_<24 hex>", the handle of a kept result
export type ApprovalId = Id<"ApprovalId">; // "ap_<24 hex>"
export type PrincipalId = Id<"PrincipalId">;
export type ConnectorId = Id<"ConnectorId">; // the key of an upstream in the configuration
export type ToolAddress = Id<"ToolAddress">; // "<namespace>.<tool>", e.g. "github.createIssue"
export type RuleId = Id<"RuleId">;
export type SecretName = Id<"SecretName">;
export type Digest = Id<"Digest">; // "sha256:<hex>"

/** Epoch milliseconds, from the injected clock. */
export type Instant = number;

/** `glovebox.results.read` has one more level than the address of any other tool. */
const ADDRESS = /^(?:[a-z][A-Za-z0-9]{0,127}|glovebox\.results)\.[a-z][A-Za-z0-9]{0,127}$/;
const EXECUTION = /^ex_[0-9a-f]{24}$/;
const RESULT = /^rs_[0-9a-f]{24}$/;
const APPROVAL = /^ap_[0-9a-f]{24}$/;
const SECRET = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;
const DIGEST = /^sha256:[0-9a-f]{64}$/;
const NAME = /^[^\u0000-\u001f\u007f]{1,256}$/u;

/** Returns `undefined` for anything that cannot be a tool's address. Guests name tools, so the input is hostile. */
export function parseToolAddress(raw: unknown): ToolAddress | undefined {
  return isId<"ToolAddress">(raw, ADDRESS) ? raw : undefined;
}

export function parseExecutionId(raw: unknown): ExecutionId | undefined {
  return isId<"ExecutionId">(raw, EXECUTION) ? raw : undefined;
}

/** Programs and models name handles, so the input is hostile. Access is checked elsewhere. */
export function parseResultId(raw: unknown): ResultId | undefined {
  return isId<"ResultId">(raw, RESULT) ? raw : undefined;
}

/** Knowing an id grants nothing: access to an approval depends on the principal. */
export function parseApprovalId(raw: unknown): ApprovalId | undefined {
  return isId<"ApprovalId">(raw, APPROVAL) ? raw : undefined;
}

export function parseSecretName(raw: unknown): SecretName | undefined {
  return isId<"SecretName">(raw, SECRET) ? raw : undefined;
}

export function parseDigest(raw: unknown): Digest | undefined {
  return isId<"Digest">(raw, DIGEST) ? raw : undefined;
}

/** Operators name upstreams freely; only control characters and excessive length are refused. */
export function parseConnectorId(raw: unknown): ConnectorId | undefined {
  return isId<"ConnectorId">(raw, NAME) ? raw : undefined;
}

export function parsePrincipalId(raw: unknown): PrincipalId | undefined {
  return isId<"PrincipalId">(raw, NAME) ? raw : undefined;
}

export function parseRuleId(raw: unknown): RuleId | undefined {
  return isId<"RuleId">(raw, NAME) ? raw : undefined;
}

function isId<Name extends string>(raw: unknown, pattern: RegExp): raw is Id<Name> {
  return typeof raw === "string" && pattern.test(raw);
}
