/** What replays with other data showed about a call that the data-flow guard asks about. */

/** A call whose reply was replaced. */
interface EvidenceSource {
  /** Its address. */
  readonly tool: string;
  readonly seq: number;
}

/** Sources of a difference. `isOneOf`: they were replaced together, so it may come from one of them only. */
interface EvidenceCause {
  readonly sources: readonly EvidenceSource[];
  readonly isOneOf: boolean;
}

/**
 * One argument, by its name. `changed`: it had another value in a replay. `unchanged`: it had the same value in every
 * replay that made the call, which proves nothing. `constant`: the call plan proves that every such call has this value.
 */
type ArgumentEvidence = { readonly name: string } & (
  | { readonly finding: "changed"; readonly cause: EvidenceCause; readonly contains: readonly EvidenceSource[] }
  | { readonly finding: "unchanged" | "constant" }
);

/** Names sources, arguments and counts, and quotes no data. */
export type FlowEvidence =
  | {
      readonly kind: "compared";
      /** Replays with other data. */
      readonly rounds: number;
      /** As many were wanted (`approvals.evidenceRounds`); fewer ended in time. */
      readonly wanted: number;
      /** Those that made the call; only they say something about arguments. */
      readonly made: number;
      /** Everything that was replaced. */
      readonly sources: readonly EvidenceSource[];
      /** Present if a replay did not make the call, made it after other calls, or made another number of them. */
      readonly control?: EvidenceCause | undefined;
      readonly args: readonly ArgumentEvidence[];
      /** What the session read before this program may be in its source or its input. */
      readonly hadRead: boolean;
    }
  /** `reason` completes "no evidence: …". */
  | { readonly kind: "none"; readonly reason: string };
