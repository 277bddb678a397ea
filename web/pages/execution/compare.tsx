/** Two executions side by side: programs, calls, results and what they used. */

import type { ExecutionAnswer } from "../../../src/surfaces/admin/contract/executions.ts";
import { toPlainJson } from "../../../src/text/escape-hidden.ts";
import type { Api } from "../../api.ts";
import { useAnswer } from "../../live/use-answer.ts";
import { LineDiff } from "../../parts/diff.tsx";
import { Problem } from "../../parts/frame.tsx";
import { showExecution } from "../../parts/executions-api.ts";
import { Loading } from "../../parts/notice.tsx";
import { State } from "../../parts/status.tsx";
import { formatBytes, formatDuration, formatTime } from "../../parts/time.tsx";

/** Longer results are compared by their beginning. */
const COMPARED_CHARS = 200_000;

interface CompareProps {
  readonly api: Pick<Api, "read">;
  readonly details: ExecutionAnswer;
  readonly other: string;
}

export function Compare({ api, details, other }: CompareProps) {
  const { value, error } = useAnswer(() => showExecution(api, other), { key: other, topics: ["executions"] });
  return (
    <>
      <div class="row tight">
        <a class="btn small" href={`/executions/${details.id}`}>
          End the comparison
        </a>
        <span class="muted small">
          Removed lines are of <code>{details.id.slice(0, 11)}</code>, added ones of{" "}
          <a class="link mono" href={`/executions/${other}`}>
            {other.slice(0, 11)}
          </a>
        </span>
      </div>
      {error && !value && <Problem message={error.message} />}
      {!value && !error && <Loading what="the other execution" />}
      {value && <Both first={details} second={value} />}
    </>
  );
}

interface BothProps {
  readonly first: ExecutionAnswer;
  readonly second: ExecutionAnswer;
}

function Both({ first, second }: BothProps) {
  return (
    <>
      <Facts first={first} second={second} />
      <Part title="Program" first={first.source} second={second.source} />
      <Part title="Calls" first={listCalls(first)} second={listCalls(second)} />
      <Part title="Result" first={toOutcome(first)} second={toOutcome(second)} />
      <Part title="Logs" first={listLogs(first)} second={listLogs(second)} />
    </>
  );
}

function Facts({ first, second }: BothProps) {
  const rows: readonly (readonly [string, (one: ExecutionAnswer) => string])[] = [
    ["Started", ({ startedAt }) => formatTime(startedAt)],
    ["Principal", ({ principal }) => principal],
    ["Took", ({ startedAt, endedAt }) => (endedAt === null ? "runs" : formatDuration(endedAt - startedAt))],
    ["Processor", ({ result }) => formatDuration(result.stats.cpuMs)],
    ["Peak memory", ({ result }) => formatBytes(result.stats.peakMemoryBytes)],
    ["Calls", ({ result }) => String(result.calls.length)],
    ["Output", ({ result }) => formatBytes(result.stats.outputBytes)],
    ["Engine", ({ result }) => result.engine],
  ];
  return (
    <section aria-label="Facts">
      <div class="scroll" tabIndex={0} role="region" aria-label="Both executions">
        <table class="t">
          <thead>
            <tr>
              <th>
                <span class="vh">Fact</span>
              </th>
              {[first, second].map(({ id, state }) => (
                <th key={id}>
                  <code>{id.slice(0, 11)}</code> <State name={state} />
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map(([name, read]) => {
              const [one, two] = [read(first), read(second)];
              return (
                <tr key={name}>
                  <th scope="row">{name}</th>
                  <td>{one}</td>
                  <td class={one === two ? "" : "strong"}>{two}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
    </section>
  );
}

interface PartProps {
  readonly title: string;
  readonly first: string | undefined;
  readonly second: string | undefined;
}

function Part({ title, first = "", second = "" }: PartProps) {
  if (first === "" && second === "") return null;
  const isCut = Math.max(first.length, second.length) > COMPARED_CHARS;
  return (
    <section>
      <div class="panel">
        <div class="panel-h">
          <h2>{title}</h2>
          {isCut && <span class="muted small">the first {formatBytes(COMPARED_CHARS)} are compared</span>}
        </div>
        <LineDiff before={first.slice(0, COMPARED_CHARS)} after={second.slice(0, COMPARED_CHARS)} label={title} />
      </div>
    </section>
  );
}

function listCalls({ result }: ExecutionAnswer): string {
  return result.calls.map(({ tool, effect, outcome }) => `${tool}, ${effect}: ${outcome}`).join("\n");
}

function listLogs({ result }: ExecutionAnswer): string {
  return result.logs.map(({ level, text }) => `${level} ${text}`).join("\n");
}

function toOutcome({ result: { value, error, truncated } }: ExecutionAnswer): string {
  const lines = [
    ...(error ? [`${error.code}: ${error.message}`] : []),
    ...(truncated ? [`${truncated.bytes} bytes`, truncated.shape] : []),
    ...(value === undefined ? [] : [toPlainJson(value, 2)]),
  ];
  return lines.join("\n");
}
