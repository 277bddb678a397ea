/** What a call that waits would do: only the vault's key opens it, and only for the approval that it belongs to. */

import { digestOf } from "../../text/index.ts";
import { GloveboxError, canonicalJson } from "../../domain/index.ts";
import type { Approval, ApprovalId, CallPlan, Json } from "../../domain/index.ts";
import type { ApprovalRow } from "../../store/index.ts";

/** The vault's seal, as far as it is needed here. `context` is bound to the sealed bytes. */
export interface ArgumentSeal {
  close(plain: string, context: string): Uint8Array;
  /** Throws for bytes that were changed or that belong to another context. */
  open(sealed: Uint8Array, context: string): string;
}

/** The plan holds literal arguments, so it is sealed with them. */
type Content = Pick<Approval, "args" | "plan">;

/** A longer plan helps nobody to decide, and each question of its program would hold a copy. */
export const PLAN_CHARS = 64 * 1024;

/** The arguments whole; the plan if it is short enough to be read. */
export function sealArguments(seal: ArgumentSeal, id: ApprovalId, { args, plan }: Content): Uint8Array {
  const planText = plan && JSON.stringify(plan);
  const kept = planText !== undefined && planText.length <= PLAN_CHARS ? `,"plan":${planText}` : "";
  return seal.close(`{"args":${canonicalJson(args)}${kept}}`, contextOf(id));
}

/**
 * Rejects what does not have the digest that was recorded: a person must not be shown another call than will be made.
 * Only a settled question may be without arguments.
 */
export function openArguments(seal: ArgumentSeal, { sealedArgs, ...head }: ApprovalRow): Approval {
  if (sealedArgs.length === 0 && head.state !== "pending") return { ...head, args: null, argsShown: "dropped" };
  const { args, plan } = parseContent(seal.open(sealedArgs, contextOf(head.id)));
  if (digestOf(args) !== head.argsDigest)
    throw new GloveboxError("STORE_UNAVAILABLE", `The arguments of ${head.id} are not those that were asked about`, {
      hint: "Somebody changed the store. Restore a backup, and check it with glovebox audit verify",
    });
  return { ...head, args, ...(plan && { plan }) };
}

/** For lists: one damaged row must not hide the others. */
export function openOrMark(seal: ArgumentSeal, row: ApprovalRow): Approval {
  try {
    return openArguments(seal, row);
  } catch {
    const { sealedArgs: _, ...head } = row;
    return { ...head, args: null, argsShown: "damaged" };
  }
}

function contextOf(id: ApprovalId): string {
  return `approval:${id}`;
}

/** `sealArguments` wrote it. */
function parseContent(text: string): { readonly args: Json; readonly plan?: CallPlan } {
  return JSON.parse(text) as { readonly args: Json; readonly plan?: CallPlan };
}
