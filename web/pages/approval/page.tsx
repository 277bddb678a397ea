/** One approval: what would happen, why it is asked, what it depends on, and the decision. Works alone on a phone. */

import type { ApiError } from "../../api.ts";
import type { ApprovalReviewAnswer } from "../../../src/surfaces/admin/contract.ts";
import { describeEvidence } from "../../../src/surfaces/describe-evidence.ts";
import { toPlainJson } from "../../../src/text/escape-hidden.ts";
import { useAnswer } from "../../live/use-answer.ts";
import type { ListedApproval, PageProps } from "../../page-props.ts";
import { Code } from "../../parts/code.tsx";
import { Decision, isQuestion } from "./decision.tsx";
import { Empty, Head, Problem } from "../../parts/frame.tsx";
import { Icon } from "../../parts/icon.tsx";
import { State, Tag } from "../../parts/status.tsx";
import { CopyButton, Visible } from "../../parts/text.tsx";
import { Ago, formatAge, formatBytes, useNow } from "../../parts/time.tsx";

export function Page({ api, id }: PageProps & { readonly id: string }) {
  const { value, error, reload } = useAnswer(() => api.approval(id), { key: id, topics: ["approvals", "servers"] });
  const title = (
    <>
      <a href="/approvals">Approvals</a>
      <span aria-hidden="true">/</span>
      <h1 class="mono">{id.slice(0, 11)}</h1>
    </>
  );
  return (
    <>
      <Head title={title}>
        <CopyButton text={location.href} label="Copy the link" />
      </Head>
      <div class="content split">
        <div class="main">
          {error && !value && <Missing error={error} />}
          {value && <Review review={value} />}
        </div>
        {value && <Decision key={id} approval={value.approval} api={api} onDecided={reload} />}
      </div>
    </>
  );
}

function Missing({ error }: { readonly error: ApiError }) {
  return (
    <Empty title="This approval cannot be shown">
      <p>{error.message}</p>
      <a class="btn" href="/approvals">
        All approvals
      </a>
    </Empty>
  );
}

function Review({ review }: { readonly review: ApprovalReviewAnswer }) {
  const { approval } = review;
  return (
    <article aria-label={isQuestion(approval) ? `Input request ${approval.id}` : `Approval ${approval.id}`}>
      <Question approval={approval} />
      <Warnings review={review} />
      <Arguments approval={approval} />
      <Evidence approval={approval} />
      <ReadBefore approval={approval} />
      <Program review={review} />
      <Plan review={review} />
    </article>
  );
}

function Question({ approval }: { readonly approval: ListedApproval }) {
  const { tool, effect, seq, execution, principal, createdAt, expiresAt, reason, rule, state, decidedBy } = approval;
  const now = useNow();
  return (
    <section class="ask" aria-labelledby="what">
      <h2 id="what">
        <code>{tool}</code>
      </h2>
      <div class="row tight">
        <Tag name={effect} />
        {state !== "pending" && <State name={state} />}
        <span class="muted small">call {seq} of</span>{" "}
        <a class="link mono" href={`/executions/${execution}`}>
          {execution.slice(0, 11)}
        </a>
      </div>
      <div class="facts">
        <span>{principal}</span>
        <span>
          asked <Ago at={createdAt} now={now} />
        </span>
        {state === "pending" && <span>expires in {formatAge(expiresAt - now)}</span>}
      </div>
      {state !== "pending" && (
        <p>
          It was {state}
          {decidedBy !== undefined && ` by ${decidedBy}`}.
        </p>
      )}
      <ul class="why">
        <li>
          <span>
            <b class="strong">
              <Visible text={reason} />
            </b>{" "}
            <code>{rule}</code>
          </span>
        </li>
      </ul>
    </section>
  );
}

function Warnings({ review: { change } }: { readonly review: ApprovalReviewAnswer }) {
  if (!change) return null;
  return (
    <section aria-label="Warnings">
      <div class="note wait">
        <Icon name="pin" />
        <div>
          <b class="strong">The definition of this tool has changed and is withheld.</b> This is about the definition
          that was approved before.
        </div>
        <a class="link nowrap" href="/servers">
          Compare
        </a>
      </div>
    </section>
  );
}

