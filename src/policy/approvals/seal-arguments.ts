/** Arguments of calls that wait: only the vault's key opens them, and only for the approval that they belong to. */

import { digestOf } from "../../audit/index.ts";
import { GloveboxError, canonicalJson } from "../../domain/index.ts";
import type { Approval, ApprovalId, Json } from "../../domain/index.ts";
import type { ApprovalRow } from "../../store/index.ts";

/** The vault's seal, as far as it is needed here. `context` is bound to the sealed bytes. */
export interface ArgumentSeal {
  close(plain: string, context: string): Uint8Array;
  /** Throws for bytes that were changed or that belong to another context. */
  open(sealed: Uint8Array, context: string): string;
}

/** What is asked about is what was sealed, whole. */
export function sealArguments(seal: ArgumentSeal, id: ApprovalId, args: Json): Uint8Array {
  return seal.close(canonicalJson(args), contextOf(id));
}

/** Rejects what does not have the digest that was recorded: a person must not be shown another call than will be made. */
export function openArguments(seal: ArgumentSeal, { sealedArgs, ...head }: ApprovalRow): Approval {
  const args = parseArgs(seal.open(sealedArgs, contextOf(head.id)));
  if (digestOf(args) !== head.argsDigest)
    throw new GloveboxError("STORE_UNAVAILABLE", `The arguments of ${head.id} are not those that were asked about`, {
      hint: "Somebody changed the store. Restore a backup, and check it with glovebox audit verify",
    });
  return { ...head, args };
}

function contextOf(id: ApprovalId): string {
  return `approval:${id}`;
}

/** `sealArguments` wrote it. */
function parseArgs(text: string): Json {
  return JSON.parse(text) as Json;
}
