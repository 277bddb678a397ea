/** The arguments in full, and beside each what the replays show about where it comes from. */

import { toPlainJson } from "../../../src/text/escape-hidden.ts";
import type { ListedApproval } from "../../page-props.ts";
import { Problem } from "../../parts/frame.tsx";
import { CopyButton, Visible } from "../../parts/text.tsx";
import { formatBytes } from "../../parts/time.tsx";
import { isQuestion } from "./decision.tsx";

const HIDDEN_ARGUMENTS: Readonly<Record<string, string>> = {
  beginning: "This is only the beginning.",
  dropped: "They were long, and are not kept once it is decided.",
  damaged: "The stored arguments fail their check, so they are not shown.",
  hidden: "Only reviewers see arguments.",
};

export function Arguments({ approval }: { readonly approval: ListedApproval }) {
  const { args, argsShown, argsDigest } = approval;
  const text = toPlainJson(args, 2);
  const entries = typeof args === "object" && args !== null && !Array.isArray(args) ? Object.entries(args) : [];
  const missing = argsShown === undefined ? undefined : HIDDEN_ARGUMENTS[argsShown];
  const count = entries.length === 1 ? "1 argument, " : `${entries.length} arguments, `;
  return (
    <section aria-labelledby="args">
      <div class="panel">
        <div class="panel-h">
          <h2 id="args">{isQuestion(approval) ? "What the server asks, in its own words" : "Arguments"}</h2>
          <span class="end">
            <CopyButton text={text} label="Copy the arguments" />
          </span>
        </div>
        {missing !== undefined && <Problem message={missing} />}
        {argsShown === undefined && entries.length === 0 && <pre class="plain value">{text}</pre>}
        {argsShown === undefined && entries.length > 0 && <Entries entries={entries} approval={approval} />}
        <div class="panel-f">
          <span>
            {argsShown === undefined
              ? `${entries.length > 0 ? count : ""}${formatBytes(text.length)}, shown in full`
              : "Approving needs all of them"}
          </span>
          <span class="mono" title={argsDigest}>
            {argsDigest.slice(0, 20)}…
          </span>
        </div>
      </div>
    </section>
  );
}

interface EntriesProps {
  readonly entries: readonly (readonly [string, unknown])[];
  readonly approval: ListedApproval;
}

function Entries({ entries, approval }: EntriesProps) {
  const hasOrigins = approval.evidence?.kind === "compared";
  return (
    <table class={hasOrigins ? "args with-origin" : "args"}>
      <tbody>
        {entries.map(([name, value]) => (
          <tr key={name}>
            <th scope="row">
              <code>
                <Visible text={name} />
              </code>
              <small>{typeOf(value)}</small>
            </th>
            <td>
              <div class="val">{typeof value === "string" ? <Visible text={value} /> : toPlainJson(value, 2)}</div>
            </td>
            {hasOrigins && (
              <td class="ev">
                <Origin name={name} approval={approval} />
              </td>
            )}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function typeOf(value: unknown): string {
  if (Array.isArray(value)) return `${value.length} items`;
  return value === null ? "null" : typeof value;
}

/** What the replays with other data changed in this argument. */
function Origin({ name, approval }: { readonly name: string; readonly approval: ListedApproval }) {
  const { evidence, labels } = approval;
  const found = evidence?.kind === "compared" ? evidence.args.find((one) => one.name === name) : undefined;
  if (!found) return null;
  if (found.finding !== "changed") {
    return <span class="muted">{found.finding === "constant" ? "from the program itself" : "did not change"}</span>;
  }
  const isContained = found.contains.length > 0;
  const sources = isContained ? found.contains : found.cause.sources;
  return (
    <span>
      {isContained ? "contains text of " : "changes with "}
      {sources.map(({ tool, seq }) => (
        <span key={`${tool} ${seq}`} class="nowrap">
          <span class={`src ${labels.find((one) => one.tool === tool && one.seq === seq)?.label ?? ""}`}>{seq}</span>{" "}
          <code>{tool}</code>{" "}
        </span>
      ))}
    </span>
  );
}
