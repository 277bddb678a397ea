/** What the program can call, and what it did so far. */

import type { ApprovalReviewAnswer } from "../../../src/surfaces/admin/contract.ts";
import { toPlainJson } from "../../../src/text/escape-hidden.ts";
import { State, Tag } from "../../parts/status.tsx";
import { Visible } from "../../parts/text.tsx";

export function Plan({ review: { approval, calls } }: { readonly review: ApprovalReviewAnswer }) {
  const { plan } = approval;
  return (
    <section aria-labelledby="plan">
      <div class="h">
        <h2 id="plan">{plan ? "Everything this program can call" : "Calls so far"}</h2>
        {plan && <span class="muted small">{plan.exact ? "exact plan, enforced" : "the plan may miss calls"}</span>}
      </div>
      <div class="panel">
        {plan && plan.calls.length > 0 && (
          <table class="t stackable">
            <thead>
              <tr>
                <th>Tool</th>
                <th>Effect</th>
                <th>Line</th>
                <th>Times</th>
                <th>Literal arguments</th>
              </tr>
            </thead>
            <tbody>
              {plan.calls.map(({ tool, effect, at, times, args = [] }) => (
                <tr key={tool} class={tool === approval.tool ? "selected" : ""}>
                  <td class="first">
                    <code>{tool}</code>
                  </td>
                  <td class="second">
                    <Tag name={effect} />
                  </td>
                  <td data-l="line">{at.map(({ line }) => line).join(", ")}</td>
                  <td>{times}</td>
                  <td class="wide">
                    <code class="small">{args.map((one) => toPlainJson(one)).join(" ")}</code>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
        <ol class="reads" aria-label="Calls so far">
          {calls.map(({ seq, tool, effect, outcome }) => (
            <li key={seq}>
              <div class="row">
                <span class="muted small">{seq}</span>
                <code>
                  <Visible text={tool} />
                </code>
                <Tag name={effect} />
                <State name={outcome} />
              </div>
            </li>
          ))}
        </ol>
        {calls.length === 0 && <div class="panel-f">No other call was made so far.</div>}
      </div>
    </section>
  );
}
