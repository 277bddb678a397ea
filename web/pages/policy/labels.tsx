/** Data flow: which tools bring or take what, and which principals have read it. */

import { useState } from "preact/hooks";

import { policyChangedSchema } from "../../../src/surfaces/admin/contract/policy.ts";
import type { PolicyAnswer } from "../../../src/surfaces/admin/contract/policy.ts";
import { useChange } from "../../live/use-change.ts";
import { Confirm } from "../../parts/dialog.tsx";
import { Empty, Problem } from "../../parts/frame.tsx";
import { Tag } from "../../parts/status.tsx";
import { Table } from "../../parts/table.tsx";
import { Visible } from "../../parts/text.tsx";
import { Ago, formatTime, useNow } from "../../parts/time.tsx";
import type { PolicyPartProps } from "./page.tsx";

export function Labels({ api, policy, reload }: PolicyPartProps) {
  return (
    <>
      <section aria-labelledby="sources">
        <div class="h">
          <h2 id="sources">Labeled tools</h2>
          <span class="muted small">
            after private data and untrusted text were read, a call of an external tool is: {policy.flows}
          </span>
        </div>
        {policy.labeled.length === 0 ? (
          <Empty title="No tool has a label">
            <p>
              Without labels the data-flow guard does nothing. Label tools with <code>policy.labels</code> in the
              configuration.
            </p>
          </Empty>
        ) : (
          <Table label="Labeled tools" columns={["Tool", "Effect", "Labels"]}>
            {policy.labeled.map(({ tool, effect, labels }) => (
              <tr key={tool}>
                <td class="first any">
                  <code>
                    <Visible text={tool} />
                  </code>
                </td>
                <td class="second">
                  <Tag name={effect} />
                </td>
                <td>
                  <span class="row tight">
                    {labels.map((label) => (
                      <Tag key={label} name={label} />
                    ))}
                  </span>
                </td>
              </tr>
            ))}
          </Table>
        )}
      </section>
      <Changes policy={policy} />
      <Held {...{ api, reload }} held={policy.held} hours={policy.labelHours} />
    </>
  );
}

function Changes({ policy: { labels } }: { readonly policy: PolicyAnswer }) {
  if (labels.length === 0) return null;
  return (
    <section aria-labelledby="changes">
      <div class="h">
        <h2 id="changes">Changes by the operator</h2>
        <span class="muted small">policy.labels, in this order</span>
      </div>
      <ul class="reads">
        {labels.map(({ tools, add = [], remove = [] }, index) => (
          <li key={index} class="row">
            <code>
              <Visible text={tools.join(", ")} />
            </code>
            {add.map((label) => (
              <Tag key={label} name={label} />
            ))}
            {remove.length > 0 && <span class="muted small">without {remove.join(", ")}</span>}
          </li>
        ))}
      </ul>
    </section>
  );
}

type HeldLabels = PolicyAnswer["held"][number];

interface HeldProps extends Pick<PolicyPartProps, "api" | "reload"> {
  readonly held: readonly HeldLabels[];
  readonly hours: number;
}

function Held({ api, reload, held, hours }: HeldProps) {
  const change = useChange(reload);
  const [clearing, setClearing] = useState<string>();
  const clear = async (principal: string): Promise<void> => {
    const path = `/api/policy/labels/${encodeURIComponent(principal)}`;
    if (await change.send(() => api.change(policyChangedSchema, path, {}, "DELETE"))) setClearing(undefined);
  };
  return (
    <section aria-labelledby="held">
      <div class="h">
        <h2 id="held">What principals have read</h2>
        <span class="muted small">new sessions inherit it for {hours} hours after the last labeled read</span>
      </div>
      {held.length === 0 && <p class="soft">No principal holds labels beyond a session.</p>}
      <ul class="reads">
        {held.map((one) => (
          <HeldRow key={one.principal} held={one} onClear={() => setClearing(one.principal)} />
        ))}
      </ul>
      {clearing !== undefined && (
        <Confirm
          title={`Clear the labels of ${clearing}?`}
          action="Clear labels"
          isSending={change.isSending}
          onConfirm={() => void clear(clearing)}
          onClose={() => setClearing(undefined)}
        >
          {change.problem !== "" && <Problem message={change.problem} />}
          <p>
            Its sessions count as if they had read nothing, in every gateway on this store. Do this only if the model
            behind it has forgotten what it read.
          </p>
        </Confirm>
      )}
    </section>
  );
}

function HeldRow({ held, onClear }: { readonly held: HeldLabels; readonly onClear: () => void }) {
  const now = useNow();
  const { principal, labels, readAt, inheritedUntil } = held;
  return (
    <li>
      <div class="row">
        <b class="strong">
          <Visible text={principal} />
        </b>
        {labels.map(({ label, tool, execution, seq }) => (
          <a key={`${label} ${execution} ${seq}`} class="row tight" href={`/executions/${execution}`}>
            <Tag name={label} />
            <code>
              <Visible text={tool} />
            </code>
          </a>
        ))}
        <span class="muted small">
          read <Ago at={readAt} now={now} />
          {inheritedUntil !== undefined && `, inherited until ${formatTime(inheritedUntil)}`}
        </span>
        <span class="end">
          <button class="btn small" type="button" onClick={onClear}>
            Clear<span class="vh"> {principal}</span>
          </button>
        </span>
      </div>
    </li>
  );
}
