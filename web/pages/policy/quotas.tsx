/** Quotas with their use: those that are nearly used up come first. */

import type { PolicyAnswer } from "../../../src/surfaces/admin/contract/policy.ts";
import { Empty } from "../../parts/frame.tsx";
import { Meter } from "../../parts/meter.tsx";
import { Table } from "../../parts/table.tsx";
import type { Column } from "../../parts/table.tsx";
import { Visible } from "../../parts/text.tsx";
import { formatAge, formatDuration, useNow } from "../../parts/time.tsx";

type Quota = PolicyAnswer["quotas"][number];

const COLUMNS: readonly Column[] = ["Quota", "Of", "Use", ["Used", "num"], ["Resets", "num"]];
const NEAR = 0.8;

export function Quotas({ policy: { quotas } }: { readonly policy: Pick<PolicyAnswer, "quotas"> }) {
  const ordered = quotas.toSorted((a, b) => b.used / b.limit - a.used / a.limit);
  if (ordered.length === 0) {
    return (
      <Empty title="No quota is in use">
        <p>
          Quotas are in <code>quotas</code> of the configuration. They appear here once something counts against them.
        </p>
      </Empty>
    );
  }
  return (
    <section aria-label="Quotas">
      <Table label="Quotas" columns={COLUMNS}>
        {ordered.map((quota) => (
          <QuotaRow key={`${quota.setting} ${quota.who}`} quota={quota} />
        ))}
      </Table>
    </section>
  );
}

function QuotaRow({ quota }: { readonly quota: Quota }) {
  const now = useNow();
  const { setting, who, used, limit, resetsAt } = quota;
  const share = used / limit;
  const words = `${format(quota, used)} of ${format(quota, limit)}`;
  return (
    <tr>
      <td class="first any">
        <code>
          <Visible text={setting} />
        </code>
      </td>
      <td class="soft any">
        <Visible text={who} />
      </td>
      <td class="wide meter-cell">
        <Meter value={used} of={limit} label={words} tone={share >= 1 ? "bad" : share >= NEAR ? "wait" : undefined} />
      </td>
      <td class="num second">{words}</td>
      <td class="num" data-l="resets">
        {resetsAt === undefined ? "when one ends" : `in ${formatAge(Math.max(0, resetsAt - now))}`}
      </td>
    </tr>
  );
}

function format({ unit }: Quota, amount: number): string {
  return unit === "ms" ? formatDuration(amount) : amount.toLocaleString("en-US", { maximumFractionDigits: 2 });
}
