/** Is it worth it, and is it unusual? Figures, charts, tools, quotas and anomalies of a period that is in the address. */

import { policySchema } from "../../../src/surfaces/admin/contract/policy.ts";
import { usageSchema } from "../../../src/surfaces/admin/contract/usage.ts";
import type { UsageAnswer } from "../../../src/surfaces/admin/contract/usage.ts";
import { toPlainJson } from "../../../src/text/escape-hidden.ts";
import { useAnswer } from "../../live/use-answer.ts";
import type { PageProps } from "../../page-props.ts";
import { Empty, Head, Problem } from "../../parts/frame.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Loading } from "../../parts/notice.tsx";
import { Table } from "../../parts/table.tsx";
import type { Column } from "../../parts/table.tsx";
import { Visible } from "../../parts/text.tsx";
import { Ago, formatDuration, formatTime, useNow } from "../../parts/time.tsx";
import { navigate, place, withQuery } from "../../router.ts";
import { Quotas } from "../policy/quotas.tsx";
import { Chart } from "./chart.tsx";

const PERIODS = [
  ["1", "1 h"],
  ["24", "24 h"],
  ["168", "7 d"],
  ["720", "30 d"],
] as const;
const CHARACTERS_PER_TOKEN = 4;

export function Page({ api }: PageProps) {
  const hours = place.value.query.get("hours") ?? "24";
  const { value, error } = useAnswer(() => api.read(usageSchema, "/api/usage", { hours }), {
    key: hours,
    topics: ["executions"],
  });
  const policy = useAnswer(() => api.read(policySchema, "/api/policy"), { key: "policy", topics: [] });
  return (
    <>
      <Head title="Usage" sub={value ? `${formatTime(value.since)} until now` : ""}>
        <span class="seg" role="group" aria-label="Period">
          {PERIODS.map(([one, name]) => (
            <button
              key={one}
              type="button"
              aria-pressed={one === hours}
              onClick={() => navigate(withQuery("hours", one), "replace")}
            >
              {name}
            </button>
          ))}
        </span>
      </Head>
      <div class="content">
        {error && <Problem message={error.message} />}
        {!value && !error && <Loading what="the usage" />}
        {value && <Shown usage={value} />}
        {policy.value && policy.value.quotas.length > 0 && (
          <section>
            <div class="h">
              <h2>Quotas</h2>
              <span class="muted small">now; those that are nearly used up first</span>
            </div>
            <Quotas policy={policy.value} />
          </section>
        )}
      </div>
    </>
  );
}

function Shown({ usage }: { readonly usage: UsageAnswer }) {
  const { totals, isCut } = usage;
  if (totals.executions === 0 && totals.calls === 0) {
    return (
      <Empty title="Nothing ran in this time">
        <p>Choose a longer time, or run a program: its calls and times appear here.</p>
      </Empty>
    );
  }
  return (
    <>
      {isCut && (
        <div class="note wait">
          <Icon name="info" />
          <div>
            There are more records in this time than are read at once. The figures begin at {formatTime(usage.since)}.
          </div>
        </div>
      )}
      <Figures usage={usage} />
      <Charts usage={usage} />
      <section class="halves">
        <Tools usage={usage} />
        <Anomalies usage={usage} />
      </section>
    </>
  );
}

function Charts({ usage: { totals, buckets } }: { readonly usage: UsageAnswer }) {
  const at = buckets.map((bucket) => bucket.at / 1_000);
  const values = (pick: (sums: UsageAnswer["totals"]) => number): readonly number[] => buckets.map(pick);
  const stayed = values((one) => toTokens(Math.max(0, one.readCharacters - one.returnedCharacters)));
  const returned = values((one) => toTokens(one.returnedCharacters));
  return (
    <section class="halves" aria-label="Charts">
      <Chart
        {...{ at, title: "Executions", unit: "per bar", kind: "bars" }}
        lines={[
          { name: "all", tone: "ok", values: values(({ executions }) => executions) },
          { name: "failed", tone: "bad", values: values(({ failed }) => failed) },
        ]}
        summary={`${totals.executions} executions, ${totals.failed} failed`}
      />
      <Chart
        {...{ at, title: "Tokens", unit: "characters / 4", kind: "bars" }}
        lines={[
          { name: "stayed in the gateway", tone: "kept", values: stayed },
          { name: "reached the model", tone: "model", values: returned },
        ]}
        summary={`${count(toTokens(totals.readCharacters))} read by programs, ${count(toTokens(totals.returnedCharacters))} returned`}
      />
      <Chart
        {...{ at, title: "Time of an execution", unit: "ms", kind: "bars" }}
        lines={[
          { name: "95 % are faster", tone: "ok", values: values(({ p95Ms }) => p95Ms) },
          { name: "half are faster", tone: "kept", values: values(({ p50Ms }) => p50Ms) },
        ]}
        summary={`median ${formatDuration(totals.p50Ms)}, 95 % within ${formatDuration(totals.p95Ms)}`}
      />
      <Chart
        {...{ at, title: "Calls", unit: "per bar", kind: "bars" }}
        lines={[
          { name: "all", tone: "ok", values: values(({ calls }) => calls) },
          { name: "errors", tone: "bad", values: values(({ callErrors }) => callErrors) },
        ]}
        summary={`${totals.calls} calls, ${totals.callErrors} errors`}
      />
    </section>
  );
}

