/** What a program can call, and what a dry run did not make. */

import type { ExecutionAnswer } from "../../../src/surfaces/admin/contract/executions.ts";
import type { ProgramPlanAnswer } from "../../../src/surfaces/admin/contract/tools.ts";
import { toPlainJson } from "../../../src/text/escape-hidden.ts";
import { Problem } from "../../parts/frame.tsx";
import { Tag } from "../../parts/status.tsx";
import { Visible } from "../../parts/text.tsx";

export function Plan({ answer }: { readonly answer: ProgramPlanAnswer }) {
  return (
    <section aria-label="Plan">
      {!answer.ok && (
        <>
          <Problem message={<Visible text={`${answer.error.message} (${answer.error.code})`} />} />
          {answer.error.hint !== undefined && <p class="soft">{answer.error.hint}</p>}
          {answer.error.frame !== undefined && (
            <pre class="block" tabIndex={0} aria-label="Place of the error">
              <Visible text={answer.error.frame} />
            </pre>
          )}
        </>
      )}
      {answer.ok && <Calls plan={answer.plan} />}
      <ul class="reads">
        {answer.findings.map(({ rule, message, line, severity }) => (
          <li key={`${rule} ${line}`}>
            <div class="row">
              <span class={severity === "error" ? "tag bad" : "tag line"}>{severity}</span>
              <code>{rule}</code>
              <span class="muted small">line {line}</span>
              <span>
                <Visible text={message} />
              </span>
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}

type CallPlan = Extract<ProgramPlanAnswer, { ok: true }>["plan"];

function Calls({ plan: { exact, calls } }: { readonly plan: CallPlan }) {
  if (calls.length === 0) return <p class="soft">It calls no tool{exact ? "." : ", as far as can be seen."}</p>;
  return (
    <div class="panel">
      <div class="panel-h">
        <h2>What it can call</h2>
        <span class="muted small">{exact ? "exact" : "it may call more"}</span>
      </div>
      <table class="t stackable">
        <thead>
          <tr>
            <th>Tool</th>
            <th>Effect</th>
            <th>Line</th>
            <th>When</th>
            <th>Arguments</th>
          </tr>
        </thead>
        <tbody>
          {calls.map(({ tool, effect, at, times, when, args = [] }) => (
            <tr key={tool}>
              <td class="first">
                <code>{tool}</code>
              </td>
              <td class="second">
                <Tag name={effect} />
              </td>
              <td data-l="line">{at.map(({ line }) => line).join(", ")}</td>
              <td>
                {when}, {times}
              </td>
              <td class="wide">
                <code class="small">
                  {args.length > 0 ? args.map((one) => toPlainJson(one)).join(" ") : "computed"}
                </code>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The calls that a dry run answered from their schemas. */
export function SkippedCalls({ result: { dryRun } }: { readonly result: ExecutionAnswer["result"] }) {
  if (!dryRun) return null;
  if (dryRun.writes.length === 0) return <p class="soft">For real, it would make no other call.</p>;
  return (
    <section>
      <div class="panel">
        <div class="panel-h">
          <h2>Calls that were not made</h2>
          <span class="muted small">for real, they would be</span>
        </div>
        <ol class="reads">
          {dryRun.writes.map(({ seq, tool, effect, decision, args }) => (
            <li key={seq}>
              <div class="row">
                <span class="muted small">{seq}</span>
                <code>{tool}</code>
                <Tag name={effect} />
                {decision === "ask" && <span class="tag wait">needs approval</span>}
              </div>
              {args !== undefined && <pre class="plain small">{toPlainJson(args, 2)}</pre>}
            </li>
          ))}
        </ol>
      </div>
    </section>
  );
}
