/** What one execution did: program with findings, calls, result, logs, and what it used. */

import { useState } from "preact/hooks";

import type { ExecutionAnswer } from "../../../src/surfaces/admin/contract/executions.ts";
import { toPlainJson } from "../../../src/text/escape-hidden.ts";
import type { Api } from "../../api.ts";
import { useAnswer } from "../../live/use-answer.ts";
import type { PageProps } from "../../page-props.ts";
import { Code } from "../../parts/code.tsx";
import { Empty, Head, Problem } from "../../parts/frame.tsx";
import { State, Tag } from "../../parts/status.tsx";
import { Command, CopyButton, Visible } from "../../parts/text.tsx";
import { Ago, formatBytes, formatDuration, useNow } from "../../parts/time.tsx";

const VALUE_CHARS = 100_000;

export function Page({ api, id, roles }: PageProps & { readonly id: string }) {
  const { value, error, reload } = useAnswer(() => api.execution(id), { key: id, topics: ["executions", "approvals"] });
  const title = (
    <>
      <a href="/executions">Executions</a>
      <span aria-hidden="true">/</span>
      <h1 class="mono" title={id}>
        {id.slice(0, 11)}
      </h1>
    </>
  );
  const canCancel = roles.includes("operator") && (value?.state === "running" || value?.state === "paused");
  return (
    <>
      <Head title={title}>
        {canCancel && <CancelButton {...{ api, id, reload }} />}
        <CopyButton text={id} label="Copy the id" />
      </Head>
      <div class="content">
        {error && !value && (
          <Empty title="This execution cannot be shown">
            <p>{error.message}</p>
            <p>Executions are kept for a time (`executions.keepMs`); their records stay in the ledger.</p>
            <a class="btn" href="/executions">
              All executions
            </a>
          </Empty>
        )}
        {value && <Details details={value} />}
      </div>
    </>
  );
}

/** Asks once more: a cancelled program does not continue. */
function CancelButton({ api, id, reload }: { readonly api: Api; readonly id: string; readonly reload: () => void }) {
  const [step, setStep] = useState<"idle" | "asked" | "sending">("idle");
  const [problem, setProblem] = useState("");
  const cancel = (): void => {
    setStep("sending");
    api
      .cancel(id)
      .catch((error: unknown) => setProblem(error instanceof Error ? error.message : "It was not cancelled."))
      .finally(() => {
        setStep("idle");
        reload();
      });
  };
  return (
    <>
      {problem !== "" && <span class="cause">{problem}</span>}
      {step === "idle" ? (
        <button class="btn" type="button" onClick={() => setStep("asked")}>
          Cancel
        </button>
      ) : (
        <button class="btn danger" type="button" disabled={step === "sending"} onClick={cancel}>
          Cancel this execution for good
        </button>
      )}
    </>
  );
}

function Details({ details }: { readonly details: ExecutionAnswer }) {
  const { id, source, result, sealed } = details;
  const { findings, error } = result;
  return (
    <>
      <Summary details={details} />
      {sealed && <Problem message={`${sealed.message}. ${sealed.hint ?? ""}`} />}
      <Approvals details={details} />
      {source !== undefined && source !== "" && (
        <section>
          <div class="panel">
            <div class="panel-h">
              <h2>Program</h2>
              <span class="end">
                <CopyButton text={source} label="Copy the program" />
              </span>
            </div>
            <Code source={source} findings={findings} errorLine={error?.line} />
          </div>
        </section>
      )}
      <Calls details={details} />
      <Outcome details={details} />
      <Logs details={details} />
      <section>
        <div class="h">
          <h2>Repeat it</h2>
          <span class="muted small">from its journal, without a call of an upstream</span>
        </div>
        <Command text={`glovebox executions replay ${id}`} />
      </section>
    </>
  );
}

