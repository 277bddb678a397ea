/** The wording of evidence. "Did not change" is not "independent": only a call plan proves that. */

import type { Approval } from "../domain/index.ts";

type ShownEvidence = NonNullable<Approval["evidence"]>;
type ShownComparison = Extract<ShownEvidence, { readonly kind: "compared" }>;
type ShownSource = ShownComparison["sources"][number];
type ShownCause = NonNullable<ShownComparison["control"]>;
type ShownArgument = ShownComparison["args"][number];

const HAD_READ = "what the session read before this program may be in its source or input, and was not replaced";

/** For people, one line each. Names of arguments come from the program: a surface must clean what it shows. */
export function describeEvidence(evidence: ShownEvidence): readonly string[] {
  if (evidence.kind === "none") return [`no evidence: ${evidence.reason}`];
  const { rounds, wanted, made, sources, control, args, hadRead } = evidence;
  const replays = rounds === 1 ? "1 replay" : `${rounds} replays`;
  const early = rounds < wanted ? ` (${wanted} were planned, and the time was over)` : "";
  return [
    ...args.map((one) => describeArgument(one, made)),
    control
      ? `whether, when or how often it is called changes with ${describeCause(control)}`
      : `it was called in all of ${replays}, which does not prove that it always is`,
    `seen in ${replays}${early} with other data in place of ${listSources(sources)}; a rare case may be missed`,
    ...(hadRead ? [HAD_READ] : []),
  ];
}

function describeArgument(one: ShownArgument, made: number): string {
  switch (one.finding) {
    case "changed": {
      const { contains, cause } = one;
      if (contains.length > 0) return `\`${one.name}\` contains text of ${listSources(contains)}`;
      return `\`${one.name}\` changes with ${describeCause(cause)}`;
    }
    case "constant":
      return `\`${one.name}\` depends on nothing that was read: it is the same wherever the program makes this call`;
    case "unchanged":
      return made === 0
        ? `\`${one.name}\` is not known: no replay made the call`
        : `\`${one.name}\` did not change in ${made} of the replays, which does not prove that it depends on nothing`;
    default:
      return one satisfies never;
  }
}

function describeCause({ sources, isOneOf }: ShownCause): string {
  return isOneOf && sources.length > 1 ? `one of ${listSources(sources)}` : listSources(sources);
}

const MAX_LISTED = 8;

function listSources(sources: readonly ShownSource[]): string {
  const shown = sources.slice(0, MAX_LISTED).map(({ tool, seq }) => `${tool} #${seq}`);
  const left = sources.length - shown.length;
  return `${shown.join(", ")}${left > 0 ? ` and ${left} more` : ""}`;
}
