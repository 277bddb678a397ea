/** The interface of `domain`: what travels between rooms. It imports nothing, not even Node. */

export type { Adapter, AdapterContext } from "./adapter.ts";
export { APPROVAL_SCOPES } from "./approval.ts";
export { isInputRequest } from "./input.ts";
export type { InputRequest } from "./input.ts";
export type { Approval, ApprovalRequests } from "./approval.ts";
export { defined } from "./defined.ts";
export { ERRORS, GloveboxError, describeError, isErrorCode, toPublicError } from "./errors.ts";
export type { ErrorCode, PublicError } from "./errors.ts";
export type {
  Attachment,
  CallProgress,
  CallRecord,
  DryRun,
  EngineName,
  Execution,
  ExecutionEvent,
  ExecutionResult,
  ExecutionView,
  IsolationLayer,
  LogLine,
  Reply,
  ResultQuery,
  ToolCall,
} from "./execution.ts";
export {
  parseApprovalId,
  parseConnectorId,
  parseDigest,
  parseExecutionId,
  parsePrincipalId,
  parseResultId,
  parseRuleId,
  parseSecretName,
  parseToolAddress,
} from "./ids.ts";
export type {
  ApprovalId,
  ConnectorId,
  Digest,
  ExecutionId,
  Instant,
  PrincipalId,
  ResultId,
  SecretName,
  ToolAddress,
} from "./ids.ts";
export { canonicalJson, depthOf, isJsonObject, mapTexts, parseJson } from "./json.ts";
export type { Json, JsonObject, JsonSchema } from "./json.ts";
export { DEFAULT_LIMITS } from "./limits.ts";
export type { Limits } from "./limits.ts";
export { isLocalName, matchesHost, toPlace } from "./network.ts";
export type { HostPort, NetworkPolicy, UpstreamNetwork } from "./network.ts";
export type { Condition, Decision, PolicyRule, PolicySettings, QuotaSettings, RuleFile } from "./policy.ts";
export { hasRole } from "./principal.ts";
export type { Principal } from "./principal.ts";
export type { ChildKeeper } from "./process.ts";
export type { CallPlan, Finding, Program } from "./program.ts";
export type { Seal, SecretGrant, SecretGrants } from "./secret.ts";
export { describeEffect, describeWithheld, serverCommand } from "./tool.ts";
export type {
  ApiSurface,
  CatalogSnapshot,
  Effect,
  HeldChange,
  Label,
  LabelRule,
  LabelSource,
  Labeler,
  Namespace,
  Tool,
  ToolGuide,
} from "./tool.ts";
export { parseTraceContext } from "./trace.ts";
export type { TraceContext } from "./trace.ts";
export type {
  ApiSettings,
  ExportSettings,
  SecretTemplate,
  ServerSettings,
  UpstreamSettings,
  UpstreamStatus,
} from "./upstream.ts";
