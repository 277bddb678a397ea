/** What a reviewer sees of a version: everything that decides, and nothing that the version cannot prove. */

import type { CallPlan, Finding, Instant, JsonObject, JsonSchema } from "../../domain/index.ts";
import type { SkillGrant, SkillRow, SkillTest } from "../skill.ts";

/** What a program can do. */
export interface ProgramReview {
  readonly findings: readonly Finding[];
  readonly plan: CallPlan;
}

/** One power that a version asks for, decided apart from the others. */
export interface ReviewedGrant {
  /** Names it in a decision, such as `tool:shop.list`, `host:api.example.com` or `secret:TRACKER_TOKEN`. */
  readonly id: string;
  /** Hosts and secrets go beyond what the caller of the skill may do. */
  readonly kind: "tool" | "host" | "secret";
  /** The tool or the host; of a secret where it may be sent, too. */
  readonly name: string;
  readonly reason: string;
  /** What it is bound to: nothing else that has this name later is granted. Absent once it was refused. */
  readonly pin?: SkillGrant;
  readonly decision: "open" | "granted" | "refused";
  /** Against the last approved version. */
  readonly change: "new" | "same" | "changed";
}

/** A recorded execution, and what its replay gave on each engine. */
export interface ReviewedTest extends Pick<SkillTest, "file"> {
  readonly calls: number;
  readonly runs: readonly { readonly engine: string; readonly problem?: string }[];
}

/** Lines as `compareLines` gives them: marked with `-` and `+`, others are the same. */
export interface FileChange {
  readonly path: string;
  readonly kind: "added" | "changed" | "removed" | "same";
  readonly lines: readonly string[];
}

/** What a version changes. */
export interface SkillChanges {
  /** The version that is approved or was last; absent for a first one. */
  readonly since?: number;
  /** `undefined` where nothing changed. */
  readonly description?: readonly string[];
  readonly input?: readonly string[];
  readonly output?: readonly string[];
  /** Grants of the approved version that this one does not ask for. */
  readonly removedGrants: readonly string[];
  readonly files: readonly FileChange[];
}

export interface SimilarSkill {
  readonly name: string;
  readonly description: string;
  readonly why: string;
}

export interface SkillReview
  extends ProgramReview, Pick<SkillRow, "name" | "version" | "state" | "digest" | "address" | "author" | "createdAt"> {
  readonly frozen?: string;
  readonly nearest?: number;
  /** Where it came from: a folder, an export, a rollback or an execution. */
  readonly origin: JsonObject;
  readonly description: string;
  readonly license?: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly input: JsonSchema;
  readonly output: JsonSchema | null;
  /** Text by path. */
  readonly files: Readonly<Record<string, string>>;
  readonly grants: readonly ReviewedGrant[];
  readonly tests: readonly ReviewedTest[];
  readonly changes: SkillChanges;
  readonly similar: readonly SimilarSkill[];
  readonly approval?: {
    readonly reviewer: string;
    readonly at: Instant;
    readonly selfReviewed: boolean;
    readonly key: string;
  };
  readonly decidedBy?: string;
  readonly note?: string;
}
