/** One approval: what would happen, why it is asked, what it depends on, and the decision. Works alone on a phone. */

import type { ApiError } from "../../api.ts";
import { approvalReviewSchema } from "../../../src/surfaces/admin/contract.ts";
import type { ApprovalReviewAnswer } from "../../../src/surfaces/admin/contract.ts";
import { useAnswer } from "../../live/use-answer.ts";
import type { ListedApproval, PageProps } from "../../page-props.ts";
import { Code, countLines } from "../../parts/code.tsx";
import { Empty, Head } from "../../parts/frame.tsx";
import { Icon } from "../../parts/icon.tsx";
import { State, Tag } from "../../parts/status.tsx";
import { CopyButton, Visible } from "../../parts/text.tsx";
import { Ago, formatAge, useNow } from "../../parts/time.tsx";
import { useKey } from "../../parts/use-rows.ts";
import { navigate } from "../../router.ts";
import { Arguments } from "./arguments.tsx";
import { Decision, isQuestion } from "./decision.tsx";
import { Evidence } from "./evidence.tsx";
import { Plan } from "./plan.tsx";

export function Page({ api, id }: PageProps & { readonly id: string }) {
  const { value, error, reload } = useAnswer(() => api.read(approvalReviewSchema, `/api/approvals/${id}`), {
    key: id,
    topics: ["approvals", "servers"],
  });
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
        <Neighbors api={api} id={id} />
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

/** The other waiting ones, the oldest first: `J` and `K`. */
function Neighbors({ api, id }: Pick<PageProps, "api"> & { readonly id: string }) {
  const { value } = useAnswer(() => api.approvals(), { key: "neighbors", topics: ["approvals"] });
  const waiting = value?.approvals.toSorted((a, b) => a.createdAt - b.createdAt) ?? [];
  const at = waiting.findIndex((one) => one.id === id);
  const go = (step: number): void => {
    const next = waiting[at + step];
    if (next) navigate(`/approvals/${next.id}`);
  };
  useKey("j", () => go(1));
  useKey("k", () => go(at < 0 ? 0 : -1));
  if (waiting.length === 0 || (waiting.length === 1 && at === 0)) return null;
  return (
    <>
      <span class="muted small no-phone">
        {at < 0 ? `${waiting.length} waiting` : `${at + 1} of ${waiting.length}`}
      </span>
      <button class="btn quiet" type="button" disabled={at <= 0} onClick={() => go(-1)}>
        Previous
      </button>
      <button class="btn quiet" type="button" disabled={at + 1 >= waiting.length} onClick={() => go(1)}>
        Next
      </button>
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

function Program({ review: { execution, places, calls } }: { readonly review: ApprovalReviewAnswer }) {
  if (!execution || execution.source === "") return null;
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
        <Code source={execution.source} hits={places.map(({ line }) => line)} calls={calls} />
        <div class="panel-f">
          <span>{countLines(execution.source)}</span>
        </div>
      </div>
    </section>
  );
}
