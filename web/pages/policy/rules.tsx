/** The rules in the order in which they decide. */

import { useState } from "preact/hooks";

import { policyChangedSchema } from "../../../src/surfaces/admin/contract/policy.ts";
import type { PolicyAnswer } from "../../../src/surfaces/admin/contract/policy.ts";
import { useChange } from "../../live/use-change.ts";
import { Confirm } from "../../parts/dialog.tsx";
import { Empty, Problem } from "../../parts/frame.tsx";
import { Table } from "../../parts/table.tsx";
import type { Column } from "../../parts/table.tsx";
import { Visible } from "../../parts/text.tsx";
import { DecisionWord } from "./decision.tsx";
import type { PolicyPartProps } from "./page.tsx";

type Rule = PolicyAnswer["rules"][number];

const COLUMNS: readonly Column[] = [
  "Decision",
  "Rule",
  "Who",
  "Tools",
  "When",
  ["Decided, 24 h", "num"],
  "Source",
  ["Actions", "vh"],
];

export function Rules({ api, policy, reload }: PolicyPartProps) {
  const change = useChange(reload);
  const [removing, setRemoving] = useState<Rule>();
  const remove = async ({ id }: Rule): Promise<void> => {
    const path = `/api/policy/rules/${encodeURIComponent(id)}`;
    if (await change.send(() => api.change(policyChangedSchema, path, {}, "DELETE"))) setRemoving(undefined);
  };
  const { rules } = policy;
  return (
    <section aria-label="Rules">
      <Intro policy={policy} />
      {rules.length === 0 ? (
        <Empty title="No rules">
          <p>
            The profile decides about every call. Write a rule in the configuration, or decide an approval with the
            scope “always”.
          </p>
          <pre class="block">{EXAMPLE}</pre>
        </Empty>
      ) : (
        <Table label="Rules" columns={COLUMNS}>
          {rules.map((rule) => (
            <RuleRow key={rule.id} rule={rule} onRemove={() => setRemoving(rule)} />
          ))}
        </Table>
      )}
      {removing && (
        <Confirm
          title="Remove this rule?"
          action="Remove rule"
          isSending={change.isSending}
          onConfirm={() => void remove(removing)}
          onClose={() => setRemoving(undefined)}
        >
          {change.problem !== "" && <Problem message={change.problem} />}
          <p>
            <code>
              <Visible text={removing.id} />
            </code>{" "}
            came from a decision. Running gateways ask again for such calls within a second.
          </p>
        </Confirm>
      )}
    </section>
  );
}

function Intro({ policy }: Pick<PolicyPartProps, "policy">) {
  const { profile, config = "the configuration", file } = policy;
  return (
    <p class="soft small">
      The strictest matching rule decides: deny, then ask, then allow. The order in the file has no effect. What no rule
      matches is decided by the profile <b class="strong">{profile}</b>. Rules are written in{" "}
      <code>
        <Visible text={config} />
      </code>
      {file !== undefined && (
        <>
          {" "}
          and{" "}
          <code>
            <Visible text={file} />
          </code>
          , which a running gateway reads again when it changes
        </>
      )}
      .
    </p>
  );
}

const EXAMPLE = `"policy": { "rules": [
  { "id": "ask-merge", "decision": "ask", "tools": ["github.merge*"], "reason": "Release week" }
] }`;

const SOURCES: Readonly<Record<Rule["source"], string>> = {
  configuration: "configuration",
  file: "rule file",
  decision: "from an approval",
};

function RuleRow({ rule, onRemove }: { readonly rule: Rule; readonly onRemove: () => void }) {
  const { id, decision, tools, effects, when = [], decided, source, reason } = rule;
  const conditions = [...(effects.length > 0 ? [`it is ${effects.join(" or ")}`] : []), ...when];
  return (
    <tr>
      <td class="second">
        <DecisionWord name={decision} />
      </td>
      <td class="first any">
        <code class="strong">
          <Visible text={id} />
        </code>
        <div class="small muted">
          <Visible text={reason} />
        </div>
      </td>
      <td class="soft any">
        <Visible text={describeWho(rule)} />
      </td>
      <td class="any">
        {tools.length === 0
          ? "every tool"
          : tools.map((tool) => (
              <div key={tool}>
                <code>
                  <Visible text={tool} />
                </code>
              </div>
            ))}
      </td>
      <td class="small soft any">
        {conditions.map((condition) => (
          <div key={condition}>
            <Visible text={condition} />
          </div>
        ))}
      </td>
      <td class="num" data-l="24 h">
        {decided}
      </td>
      <td class="muted small">{SOURCES[source]}</td>
      <td class="acts">
        {source === "decision" && (
          <button class="btn small" type="button" onClick={onRemove}>
            Remove<span class="vh"> {id}</span>
          </button>
        )}
      </td>
    </tr>
  );
}

function describeWho({ principals = [], groups = [], servers = [] }: Rule): string {
  const who = [...principals, ...groups.map((group) => `group ${group}`)];
  const where = servers.length === 0 ? "" : `, at ${servers.join(", ")}`;
  return `${who.length === 0 ? "everyone" : who.join(", ")}${where}`;
}
