/** A place to try a program: what it could call, a dry run, or for real, with the rights of the person. */

import { useState } from "preact/hooks";

import { programPlanSchema, startedSchema } from "../../../src/surfaces/admin/contract/tools.ts";
import type { ProgramPlanAnswer } from "../../../src/surfaces/admin/contract/tools.ts";
import type { Api } from "../../api.ts";
import { useAnswer } from "../../live/use-answer.ts";
import type { PageProps } from "../../page-props.ts";
import { ActionButton } from "../../parts/action.tsx";
import { Editor } from "../../parts/editor.tsx";
import { showExecution } from "../../parts/executions-api.ts";
import { Head, Problem } from "../../parts/frame.tsx";
import { State } from "../../parts/status.tsx";
import { formatBytes } from "../../parts/time.tsx";
import { navigate, place, withQuery } from "../../router.ts";
import { Failure, Logs, Outcome } from "../execution/outcome.tsx";
import { Waterfall } from "../execution/waterfall.tsx";
import { Plan, SkippedCalls } from "./plan.tsx";

const START = `// Tools are functions of their server, such as github.listIssues({}).
// The last value is the result; console.log writes a log line.
return glovebox.search("list");
`;
/** Kept for this tab only, so that a reload loses nothing. */
const DRAFT_KEY = "glovebox-playground";

export function Page({ api }: PageProps) {
  const { query } = place.value;
  const [code, setCode] = useState(() => sessionStorage.getItem(DRAFT_KEY) ?? START);
  const [plan, setPlan] = useState<ProgramPlanAnswer>();
  const running = query.get("run");
  const change = (text: string): void => {
    setCode(text);
    sessionStorage.setItem(DRAFT_KEY, text);
  };
  const showPlan = async (): Promise<void> => {
    setPlan(await api.change(programPlanSchema, "/api/playground/plan", { code }));
    navigate(withQuery("run", ""), "replace");
  };
  const run = async (dryRun: boolean): Promise<void> => {
    const { execution } = await api.change(startedSchema, "/api/playground/run", { code, dryRun });
    setPlan(undefined);
    navigate(withQuery("run", execution), "replace");
  };
  return (
    <>
      <Head title="Playground" sub="programs run with your rights; policy, approvals and limits apply" />
      <div class="content">
        <section aria-label="Program" class="panel">
          <Editor label="Program" text={code} onText={change} onRun={() => void run(true)} />
          <div class="panel-f">
            <span>{formatBytes(new Blob([code]).size)}</span>
            <span class="no-phone">Ctrl+Enter makes a dry run; Escape, then Tab leaves the field</span>
            <span class="end row tight">
              <ActionButton label="Show the plan" isSmall run={showPlan} />
              <ActionButton label="Dry run" tone="primary" isSmall run={() => run(true)} />
              <ActionButton label="Run" confirm="Run for real" isSmall run={() => run(false)} />
            </span>
          </div>
        </section>
        {plan && <Plan answer={plan} />}
        {!plan && running !== null && <Result api={api} id={running} />}
        {!plan && running === null && <Help />}
      </div>
    </>
  );
}

function Help() {
  return (
    <section aria-label="What the buttons do">
      <dl class="facts-list">
        <div>
          <dt>Show the plan</dt>
          <dd>Lists the tools that the program can call, and why it would be refused. Nothing runs.</dd>
        </div>
        <div>
          <dt>Dry run</dt>
          <dd>Makes reads. Calls that may change something are answered from their schema, and listed.</dd>
        </div>
        <div>
          <dt>Run</dt>
          <dd>Makes all calls. Those that need approval wait for a person.</dd>
        </div>
      </dl>
    </section>
  );
}

/** The execution, live until it has ended. */
function Result({ api, id }: { readonly api: Pick<Api, "read">; readonly id: string }) {
  const { value, error } = useAnswer(() => showExecution(api, id), { key: id, topics: ["executions", "approvals"] });
  const [selected, select] = useState<number>();
  if (error && !value) return <Problem message={error.message} />;
  if (!value) return null;
  const waiting = value.approvals.find(({ state }) => state === "pending");
  return (
    <>
      <section aria-label="Execution">
        <div class="row tight">
          <State name={value.state} />
          {value.result.dryRun && <span class="tag line">dry run</span>}
          <a class="link mono" href={`/executions/${id}`}>
            {id.slice(0, 11)}
          </a>
          {waiting && (
            <a class="btn small" href={`/approvals/${waiting.id}`}>
              Review what it waits for
            </a>
          )}
        </div>
      </section>
      <Failure details={value} />
      <SkippedCalls result={value.result} />
      <Outcome details={value} />
      <Logs details={value} />
      {value.result.calls.length > 0 && (
        <section>
          <Waterfall details={value} selected={selected} select={select} />
        </section>
      )}
    </>
  );
}