function Summary({ details: { state, principal, startedAt, endedAt, result } }: { readonly details: ExecutionAnswer }) {
  const now = useNow();
  const { stats, engine, isolation, labels = [], calls } = result;
  const facts = [
    ["Took", endedAt === null ? "not ended" : formatDuration(endedAt - startedAt)],
    ["Waited for a place", formatDuration(stats.queueMs)],
    ["CPU time", formatDuration(stats.cpuMs)],
    ["Memory at most", formatBytes(stats.peakMemoryBytes)],
    ["Output", formatBytes(stats.outputBytes)],
    ["Calls", String(calls.length)],
    ["Engine", `${engine}, isolation ${isolation}`],
  ] as const;
  return (
    <section class="ask" aria-label="Summary">
      <div class="row tight">
        <State name={state} />
        {[...new Set(labels.map(({ label }) => label))].map((label) => (
          <Tag key={label} name={label} />
        ))}
        <span>{principal}</span>
        <span class="muted">
          started <Ago at={startedAt} now={now} />
        </span>
      </div>
      <div class="facts">
        {facts.map(([name, text]) => (
          <span key={name}>
            <span class="muted">{name}</span> {text}
          </span>
        ))}
      </div>
    </section>
  );
}

function Approvals({ details: { approvals } }: { readonly details: ExecutionAnswer }) {
  if (approvals.length === 0) return null;
  return (
    <section>
      <div class="h">
        <h2>Approvals</h2>
      </div>
      <ul class="reads">
        {approvals.map(({ id, seq, tool, state, decidedBy, note }) => (
          <li key={id}>
            <div class="row">
              <span class="muted small">{seq}</span>
              <a class="link" href={`/approvals/${id}`}>
                <code>{tool}</code>
              </a>
              <State name={state} />
              {decidedBy !== undefined && <span class="muted small">by {decidedBy}</span>}
              {note !== undefined && (
                <span class="small">
                  <Visible text={note} />
                </span>
              )}
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Calls({ details: { result } }: { readonly details: ExecutionAnswer }) {
  const { calls } = result;
  if (calls.length === 0) return null;
  return (
    <section>
      <div class="h">
        <h2>Calls</h2>
        <span class="muted small">{calls.length}</span>
      </div>
      <table class="t stackable">
        <thead>
          <tr>
            <th class="num">No.</th>
            <th>Tool</th>
            <th>Effect</th>
            <th>Decision</th>
            <th>Outcome</th>
            <th class="num">Took</th>
          </tr>
        </thead>
        <tbody>
          {calls.map(({ seq, tool, effect, decision, outcome, ms }) => (
            <tr key={seq}>
              <td class="num">{seq}</td>
              <td class="first">
                <code>
                  <Visible text={tool} />
                </code>
              </td>
              <td>
                <Tag name={effect} />
              </td>
              <td>{decision}</td>
              <td class="second">
                <State name={outcome} />
              </td>
              <td class="num">{formatDuration(ms)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Outcome({ details: { result } }: { readonly details: ExecutionAnswer }) {
  const { value, error, truncated } = result;
  return (
    <>
      {error && (
        <section aria-label="Error">
          <Problem message={`${error.message} (${error.code})`} />
          {error.hint !== undefined && (
            <pre class="plain" aria-label="Hint">
              <Visible text={error.hint} />
            </pre>
          )}
          {error.frame !== undefined && (
            <pre class="block">
              <Visible text={error.frame} />
            </pre>
          )}
        </section>
      )}
      {truncated && (
        <section aria-label="Kept result">
          <p>
            The value has {formatBytes(truncated.bytes)} and is kept as <code>{truncated.handle}</code>.
          </p>
          <pre class="block">{truncated.shape}</pre>
        </section>
      )}
      {value !== undefined && <Value text={toPlainJson(value, 2)} />}
    </>
  );
}

function Value({ text }: { readonly text: string }) {
  const isLong = text.length > VALUE_CHARS;
  return (
    <section>
      <div class="h">
        <h2>Result</h2>
        <span class="muted small">
          {formatBytes(text.length)}
          {isLong && `, the first ${formatBytes(VALUE_CHARS)} are shown`}
        </span>
        <span class="end">
          <CopyButton text={text} label="Copy the result" />
        </span>
      </div>
      <pre class="block" tabIndex={0} aria-label="Result">
        {text.slice(0, VALUE_CHARS)}
      </pre>
    </section>
  );
}

function Logs({ details: { result } }: { readonly details: ExecutionAnswer }) {
  if (result.logs.length === 0) return null;
  return (
    <section>
      <div class="h">
        <h2>Logs</h2>
        <span class="muted small">{result.logs.length}</span>
      </div>
      <ol class="log">
        {result.logs.map(({ level, text, atMs }, index) => (
          <li key={index} class={level}>
            <time>{formatDuration(atMs)}</time>
            <span class="lv">{level}</span>
            <span>
              <Visible text={text} />
            </span>
          </li>
        ))}
      </ol>
    </section>
  );
}