function toTokens(characters: number): number {
  return Math.round(characters / CHARACTERS_PER_TOKEN);
}

function Figures({ usage: { totals } }: { readonly usage: UsageAnswer }) {
  const kept = Math.max(0, totals.readCharacters - totals.returnedCharacters);
  const share = totals.readCharacters === 0 ? "" : `tokens, ${percent(kept / totals.readCharacters)}`;
  const figures = [
    ["Executions", count(totals.executions), ""],
    [
      "Calls",
      count(totals.calls),
      totals.executions === 0 ? "" : `${(totals.calls / totals.executions).toFixed(1)} each`,
    ],
    ["Failed", totals.executions === 0 ? "0 %" : percent(totals.failed / totals.executions), ""],
    ["Median time", formatDuration(totals.p50Ms), ""],
    ["Kept out of the context", count(Math.round(kept / CHARACTERS_PER_TOKEN)), share],
    ["Asked a person", count(totals.asked), ""],
  ] as const;
  return (
    <dl class="stats big">
      {figures.map(([name, figure, more]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            {figure} <small>{more}</small>
          </dd>
        </div>
      ))}
    </dl>
  );
}

const COLUMNS: readonly Column[] = ["Tool", ["Calls", "num"], ["Errors", "num"], ["95 % within", "num"]];

function Tools({ usage: { tools, toolCount } }: { readonly usage: UsageAnswer }) {
  return (
    <div class="panel">
      <div class="panel-h">
        <h2>Top tools</h2>
        <span class="muted small">of {toolCount} used</span>
      </div>
      <Table label="Top tools" columns={COLUMNS} isInside>
        {tools.map(({ tool, calls, errors, p95Ms }) => (
          <tr key={tool}>
            <td class="first any">
              <a class="row-link" href={`/ledger?${new URLSearchParams({ subject: tool, action: "call" }).toString()}`}>
                <code>
                  <Visible text={tool} />
                </code>
              </a>
            </td>
            <td class="num second">{count(calls)}</td>
            <td class="num" data-l="errors">
              {percent(errors / calls)}
            </td>
            <td class="num" data-l="95 %">
              {formatDuration(p95Ms)}
            </td>
          </tr>
        ))}
      </Table>
    </div>
  );
}

function Anomalies({ usage: { anomalies } }: { readonly usage: UsageAnswer }) {
  const now = useNow();
  return (
    <div class="panel">
      <div class="panel-h">
        <h2>Unusual</h2>
        <span class="muted small">{anomalies.length === 0 ? "nothing in this time" : `${anomalies.length} shown`}</span>
      </div>
      {anomalies.length === 0 && (
        <p class="panel-b soft small">
          Bursts, failures and first uses of a tool are reported with <code>anomalies.enabled</code> in the
          configuration.
        </p>
      )}
      <ul class="reads">
        {anomalies.map(({ seq, at, kind, subject, detail }) => (
          <li key={seq}>
            <div class="row">
              <Icon name="warn" />
              <a class="link" href={`/ledger?record=${seq}`}>
                <Visible text={`${kind}: ${subject}`} />
              </a>
              <span class="end muted small">
                <Ago at={at} now={now} />
              </span>
            </div>
            <p class="small muted any">{toPlainJson(detail)}</p>
          </li>
        ))}
      </ul>
    </div>
  );
}

function count(number: number): string {
  return number.toLocaleString("en-US");
}

function percent(share: number): string {
  return `${(share * 100).toFixed(share > 0 && share < 0.1 ? 1 : 0)} %`;
}
