/** A tool of Glovebox itself as the operator states it: with the configured effect and labels. */

import type { LabelRule, Tool } from "../domain/index.ts";
import { applyLabelRules } from "./flows/label-tools.ts";
import { formsOf } from "./matches-tool.ts";
import type { CompiledPolicy } from "./rules/compile-policy.ts";
import { applyOperatorEffect } from "./rules/view-snapshot.ts";

export function stateTool(policy: CompiledPolicy, labels: readonly LabelRule[], tool: Tool): Tool {
  return { ...applyOperatorEffect(policy, tool), labels: applyLabelRules(labels, formsOf(tool), tool.labels ?? []) };
}
