/** The queue for the surfaces of operators: takes ids as strings, hides secrets, and cannot request approvals. */

import { capText, redactApproval } from "../../text/index.ts";
import { GloveboxError, defined, hasRole, parseApprovalId } from "../../domain/index.ts";
import type { Approval, ApprovalId, HeldChange, Principal } from "../../domain/index.ts";
import type { Store } from "../../store/index.ts";

import { NO_DUTIES, hideArguments, seesArguments } from "./duties.ts";
import type { DutySettings } from "./duties.ts";
import { isAlwaysScope } from "./always-rules.ts";
import type { AlwaysRule, AlwaysRules, AlwaysScope } from "./always-rules.ts";
import type { ApprovalChoice, ApprovalQuery, Approvals } from "./open-approvals.ts";
import { reviewApproval } from "./review.ts";
import type { ApprovalReview } from "./review.ts";
import { notFound } from "./watch-approvals.ts";

/** For operators only; `decide` and `revoke` check that too. */
export interface ApprovalDesk {
  /** Shortens long arguments; `show` returns them whole. `viewer` is the local user by default. */
  list(query: ApprovalQuery, viewer?: Principal): Promise<readonly Approval[]>;
  /** Rejects with REQUEST_NOT_FOUND. */
  show(id: string, viewer?: Principal): Promise<ApprovalReview>;
  /** Rejects as `Approvals.decide` does, and as `propose` for a scope that becomes a rule. */
  decide(id: string, choice: DeskChoice, by: Principal): Promise<Approval>;
  revoke(id: string, by: Principal): Promise<Approval>;
  /** False if arguments are hidden from this viewer, here and wherever else they are kept. */
  showsArguments(viewer: Principal): boolean;
  /** The rule that a decision would write, and its file. Rejects with REQUEST_CONFLICT if no rule can loosen it. */
  propose(id: string, scope: AlwaysScope, by: Principal): Promise<{ readonly rule: AlwaysRule; readonly file: string }>;
}

/** People at the command line and the admin page may decide for good; forms of clients may not. */
export interface DeskChoice extends Omit<ApprovalChoice, "scope" | "byRule"> {
  readonly scope?: NonNullable<ApprovalChoice["scope"]> | AlwaysScope;
}

export interface DeskOptions {
  readonly approvals: Pick<Approvals, "checkDecider" | "decide" | "find" | "list" | "revoke">;
  readonly store: Pick<Store, "executions" | "ledger">;
  readonly rules: Pick<AlwaysRules, "propose" | "add" | "revoke" | "file">;
  readonly hide: (text: string) => string;
  /** By default everyone who sees approvals sees their arguments. */
  readonly duties?: DutySettings;
  /** Returns the held-back definition of the tool, if there is one. */
  readonly findChange: (approval: Approval) => Promise<HeldChange | undefined>;
}

/** The waiting calls that a rule covers: with any arguments, or with the same. */
const SETTLED = { "always-tool": "any", "always-arguments": "same" } as const;

/** Does not own the queue. */
export function createDesk(options: DeskOptions): ApprovalDesk {
  const { approvals, store, rules, hide, findChange, duties = NO_DUTIES } = options;
  const cover = (approval: Approval): Approval => redactApproval(approval, hide);
  const get = async (id: ApprovalId): Promise<Approval> => {
    const found = await approvals.find(id);
    if (!found) throw notFound(id);
    return found;
  };
  const decideAlways = createLastingDecision({ approvals, rules, duties, get });
  return {
    list: async (query, viewer) => {
      const shown = (approval: Approval): Approval => cutArguments(cover(approval));
      return (await approvals.list(query)).map(seesArguments(viewer, duties) ? shown : hideArguments);
    },
    async show(raw, viewer) {
      const found = await get(parseId(raw));
      const change = await findChange(found);
      const review = { ...(await reviewApproval(store, found)), ...defined({ change }) };
      if (!seesArguments(viewer, duties)) return hideReview(review, found);
      const { execution } = review;
      const shown = execution && { ...execution, source: hide(execution.source) };
      return { ...review, approval: cover(found), execution: shown };
    },
    decide: async (raw, choice, by) => {
      const { scope, ...rest } = choice;
      const id = parseId(raw);
      if (isAlwaysScope(scope)) return cover(await decideAlways(id, choice, scope, by));
      return cover(await approvals.decide(id, { ...rest, ...defined({ scope }) }, by));
    },
    propose: async (raw, scope, by) => {
      // The rule for these arguments contains them.
      if (!seesArguments(by, duties)) throw argumentsHidden(by);
      const rule = rules.propose(await get(parseId(raw)), scope, by);
      return { rule, file: rules.file ?? "(no file)" };
    },
    showsArguments: (viewer) => seesArguments(viewer, duties),
    revoke: async (raw, by) => cover(await approvals.revoke(parseId(raw), by)),
  };
}

/**
 * The rule is written before the call is approved, and the waiting calls that it covers with it. If another decision
 * was faster, an approval is what this one wanted, too; otherwise the rule is taken back, unless an earlier one made it.
 */
function createLastingDecision({
  approvals,
  rules,
  duties,
  get,
}: Pick<DeskOptions, "approvals" | "rules"> & {
  readonly duties: DutySettings;
  readonly get: (id: ApprovalId) => Promise<Approval>;
}) {
  return async (id: ApprovalId, { scope: _, ...choice }: DeskChoice, scope: AlwaysScope, by: Principal) => {
    const found = await get(id);
    const approve = () => approvals.decide(id, { ...choice, scope: "call", byRule: SETTLED[scope] }, by);
    if (choice.verdict !== "approve") throw onlyApproval(scope);
    if (found.state !== "pending" || !hasRole(by, "operator")) return approve(); // rejects
    if (duties.fourEyes && found.effect === "destroy") return approvals.decide(id, { ...choice, scope: "session" }, by); // rejects
    await approvals.checkDecider(id, by); // before a rule is in force that the decision would not make
    const rule = rules.propose(found, scope, by);
    const isNew = await rules.add(rule, found, by);
    return approve().catch(async (thrown: unknown) => {
      const now = await approvals.find(id);
      if (now?.state === "approved") return now;
      if (isNew) await rules.revoke(rule.id, by);
      throw thrown;
    });
  };
}

/** The program contains the arguments, too. */
function hideReview(review: ApprovalReview, approval: Approval): ApprovalReview {
  const execution = review.execution && { ...review.execution, source: "" };
  return { ...review, places: [], approval: hideArguments(approval), execution };
}

export const LISTED_BYTES = 4_096;

function cutArguments(approval: Approval): Approval {
  const text = JSON.stringify(approval.args);
  const args = capText(text, LISTED_BYTES);
  return args === text ? approval : { ...approval, args, argsShown: "beginning" };
}

function argumentsHidden({ id }: Principal): GloveboxError {
  return new GloveboxError("POLICY_DENIED", `${id} does not see arguments, so it cannot propose a rule`, {
    hint: "approvals.showArguments is `reviewers`: a person with the role reviewer decides",
  });
}

function onlyApproval(scope: AlwaysScope): GloveboxError {
  return new GloveboxError("REQUEST_INVALID", `A rejection cannot have the scope ${scope}`, {
    hint: "Write a deny rule to refuse all such calls",
  });
}

function parseId(raw: string): ApprovalId {
  const id = parseApprovalId(raw);
  if (id === undefined) throw notFound(JSON.stringify(raw));
  return id;
}
