/** The interface of `policy`: decides allow, ask or deny, and carries nothing out. */

export type { ApprovalChoice, ApprovalQuery, Approvals } from "./approvals/approvals.ts";
export { createClientApprovals } from "./approvals/client-approvals.ts";
export type { ClientApprovals } from "./approvals/client-approvals.ts";
export { createDesk } from "./approvals/create-desk.ts";
export type { ApprovalDesk } from "./approvals/create-desk.ts";
export type { ApprovalReview, ReviewedCall } from "./approvals/review.ts";
export { openApprovals } from "./approvals/open-approvals.ts";
export type { ApprovalsOptions } from "./approvals/open-approvals.ts";
export { compilePolicy } from "./rules/compile-policy.ts";
export type { CompiledPolicy } from "./rules/compile-policy.ts";
export { decide } from "./rules/decide.ts";
export type { DecisionInput } from "./rules/decide.ts";
export { describeCondition, explain } from "./rules/explain.ts";
export type { Explanation, RuleFinding } from "./rules/explain.ts";
export { isFlowRule } from "./flows/judge-flow.ts";
export { pickStricter } from "./decision.ts";
export { createLabeler, applyLabelRules } from "./flows/label-tools.ts";
export { findServerPlaces } from "./flows/find-server.ts";
export { openFlows } from "./flows/open-flows.ts";
export type { CallFlow, ExecutionFlow, Flows } from "./flows/open-flows.ts";
export { openPolicy } from "./rules/open-policy.ts";
export type { Policy } from "./rules/open-policy.ts";
export { openQuotas, releaseLostQuota } from "./quotas/open-quotas.ts";
export type { ExecutionClaim, QuotaGrant, QuotaRequest, Quotas, QuotasOptions } from "./quotas/open-quotas.ts";
export { simulate } from "./rules/simulate.ts";
export type { PastCall, Simulation } from "./rules/simulate.ts";
export { applyOperatorEffect } from "./rules/view-snapshot.ts";
