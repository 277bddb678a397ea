/** The front door of `policy`: decides allow, ask or deny, and carries nothing out. */

export type { ApprovalChoice, ApprovalQuery, ApprovalQuestion, Approvals } from "./approvals/approvals.ts";
export { createDesk } from "./approvals/create-desk.ts";
export type { ApprovalDesk } from "./approvals/create-desk.ts";
export type { ApprovalReview, ReviewedCall } from "./approvals/review.ts";
export { openApprovals } from "./approvals/open-approvals.ts";
export type { ApprovalsOptions } from "./approvals/open-approvals.ts";
export { compilePolicy } from "./compile-policy.ts";
export type { CompiledPolicy } from "./compile-policy.ts";
export { decide } from "./decide.ts";
export type { Question } from "./decide.ts";
export { describeCondition, explain } from "./explain.ts";
export type { Explanation, RuleFinding } from "./explain.ts";
export { isFlowRule, stricter } from "./flows/judge-flow.ts";
export { createLabeler, stateLabels } from "./flows/label-tools.ts";
export type { ServerPlace } from "./flows/find-server.ts";
export { openFlows } from "./flows/open-flows.ts";
export type { Arrival, Flow, Flows } from "./flows/open-flows.ts";
export { matchesTool } from "./matches-tool.ts";
export { openPolicy } from "./open-policy.ts";
export type { Policy, RuleSource } from "./open-policy.ts";
export { openQuotas, settleLost } from "./open-quotas.ts";
export type { ExecutionClaim, QuotaGrant, QuotaRequest, Quotas, QuotasOptions } from "./open-quotas.ts";
export { simulate } from "./simulate.ts";
export type { PastCall, Simulation } from "./simulate.ts";
export { stateEffect } from "./view-snapshot.ts";
