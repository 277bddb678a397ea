/** What replays with other data showed: one sentence each, then arguments against what was read. */

import type { ApprovalsAnswer } from "../../../src/surfaces/admin/contract.ts";
import { describeEvidence } from "../../../src/surfaces/describe-evidence.ts";
import type { ListedApproval } from "../../page-props.ts";
import { Visible } from "../../parts/text.tsx";

type ShownEvidence = NonNullable<ApprovalsAnswer["approvals"][number]["evidence"]>;
type Comparison = Extract<ShownEvidence, { kind: "compared" }>;
type Source = Comparison["sources"][number];

/** More sources do not fit beside each other; the sentences have all. */
const MAX_SOURCES = 6;

export function Evidence({ approval: { evidence } }: { readonly approval: ListedApproval }) {
  if (!evidence) return null;
  return (
    <section aria-labelledby="evidence">
      <div class="h">
        <h2 id="evidence">Evidence</h2>
        <span class="muted small">from replays with other data; it proves nothing by itself</span>
      </div>
      <ul class="evidence" aria-label="Evidence">
        {describeEvidence(evidence).map((line) => (
          <li key={line}>
            <Visible text={line} />
          </li>
        ))}
      </ul>
      {evidence.kind === "compared" && evidence.sources.length <= MAX_SOURCES && <Matrix comparison={evidence} />}
    </section>
  );
}

function Matrix({ comparison: { sources, args, control } }: { readonly comparison: Comparison }) {
  const isIn = (list: readonly Source[], { tool, seq }: Source): boolean =>
    list.some((one) => one.tool === tool && one.seq === seq);
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="What depends on what">
      <table class="t">
        <thead>
          <tr>
            <th>Changes when this answer changes</th>
            {sources.map(({ tool, seq }) => (
              <th key={`${tool} ${seq}`}>
                <span class="src">{seq}</span> <code>{tool}</code>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {args.map((one) => (
            <tr key={one.name}>
              <th scope="row">
                <code>
                  <Visible text={one.name} />
                </code>
              </th>
              {sources.map((source) => (
                <td key={`${source.tool} ${source.seq}`}>
                  {one.finding !== "changed" ? (
                    <Finding word="no" />
                  ) : isIn(one.contains, source) ? (
                    <Finding word="contains text" />
                  ) : (
                    <Finding word={isIn(one.cause.sources, source) ? "changes" : "no"} />
                  )}
                </td>
              ))}
            </tr>
          ))}
          <tr>
            <th scope="row">whether it is called</th>
            {sources.map((source) => (
              <td key={`${source.tool} ${source.seq}`}>
                <Finding word={control && isIn(control.sources, source) ? "changes" : "no"} />
              </td>
            ))}
          </tr>
        </tbody>
      </table>
    </div>
  );
}

function Finding({ word }: { readonly word: "no" | "changes" | "contains text" }) {
  return <span class={word === "no" ? "muted" : "strong"}>{word}</span>;
}
