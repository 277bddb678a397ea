/** Seals the arguments of a pending call with the vault's key and binds them to its approval. */

import { digestOf } from "../../text/index.ts";
import { GloveboxError, canonicalJson, defined } from "../../domain/index.ts";
import type { Approval, ApprovalId, InputRequest, Seal } from "../../domain/index.ts";
import type { ApprovalRow } from "../../store/index.ts";

export type ArgumentSeal = Pick<Seal, "close" | "open">;

/** The plan contains literal arguments and the evidence their names, so they are sealed with them. */
type Content = Pick<Approval, "args" | "plan" | "evidence">;

/** A longer plan does not help a reviewer, and each approval of the program would store a copy. */
export const PLAN_CHARS = 64 * 1024;

/** Seals all arguments, the plan if it is short enough to read, the evidence, and the answer to an input request. */
export function sealArguments(
  seal: ArgumentSeal,
  id: ApprovalId,
  { args, plan, evidence }: Content,
  answer?: InputRequest["content"],
): Uint8Array {
  const planText = plan && JSON.stringify(plan);
  const kept = planText !== undefined && planText.length <= PLAN_CHARS ? `,"plan":${planText}` : "";
  const shown = evidence ? `,"evidence":${JSON.stringify(evidence)}` : "";
  const given = answer ? `,"answer":${JSON.stringify(answer)}` : "";
  return seal.close(`{"args":${canonicalJson(args)}${kept}${shown}${given}}`, contextOf(id));
}

/** Throws if the arguments are not those of the recorded digest. Only a settled approval may have no arguments. */
export function openArguments(seal: ArgumentSeal, { sealedArgs, ...head }: ApprovalRow): Approval {
  if (sealedArgs.length === 0 && head.state !== "pending") return { ...head, args: null, argsShown: "dropped" };
  const { args, plan, evidence } = trustContent(seal.open(sealedArgs, contextOf(head.id)));
  if (digestOf(args) !== head.argsDigest)
    throw new GloveboxError("STORE_UNAVAILABLE", `The arguments of ${head.id} do not match their digest`, {
      hint: "The store was changed. Restore a backup and check it with `glovebox audit verify`",
    });
  return { ...head, args, ...defined({ plan, evidence }) };
}

/** The answer to an input request; `undefined` if it is no longer kept. */
export function openAnswer(seal: ArgumentSeal, { id, sealedArgs }: ApprovalRow): InputRequest["content"] | undefined {
  return sealedArgs.length === 0 ? undefined : trustContent(seal.open(sealedArgs, contextOf(id))).answer;
}

/** For lists: a damaged row is marked and does not hide the others. */
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

/** The seal proves that `sealArguments` of this installation wrote the text. */
function trustContent(text: string): Content & { readonly answer?: InputRequest["content"] } {
  return JSON.parse(text);
}
