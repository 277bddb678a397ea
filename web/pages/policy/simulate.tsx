/** What a change of the rule file would have changed about past calls. Nothing is stored. */

import { useState } from "preact/hooks";

import { simulationSchema } from "../../../src/surfaces/admin/contract/policy.ts";
import type { SimulationAnswer } from "../../../src/surfaces/admin/contract/policy.ts";
import { toPlainJson } from "../../../src/text/escape-hidden.ts";
import { useChange } from "../../live/use-change.ts";
import { SelectField, TextArea } from "../../parts/form.tsx";
import { Problem } from "../../parts/frame.tsx";
import { Table } from "../../parts/table.tsx";
import { CopyButton, Visible } from "../../parts/text.tsx";
import type { PolicyPartProps } from "./page.tsx";

const HOUR_MS = 3_600_000;
const PERIODS = [
  ["24", "the last 24 hours"],
  ["168", "the last 7 days"],
  ["720", "the last 30 days"],
  ["", "everything"],
] as const;
const PROFILES = [
  ["", "as it is"],
  ["balanced", "balanced"],
  ["strict", "strict"],
  ["open", "open"],
] as const;

export function Simulate({ api, policy }: PolicyPartProps) {
  const [rules, setRules] = useState(toPlainJson({ rules: policy.written }, 2));
  const [hours, setHours] = useState("168");
  const [profile, setProfile] = useState("");
  const [found, setFound] = useState<SimulationAnswer>();
  const change = useChange();
  const simulate = async (): Promise<void> => {
    const since = hours === "" ? 0 : Math.floor(Date.now() - Number(hours) * HOUR_MS);
    const body = { rules, since, ...(profile !== "" && { profile }) };
    setFound(await change.send(() => api.change(simulationSchema, "/api/policy/simulate", body)));
  };
  return (
    <section class="halves" aria-label="Simulate a change">
      <form
        class="panel"
        onSubmit={(event) => {
          event.preventDefault();
          void simulate();
        }}
      >
        <div class="panel-h">
          <h2>Simulate a change on the past</h2>
          <span class="end">
            <CopyButton text={rules} label="Copy the rules" />
          </span>
        </div>
        <div class="panel-b stack">
          <TextArea
            label="Rule file"
            rows={14}
            value={rules}
            onText={setRules}
            hint="In place of the present rule file. The rules of the configuration stay."
          />
          <div class="halves tight">
            <SelectField label="Calls of" value={hours} options={PERIODS} onChoose={setHours} />
            <SelectField label="Profile" value={profile} options={PROFILES} onChoose={setProfile} />
          </div>
          <button class="btn primary" type="submit" disabled={change.isSending}>
            {change.isSending ? "Comparing…" : "Simulate"}
          </button>
        </div>
      </form>
      <div aria-live="polite">
        {change.problem !== "" && <Problem message={change.problem} />}
        {found && <Result found={found} file={policy.file} />}
        {!found && change.problem === "" && (
          <p class="soft">
            Change a rule on the left. Every call in the ledger is decided again, and what differs is shown.
          </p>
        )}
      </div>
    </section>
  );
}

const sum = (parts: readonly { readonly calls: number }[]): number =>
  parts.reduce((total, { calls }) => total + calls, 0);

function Result({ found, file }: { readonly found: SimulationAnswer; readonly file: string | undefined }) {
  const { calls, same, changed, cannotTell } = found;
  const rows = [
    ...changed.map(({ from, to, ...row }) => ({ ...row, change: `${from} → ${to}`, why: row.rule })),
    ...cannotTell.map(({ from, rules, ...row }) => ({ ...row, change: `${from} → ?`, why: rules.join(", ") })),
  ];
  const figures = [
    ["Calls looked at", calls],
    ["As before", same],
    ["Changed", sum(changed)],
    ["Cannot be said", sum(cannotTell)],
  ] as const;
  return (
    <div class="panel">
      <div class="panel-h">
        <h2>Result</h2>
      </div>
      <div class="panel-b stack">
        <dl class="stats">
          {figures.map(([name, count]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{count.toLocaleString("en-US")}</dd>
            </div>
          ))}
        </dl>
        {rows.length > 0 && (
          <Table label="Changed calls" columns={["Tool", "Principal", ["Calls", "num"], "Change", "Rule"]} isInside>
            {rows.map(({ tool, principal, calls: times, change, why }) => (
              <tr key={`${tool} ${principal} ${change} ${why}`}>
                <td class="first any">
                  <code>
                    <Visible text={tool} />
                  </code>
                </td>
                <td class="soft any">
                  <Visible text={principal} />
                </td>
                <td class="num" data-l="calls">
                  {times}
                </td>
                <td class="second nowrap">{change}</td>
                <td class="soft any">
                  <Visible text={why} />
                </td>
              </tr>
            ))}
          </Table>
        )}
        <p class="small muted">
          {sum(cannotTell) > 0 && "Calls that depend on arguments cannot be said: records have only their digests. "}
          Nothing was stored. To make the change, write it to <Visible text={file ?? "a file that policy.file names"} />
          .
        </p>
      </div>
    </div>
  );
}
