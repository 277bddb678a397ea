/** Definitions that wait for an operator: each field before and after, with suspicious text marked. */

import { decidedSchema, withheldSchema } from "../../../src/surfaces/admin/contract/servers.ts";
import type { WithheldAnswer } from "../../../src/surfaces/admin/contract/servers.ts";
import type { Api } from "../../api.ts";
import { useAnswer } from "../../live/use-answer.ts";
import { ActionButton } from "../../parts/action.tsx";
import { TextDiff } from "../../parts/diff.tsx";
import { Problem } from "../../parts/frame.tsx";
import { Visible } from "../../parts/text.tsx";
import { Ago, useNow } from "../../parts/time.tsx";

type WithheldTool = WithheldAnswer["tools"][number];
type Verdict = "approve" | "reject";

/** Definitions that are shown at once; the others on request. */
const SHOWN = 20;

export function Withheld({ api }: { readonly api: Pick<Api, "read" | "change"> }) {
  const load = () => api.read(withheldSchema, "/api/withheld");
  const { value, error, reload } = useAnswer(load, { key: "withheld", topics: ["servers"] });
  if (error && !value) return <Problem message={error.message} />;
  const servers = [...Map.groupBy(value?.tools ?? [], ({ server }) => server)];
  const decide = async (verdict: Verdict, server: string, tools: readonly WithheldTool[]): Promise<void> => {
    const chosen = tools.map(({ tool, digest }) => ({ tool, digest }));
    await api.change(decidedSchema, "/api/withheld", { verdict, server, tools: chosen }).finally(reload);
  };
  if (servers.length === 0) return null;
  return (
    <div id="withheld">
      {servers.map(([server, tools]) => (
        <OfServer key={server} {...{ server, tools, decide }} />
      ))}
    </div>
  );
}

interface OfServerProps {
  readonly server: string;
  readonly tools: readonly WithheldTool[];
  readonly decide: (verdict: Verdict, server: string, tools: readonly WithheldTool[]) => Promise<void>;
}

function OfServer({ server, tools, decide }: OfServerProps) {
  const open = tools.filter(({ rejectedBy }) => rejectedBy === undefined);
  const marked = open.filter(({ suspicious = [] }) => suspicious.length > 0).length;
  const approve = `Approve ${open.length}${marked > 0 ? `, ${marked} with suspicious text` : ""}`;
  return (
    <section aria-label={`Withheld definitions of ${server}`}>
      <div class="h">
        <h2>
          Withheld definitions of <code>{server}</code>
        </h2>
        <span class="muted small">Agents still get the definitions that were approved before.</span>
        {open.length > 1 && (
          <span class="end">
            <ActionButton
              label="Reject all"
              confirm={`Reject ${open.length}`}
              tone="danger"
              isSmall
              run={() => decide("reject", server, open)}
            />
            <ActionButton label="Approve all" confirm={approve} isSmall run={() => decide("approve", server, open)} />
          </span>
        )}
      </div>
      {tools.slice(0, SHOWN).map((tool) => (
        <Definition
          key={`${tool.tool} ${tool.digest}`}
          tool={tool}
          decide={(verdict) => decide(verdict, server, [tool])}
        />
      ))}
      {tools.length > SHOWN && (
        <details>
          <summary>{tools.length - SHOWN} more</summary>
          {tools.slice(SHOWN).map((tool) => (
            <Definition
              key={`${tool.tool} ${tool.digest}`}
              tool={tool}
              decide={(verdict) => decide(verdict, server, [tool])}
            />
          ))}
        </details>
      )}
    </section>
  );
}

const REASONS: Readonly<Record<WithheldTool["why"], string>> = {
  new: "new tool",
  changed: "other definition",
  collides: "new tool with the name of another",
};

interface DefinitionProps {
  readonly tool: WithheldTool;
  readonly decide: (verdict: Verdict) => Promise<void>;
}

function Definition({ tool, decide }: DefinitionProps) {
  const { server, why, digest, seenAt, fields, moreFields = 0, suspicious = [], rejectedBy } = tool;
  const now = useNow();
  const isMarked = suspicious.length > 0;
  return (
    <article class="panel" aria-label={`Withheld ${server} ${tool.tool}`}>
      <div class="panel-h wrap">
        <code class="strong">
          <Visible text={tool.tool} />
        </code>
        <span class="muted small">
          {REASONS[why]}, seen <Ago at={seenAt} now={now} />
        </span>
        {isMarked && <span class="tag bad">suspicious text</span>}
        {rejectedBy !== undefined && <span class="tag line">rejected by {rejectedBy}</span>}
        <span class="end">
          <ActionButton
            label="Reject"
            tone="danger"
            isSmall
            isDisabled={rejectedBy !== undefined}
            run={() => decide("reject")}
          />
          <ActionButton
            label="Approve"
            {...(isMarked ? { confirm: "Approve despite suspicious text" } : {})}
            isSmall
            run={() => decide("approve")}
          />
        </span>
      </div>
      <div class="diff" tabIndex={0} role="region" aria-label={`Changes of ${tool.tool}`}>
        {fields.map((field) => (
          <Field key={field.path} field={field} />
        ))}
        {fields.length === 0 && <div class="gap">The change is in a part that is too long to store.</div>}
        {moreFields > 0 && <div class="gap">{moreFields} more fields are not shown</div>}
      </div>
      <div class="panel-f">
        <span class="mono" title={digest}>
          {digest.slice(0, 20)}…
        </span>
        {suspicious.length > 0 && <span>A mark is a hint for you, not a proof.</span>}
      </div>
    </article>
  );
}

function Field({ field: { path, before, after, marks, cut } }: { readonly field: WithheldTool["fields"][number] }) {
  const kind = before === null ? "new" : after === null ? "removed" : "";
  const reasons = [...new Set(marks.map(({ why }) => why))].join(", ");
  return (
    <>
      <div class="diff-field">
        <span class="strong">
          <Visible text={path} />
        </span>
        <span class={marks.length > 0 ? "cause small" : "muted small"}>
          {[kind, reasons].filter(Boolean).join(", ")}
        </span>
      </div>
      <TextDiff {...{ before, after, marks }} />
      {cut !== undefined && <div class="gap">{cut} more characters are not shown</div>}
    </>
  );
}
