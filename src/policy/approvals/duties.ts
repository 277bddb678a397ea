/** Who may decide which approval: separation of duties between the person behind an agent and other people. */

import { GloveboxError, hasRole } from "../../domain/index.ts";
import type { Approval, Principal, PrincipalId } from "../../domain/index.ts";

import type { ApprovalChoice } from "./open-approvals.ts";

export interface DutySettings {
  /** Another person must decide than the one behind the agent. */
  readonly separate: boolean;
  /** Two different people must approve a call with the effect destroy. */
  readonly fourEyes: boolean;
  /** Who sees arguments: everyone who sees approvals, or reviewers, who alone decide then. */
  readonly showArguments: "all" | "reviewers";
}

export interface Duties extends DutySettings {
  /**
   * The person behind a principal, and a person themselves; one name for each, whatever they decide with. `undefined` if
   * it is not known, and then no one counts as another person.
   */
  readonly personOf: (principal: PrincipalId) => Promise<string | undefined>;
}

export const NO_DUTIES: Duties = {
  separate: false,
  fourEyes: false,
  showArguments: "all",
  personOf: async () => undefined,
};

/** The person who decides; a form of a client passes on the answer of the person behind it. */
export async function personOfDecider({ id, person = id }: Principal, { personOf }: Duties): Promise<string> {
  return (await personOf(person)) ?? person;
}

/** Rejects with POLICY_DENIED for one who may not decide this approval. A model that learned an id never may. */
export async function checkDecider(approval: Approval, by: Principal, duties: Duties): Promise<void> {
  const { separate, showArguments, personOf } = duties;
  const roles = showArguments === "reviewers" ? (["reviewer"] as const) : (["operator", "reviewer"] as const);
  if (!hasRole(by, ...roles))
    throw new GloveboxError("POLICY_DENIED", `${by.id} (kind: ${by.kind}) cannot decide an approval`, {
      hint: "A reviewer or an operator decides on the page, or with `glovebox approve` or `glovebox reject`",
    });
  if (!separate) return;
  const behind = await personOf(approval.principal);
  if (behind !== undefined && behind !== (await personOfDecider(by, duties))) return;
  throw new GloveboxError("POLICY_DENIED", `${approval.id} needs another person than ${behind ?? "an unknown one"}`, {
    hint: "approvals.separate is on: the person behind an agent cannot decide its calls",
  });
}

/** `second`: another person has approved it before, or one is enough. */
export async function findVote(
  approval: Approval,
  choice: ApprovalChoice,
  by: Principal,
  duties: Duties,
): Promise<"first" | "second"> {
  const { id, effect, decidedBy } = approval;
  if (!duties.fourEyes || effect !== "destroy" || choice.verdict !== "approve") return "second";
  if (choice.scope !== undefined && choice.scope !== "call")
    throw new GloveboxError("REQUEST_INVALID", `${id} can be approved for this call only, not for ${choice.scope}`, {
      hint: "approvals.fourEyes is on: every call with the effect destroy needs two people",
    });
  if (decidedBy === undefined) return "first";
  if (decidedBy !== (await personOfDecider(by, duties))) return "second";
  throw new GloveboxError("REQUEST_CONFLICT", `${decidedBy} has approved ${id}; a second person is needed`, {
    hint: "approvals.fourEyes is on: two different people must approve it",
  });
}

/** What a viewer without the right to see arguments gets. */
export function hideArguments(approval: Approval): Approval {
  const { plan: _, ...rest } = approval;
  return { ...rest, args: null, argsShown: "hidden" };
}

export function seesArguments(viewer: Principal | undefined, { showArguments }: DutySettings): boolean {
  return showArguments === "all" || viewer === undefined || hasRole(viewer, "reviewer");
}
