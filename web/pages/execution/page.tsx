/** What one execution did: its program and calls side by side, result, logs, and what a person can do with it. */

import { useState } from "preact/hooks";

import type { ExecutionAnswer } from "../../../src/surfaces/admin/contract/executions.ts";
import { useAnswer } from "../../live/use-answer.ts";
import type { PageProps } from "../../page-props.ts";
import { Code, countLines } from "../../parts/code.tsx";
import { Empty, Head, Problem } from "../../parts/frame.tsx";
import { showExecution } from "../../parts/executions-api.ts";
import { Loading } from "../../parts/notice.tsx";
import { State, Tag } from "../../parts/status.tsx";
import { CopyButton, Visible } from "../../parts/text.tsx";
import { Ago, formatBytes, formatDuration, useNow } from "../../parts/time.tsx";
import { place } from "../../router.ts";
import { Actions } from "./actions.tsx";
import { Compare } from "./compare.tsx";
import { Failure, Logs, Outcome } from "./outcome.tsx";
import { placeCalls } from "./timeline.ts";
import { Waterfall } from "./waterfall.tsx";

export function Page({ api, id, roles }: PageProps & { readonly id: string }) {
  const { value, error, reload } = useAnswer(() => showExecution(api, id), {
    key: id,
    topics: ["executions", "approvals"],
  });
  const other = place.value.query.get("with");
  const title = (
    <>
      <a href="/executions">Executions</a>
      <span aria-hidden="true">/</span>
      <h1 class="mono" title={id}>
        {id.slice(0, 11)}
      </h1>
    </>
  );
  return (
    <>
      <Head title={title}>
        {value && <Actions {...{ api, roles, reload }} details={value} />}
        <CopyButton text={id} label="Copy the id" />
      </Head>
      <div class="content">
        {!value && !error && <Loading what="the execution" />}
        {error && !value && (
          <Empty title="This execution cannot be shown">
            <p>{error.message}</p>
            <p>
              Executions are kept for a time (<code>executions.keepMs</code>); their records stay in the ledger.
            </p>
            <a class="btn" href="/executions">
              All executions
            </a>
          </Empty>
        )}
        {error && value && <Problem message={error.message} />}
        {value && other !== null && <Compare {...{ api, other }} details={value} />}
        {value && other === null && <Details details={value} />}
      </div>
    </>
  );
}

function Details({ details }: { readonly details: ExecutionAnswer }) {
  const { source, result, sealed } = details;
  const [selected, select] = useState<number>();
  const { findings, error, calls } = result;
  const hasSource = source !== undefined && source !== "";
  return (
    <>
      <Summary details={details} />
      {sealed && <Problem message={`${sealed.message}. ${sealed.hint ?? ""}`} />}
      <Failure details={details} />
      <Waiting details={details} />
      <section class={hasSource ? "halves wide-code" : ""}>
        {hasSource && (
          <div class="panel">
            <div class="panel-h">
              <h2>Program</h2>
              <span class="muted small">{calls.length > 0 && "the margin has the calls of each line"}</span>
              <span class="end">
                <CopyButton text={source} label="Copy the program" />
              </span>
            </div>
            <Code
              {...{ source, findings, calls }}
              errorLine={error?.line}
              selectedCall={selected}
              onSelect={(seq) => select(seq)}
            />
            <ProgramFacts source={source} findings={findings.length} />
          </div>
        )}
        <Waterfall {...{ details, selected, select }} />
      </section>
      <Outcome details={details} />
      <Logs details={details} />
      <ReadData details={details} />
    </>
  );
}

function ProgramFacts({ source, findings }: { readonly source: string; readonly findings: number }) {
  return (
    <div class="panel-f">
      <span>{countLines(source)}</span>
      <span>{formatBytes(source.length)}</span>
      {findings > 0 && <span>{findings === 1 ? "1 finding" : `${findings} findings`}</span>}
    </div>
  );
}

function Summary({ details }: { readonly details: ExecutionAnswer }) {
  const { state, principal, startedAt, endedAt, result, trace, errorCode, approvals } = details;
  const now = useNow();
  const { stats, engine, isolation, labels = [], calls } = result;
  const { waitedMs } = placeCalls(details, now);
  const lasted = (endedAt ?? now) - startedAt;
  const facts = [
    [endedAt === null ? "Runs for" : "Took", formatDuration(lasted)],
    ...(approvals.length > 0 && waitedMs > 0 ? [["Waited for a person", formatDuration(waitedMs)]] : []),
    ...(stats.queueMs > 0 ? [["Waited in the queue", formatDuration(stats.queueMs)]] : []),
    ["Processor", formatDuration(stats.cpuMs)],
    ["Peak memory", formatBytes(stats.peakMemoryBytes)],
    ["Calls", String(calls.length)],
    ["Output", formatBytes(stats.outputBytes)],
    ["Engine", `${engine}, ${isolation}`],
  ];
  return (
    <section aria-label="Summary">
      <div class="row tight summary">
        <State name={state} />
        {errorCode !== null && <code class="cause">{errorCode}</code>}
        {[...new Set(labels.map(({ label }) => label))].map((label) => (
          <Tag key={label} name={label} />
        ))}
        <a class="quiet-link" href={`/executions?${new URLSearchParams({ principal }).toString()}`}>
          {principal}
        </a>
        <span class="muted">
          started <Ago at={startedAt} now={now} />
        </span>
        {trace !== undefined && (
          <span class="muted small">
            trace <code title="The client's trace">{trace}</code> <CopyButton text={trace} label="Copy the trace" />
          </span>
        )}
      </div>
      <dl class="stats">
        {facts.map(([name, text]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

/** What this execution waits for now. */
function Waiting({ details: { approvals } }: { readonly details: ExecutionAnswer }) {
  const waiting = approvals.filter(({ state }) => state === "pending");
  if (waiting.length === 0) return null;
  return (
    <section aria-label="Waits for a person">
      {waiting.map(({ id, seq, tool, reason }) => (
        <div key={id} class="note wait">
          <div>
            <b class="strong">
              Call {seq} of <code>{tool}</code> waits for a person.
            </b>{" "}
            <Visible text={reason} />
          </div>
          <a class="btn small" href={`/approvals/${id}`}>
            Review
          </a>
        </div>
      ))}
    </section>
  );
}

/** What its session had read when it ended. */
function ReadData({ details: { id, result } }: { readonly details: ExecutionAnswer }) {
  const { labels = [] } = result;
  if (labels.length === 0) return null;
  return (
    <section aria-labelledby="flow">
      <div class="h">
        <h2 id="flow">Data that its session has read</h2>
      </div>
      <ul class="reads">
        {labels.map(({ label, tool, execution, seq }) => (
          <li key={`${label} ${tool} ${execution} ${seq}`}>
            <div class="row">
              <Tag name={label} />
              <code>{tool}</code>
              <span class="muted small">call {seq}</span>
              {execution === id ? (
                <span class="muted small">of this execution</span>
              ) : (
                <a class="link small mono" href={`/executions/${execution}`}>
                  {execution.slice(0, 11)}
                </a>
              )}
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}
