/** Labels: where a tool's data comes from, where it goes, and which calls read it. */

import type { ConnectorId, ExecutionId, ToolAddress } from "./ids.ts";
import type { Effect } from "./tool.ts";

/**
 * `private`: the tool returns sensitive data. `untrusted`: the tool returns data written by third parties.
 * `external`: the arguments leave the organization.
 */
export type Label = "private" | "untrusted" | "external";

export type TakenLabel = Exclude<Label, "external">;

/** A label of a session, and the call that added it. */
export interface LabelSource {
  readonly label: TakenLabel;
  readonly tool: ToolAddress;
  readonly execution: ExecutionId;
  readonly seq: number;
}

/** Changes the labels of matching tools. Applied last. */
export interface LabelRule {
  /** Tool patterns: `*`, `github.*` or `github.createIssue`. */
  readonly tools: readonly string[];
  readonly add: readonly Label[];
  readonly remove: readonly Label[];
}

export interface LabelQuestion {
  readonly connector: ConnectorId;
  readonly address: ToolAddress;
  /** The server's name for the tool. */
  readonly remoteName: string;
  /** True only if the server declares `openWorldHint: true`. */
  readonly openWorld: boolean;
  /** True if the connector made the tool from the server's resources or prompts. */
  readonly synthetic: boolean;
  readonly effect: Effect;
}

/** Returns the labels of a tool. Called once for each tool of a snapshot. */
export type Labeler = (question: LabelQuestion) => readonly Label[];
