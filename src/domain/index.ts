/** The front door of `domain`: the things that travel between rooms. It imports nothing, not even Node. */

export type { Adapter, AdapterContext, AdapterTool } from "./adapter.ts";
export { APPROVAL_SCOPES, APPROVAL_STATES, parseApprovalScope } from "./approval.ts";
export type { Approval, ApprovalScope, ApprovalState } from "./approval.ts";
export { defined } from "./defined.ts";
export { ERRORS, GloveboxError, describeError, isErrorCode, toPublicError } from "./errors.ts";
export type { ErrorCode, ErrorDetails, Fault, PublicError } from "./errors.ts";
export type { ExportSettings } from "./export-settings.ts";
export type {
  ApprovalNotice,
  CallOutcome,
  CallProgress,
  CallRecord,
  DryRun,
  EngineName,
  Execution,
  ExecutionEvent,
  ExecutionResult,
  ExecutionStateName,
  ExecutionStats,
  ExecutionView,
  IsolationLayer,
  IsolationLevel,
  LogLevel,
  LogLine,
  Reply,
  SkippedCall,
  ToolCall,
  Truncation,
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
  Id,
  Instant,
  PrincipalId,
  ResultId,
  RuleId,
  SecretName,
  ToolAddress,
} from "./ids.ts";
export { canonicalJson, depthOf, isJsonObject, mapFields, mapTexts } from "./json.ts";
export type { Json, JsonObject, JsonSchema } from "./json.ts";
export { parseJsonPath } from "./json-path.ts";
export type { JsonPath, PathStep } from "./json-path.ts";
export { LABELS } from "./label.ts";
export type { Label, LabelQuestion, LabelRule, LabelSource, Labeler, TakenLabel } from "./label.ts";
export { DEFAULT_LIMITS, tightenLimits } from "./limits.ts";
export type { Limits } from "./limits.ts";
export { isLocalName, matchesHost, readHostPattern, readHostPort, toPlace, usualPort } from "./network.ts";
export type { HostPattern, HostPort, NetworkPolicy, Read, UpstreamNetwork } from "./network.ts";
export type {
  Condition,
  ConditionTest,
  Decision,
  PolicyProfile,
  PolicyRule,
  PolicySettings,
  Scalar,
} from "./policy.ts";
export type { Principal } from "./principal.ts";
export type { ChildKeeper, FamilyWatch } from "./process.ts";
export type { QuotaSettings, RateQuota, UsageQuotas } from "./quota.ts";
export type { CallPlan, CallSite, Finding, Insertion, PlannedCall, Program, Severity } from "./program.ts";
export { parseTextPattern } from "./text-pattern.ts";
export type { PatternPart, TextPattern } from "./text-pattern.ts";
export { parseTraceContext } from "./trace.ts";
export type { TraceContext } from "./trace.ts";
export { describeEffect } from "./tool.ts";
export { bindsTo, grantsFor, readSecretHost } from "./secret-grant.ts";
export type { SecretGrant, SecretGrants, SecretHost, SecretPlace } from "./secret-grant.ts";
export type { ApiSurface, CatalogSnapshot, Effect, EffectSource, Namespace, Tool } from "./tool.ts";
export type { UpstreamState, UpstreamStatus, UpstreamTransport } from "./upstream.ts";
export type {
  AdapterSource,
  ApiSettings,
  OauthSettings,
  SecretTemplate,
  ServerSettings,
  UpstreamSettings,
} from "./upstream-settings.ts";
export { approveCommand, describeWithheld, loginCommand } from "./withheld.ts";
export type { HeldChange, PinMode, WithheldReason, WithheldTool } from "./withheld.ts";
