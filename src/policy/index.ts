/** The interface of `policy`: decides allow, ask or deny, and carries nothing out. */

export { createClientApprovals } from "./approvals/client-approvals.ts";
export { createAlwaysRules } from "./approvals/always-rules.ts";
export { createDesk } from "./approvals/create-desk.ts";
export type { ApprovalDesk } from "./approvals/create-desk.ts";
export { openApprovals } from "./approvals/open-approvals.ts";
export { isFlowRule, pickStricter } from "./decision.ts";
export { findIdlePatterns } from "./find-idle-patterns.ts";
export { reviewTools } from "./flows/label-tools.ts";
export { createLabelDesk } from "./flows/label-desk.ts";
export { openFlows } from "./flows/open-flows.ts";
export { openQuotas } from "./quotas/open-quotas.ts";
export { compilePolicy } from "./rules/compile-policy.ts";
export { describeCondition, explain } from "./rules/explain.ts";
export { lintPolicy } from "./rules/lint.ts";
export { openPolicy } from "./rules/open-policy.ts";
export { simulate } from "./rules/simulate.ts";
export { suggestRules } from "./rules/suggest.ts";
export { stateTool } from "./state-tool.ts";
