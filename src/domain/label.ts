/** What is known about where a tool's data comes from and where it goes, and which calls brought it in. */

import type { ConnectorId, ExecutionId, ToolAddress } from "./ids.ts";
import type { Effect } from "./tool.ts";

/**
 * `private`: what the tool returns is sensitive. `untrusted`: what it returns was written by strangers.
 * `external`: what it is sent leaves the organization.
 */
export type Label = "private" | "untrusted" | "external";

/** The labels that stick to whoever has read a result. */
export type TakenLabel = Exclude<Label, "external">;

/** A label that was taken in, and the call that brought it. */
export interface LabelSource {
  readonly label: TakenLabel;
  readonly tool: ToolAddress;
  readonly execution: ExecutionId;
  readonly seq: number;
}

/** Changes the labels of matching tools, after everything else was considered. */
export interface LabelRule {
  /** Tool patterns: `*`, `github.*` or `github.createIssue`. */
  readonly tools: readonly string[];
  readonly add: readonly Label[];
  readonly remove: readonly Label[];
}

/** What of a tool its labels depend on. */
export interface LabelQuestion {
  readonly connector: ConnectorId;
  readonly address: ToolAddress;
  /** The server's own name of the tool. */
  readonly remoteName: string;
  /** Whether the server says that the tool meets an open world; only a plain yes counts. */
  readonly openWorld: boolean;
  /** Whether the connector made it from the server's resources or prompts. */
  readonly synthetic: boolean;
  readonly effect: Effect;
}

/** Gives a tool its labels; asked once for each tool of a snapshot. */
export type Labeler = (question: LabelQuestion) => readonly Label[];
