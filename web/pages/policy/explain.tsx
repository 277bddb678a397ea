/** Why one call would be decided as it would. Nothing is called. The question is in the address. */

import { useState } from "preact/hooks";

import { explanationSchema } from "../../../src/surfaces/admin/contract/policy.ts";
import type { ExplanationAnswer } from "../../../src/surfaces/admin/contract/policy.ts";
import { useAnswer } from "../../live/use-answer.ts";
import { TextArea, TextField } from "../../parts/form.tsx";
import { Problem } from "../../parts/frame.tsx";
import { Status, Tag } from "../../parts/status.tsx";
import { Table } from "../../parts/table.tsx";
import { Visible } from "../../parts/text.tsx";
import { navigate, place } from "../../router.ts";
import { DecisionWord } from "./decision.tsx";
import type { PolicyPartProps } from "./page.tsx";

const TONES = { allow: "ok", ask: "wait", deny: "bad" } as const;

export function Explain({ api }: PolicyPartProps) {
  const { query } = place.value;
  const asked = {
    tool: query.get("tool") ?? "",
    principal: query.get("principal") ?? "local",
    args: query.get("args") ?? "{}",
  };
  const { tool, principal, args } = asked;
  const { value, error } = useAnswer(
    async () => (tool === "" ? undefined : api.read(explanationSchema, "/api/policy/explain", asked)),
    { key: `${tool} ${principal} ${args}`, topics: [] },
  );
  return (
    <section class="halves" aria-label="Explain one call">
      <Question {...asked} />
      <div aria-live="polite">
        {error && <Problem message={error.message} />}
        {value && !error && <Explanation explanation={value} />}
        {tool === "" && <p class="soft">Name a tool to see every rule, whether it matches, and why.</p>}
      </div>
    </section>
  );
}

interface QuestionProps {
  readonly tool: string;
  readonly principal: string;
  readonly args: string;
}

function Question(asked: QuestionProps) {
  const [draft, setDraft] = useState(asked);
  const set = (part: Partial<QuestionProps>): void => setDraft((before) => ({ ...before, ...part }));
  const ask = (): void => navigate(`/policy?${new URLSearchParams({ tab: "explain", ...draft }).toString()}`);
  return (
    <form
      class="panel"
      onSubmit={(event) => {
        event.preventDefault();
        ask();
      }}
    >
      <div class="panel-h">
        <h2>Explain one call</h2>
        <span class="muted small">nothing is called</span>
      </div>
      <div class="panel-b stack">
        <TextField
          label="Tool"
          value={draft.tool}
          onText={(tool) => set({ tool })}
          placeholder="github.createIssue"
          isRequired
          isCode
        />
        <TextField
          label="Principal"
          hint="local stands for MCP clients of this machine; token:NAME and agent:PERSON/CLIENT for others."
          value={draft.principal}
          onText={(principal) => set({ principal })}
          isRequired
          isCode
        />
        <TextArea
          label="Arguments"
          rows={5}
          value={draft.args}
          onText={(args) => set({ args })}
          hint="One JSON object."
        />
        <button class="btn primary" type="submit">
          Explain
        </button>
      </div>
    </form>
  );
}

function Explanation({ explanation }: { readonly explanation: ExplanationAnswer }) {
  const { decision, rule, reason, tool, effect, effectSource, rules } = explanation;
  const ordered = rules.toSorted((a, b) => Number(b.matches) - Number(a.matches));
  return (
    <div class="panel">
      <div class="panel-h">
        <h2>
          <code>
            <Visible text={tool} />
          </code>
        </h2>
        <Tag name={effect} />
        {effectSource !== undefined && <span class="muted small">effect from {effectSource}</span>}
      </div>
      <div class="panel-b stack">
        <div class={`note ${TONES[decision]}`}>
          <DecisionWord name={decision} />
          <div>
            decided by{" "}
            <code>
              <Visible text={rule} />
            </code>
            {reason !== undefined && (
              <>
                : <Visible text={reason} />
              </>
            )}
          </div>
        </div>
        <Table label="Rules that were compared" columns={["Match", "Rule", "Why"]} isInside>
          {ordered.map(({ rule: id, decision: would, matches, why }) => (
            <tr key={id}>
              <td class="second">{matches ? <DecisionWord name={would} /> : <Status tone="idle">no match</Status>}</td>
              <td class="first any">
                <code>
                  <Visible text={id} />
                </code>
              </td>
              <td class="wide soft any">
                <Visible text={why} />
              </td>
            </tr>
          ))}
        </Table>
        <p class="small muted">The data-flow guard decides later, by what the session has read. No rule loosens it.</p>
      </div>
    </div>
  );
}