const HIDDEN_ARGUMENTS: Readonly<Record<string, string>> = {
  beginning: "This is only the beginning.",
  dropped: "They were long, and are not kept once it is decided.",
  damaged: "The stored arguments fail their check, so they are not shown.",
  hidden: "Only reviewers see arguments.",
};

function Arguments({ approval }: { readonly approval: ListedApproval }) {
  const { args, argsShown, argsDigest } = approval;
  const text = toPlainJson(args, 2);
  const entries = typeof args === "object" && args !== null && !Array.isArray(args) ? Object.entries(args) : [];
  const missing = argsShown === undefined ? undefined : HIDDEN_ARGUMENTS[argsShown];
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
        {argsShown === undefined && entries.length === 0 && <pre class="plain">{text}</pre>}
        {argsShown === undefined && entries.length > 0 && (
          <table class="args">
            <tbody>
              {entries.map(([name, value]) => (
                <tr key={name}>
                  <th scope="row">
                    <code>
                      <Visible text={name} />
                    </code>
                  </th>
                  <td>
                    <div class="val">
                      {typeof value === "string" ? <Visible text={value} /> : toPlainJson(value, 2)}
                    </div>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
        <div class="panel-f">
          <span>
            {argsShown === undefined ? `${formatBytes(text.length)}, shown in full` : "Approving needs all of them"}
          </span>
          <span class="mono" title={argsDigest}>
            {argsDigest.slice(0, 20)}…
          </span>
        </div>
      </div>
    </section>
  );
}

function Evidence({ approval: { evidence } }: { readonly approval: ListedApproval }) {
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
    </section>
  );
}

function ReadBefore({ approval: { labels } }: { readonly approval: ListedApproval }) {
  if (labels.length === 0) return null;
  return (
    <section aria-labelledby="read">
      <div class="h">
        <h2 id="read">Read before this call</h2>
        <span class="muted small">by this session</span>
      </div>
      <ul class="reads">
        {labels.map(({ label, tool, execution, seq }) => (
          <li key={`${label} ${tool} ${seq}`}>
            <div class="row">
              <span class={`src ${label}`} title={`call ${seq}`}>
                {seq}
              </span>
              <code>{tool}</code>
              <Tag name={label} />
              <a class="link small mono" href={`/executions/${execution}`}>
                {execution.slice(0, 11)}
              </a>
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Program({ review: { execution, places } }: { readonly review: ApprovalReviewAnswer }) {
  if (!execution || execution.source === "") return null;
  const lines = execution.source.trimEnd().split("\n").length;
  return (
    <section>
      <div class="panel">
        <div class="panel-h">
          <h2>Program</h2>
          <span class="muted small">
            {places.length > 0 ? "the marked lines may make this call" : "the place of this call is not known"}
          </span>
          <span class="end">
            <CopyButton text={execution.source} label="Copy the program" />
          </span>
        </div>
        <Code source={execution.source} hits={places.map(({ line }) => line)} />
        <div class="panel-f">
          <span>{lines === 1 ? "1 line" : `${lines} lines`}, shown in full</span>
        </div>
      </div>
    </section>
  );
}

/** What the program can call, and what it did so far. */
function Plan({ review: { approval, calls } }: { readonly review: ApprovalReviewAnswer }) {
  const { plan } = approval;
  return (
    <section aria-labelledby="plan">
      <div class="h">
        <h2 id="plan">{plan ? "Everything this program can call" : "Calls so far"}</h2>
        {plan && <span class="muted small">{plan.exact ? "exact plan, enforced" : "the plan may miss calls"}</span>}
      </div>
      <div class="panel">
        <table class="t stackable">
          <thead>
            <tr>
              <th>Tool</th>
              <th>Effect</th>
              <th>Line</th>
              <th>Times</th>
            </tr>
          </thead>
          <tbody>
            {plan?.calls.map(({ tool, effect, at, times }) => (
              <tr key={tool} class={tool === approval.tool ? "selected" : ""}>
                <td class="first">
                  <code>{tool}</code>
                </td>
                <td>
                  <Tag name={effect} />
                </td>
                <td data-l="line">{at.map(({ line }) => line).join(", ")}</td>
                <td>{times}</td>
              </tr>
            ))}
          </tbody>
        </table>
        <ol class="reads" aria-label="Calls so far">
          {calls.map(({ seq, tool, effect, outcome }) => (
            <li key={seq}>
              <div class="row">
                <span class="muted small">{seq}</span>
                <code>{tool}</code>
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
