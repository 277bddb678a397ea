/** What a person does with an execution: cancel it, replay it, compare it, export it. */

import { useState } from "preact/hooks";

import { REPLAY_ENGINES, exportSchema, replaySchema } from "../../../src/surfaces/admin/contract/executions.ts";
import type { ExecutionAnswer, ReplayAnswer } from "../../../src/surfaces/admin/contract/executions.ts";
import { toPlainJson } from "../../../src/text/escape-hidden.ts";
import type { Api } from "../../api.ts";
import { useAnswer } from "../../live/use-answer.ts";
import { ActionButton } from "../../parts/action.tsx";
import { cancelExecution, listExecutions } from "../../parts/executions-api.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { Problem } from "../../parts/frame.tsx";
import { Loading } from "../../parts/notice.tsx";
import { State } from "../../parts/status.tsx";
import { Visible, saveFile } from "../../parts/text.tsx";
import { formatDuration } from "../../parts/time.tsx";
import { navigate } from "../../router.ts";
import { toTitle } from "../../parts/title.ts";
import { MakeSkill } from "./make-skill.tsx";

interface ActionsProps {
  readonly api: Api;
  readonly roles: readonly string[];
  readonly details: ExecutionAnswer;
  readonly reload: () => void;
}

type Opened = "replay" | "compare" | "skill" | undefined;

export function Actions({ api, roles, details, reload }: ActionsProps) {
  const { id, state, source } = details;
  const [opened, open] = useState<Opened>();
  const isOperator = roles.includes("operator");
  const isOver = state !== "running" && state !== "paused";
  const save = async (): Promise<void> => {
    const recording = await api.change(exportSchema, `/api/executions/${id}/export`);
    saveFile(`${id}.recording.json`, JSON.stringify(recording));
  };
  return (
    <>
      {isOperator && !isOver && (
        <ActionButton
          label="Cancel"
          confirm="Cancel this execution for good"
          run={() => cancelExecution(api, id).finally(reload)}
        />
      )}
      {isOperator && source !== undefined && (
        <>
          <button class="btn" type="button" onClick={() => open("replay")}>
            Replay
          </button>
          <ActionButton label="Export" tone="quiet" run={save} />
        </>
      )}
      <button class="btn quiet" type="button" onClick={() => open("compare")}>
        Compare
      </button>
      {state === "completed" && source !== undefined && source !== "" && (
        <button class="btn quiet" type="button" onClick={() => open("skill")}>
          Make a skill
        </button>
      )}
      {opened === "skill" && <MakeSkill {...{ api, id }} onClose={() => open(undefined)} />}
      {opened === "replay" && <Replay {...{ api, details }} onClose={() => open(undefined)} />}
      {opened === "compare" && <ChooseOther {...{ api, details }} onClose={() => open(undefined)} />}
    </>
  );
}

interface DialogProps {
  readonly api: Api;
  readonly details: ExecutionAnswer;
  readonly onClose: () => void;
}

function Replay({ api, details: { id, result }, onClose }: DialogProps) {
  const [engine, setEngine] = useState("");
  const [answer, setAnswer] = useState<ReplayAnswer>();
  const run = async (): Promise<void> => {
    setAnswer(undefined);
    const body = engine === "" ? {} : { engine };
    setAnswer(await api.change(replaySchema, `/api/executions/${id}/replay`, body));
  };
  const footer = (
    <>
      <button class="btn" type="button" onClick={onClose}>
        Close
      </button>
      <ActionButton label="Replay" tone="primary" run={run} />
    </>
  );
  return (
    <Dialog title="Replay this execution" onClose={onClose} footer={footer}>
      <p>
        The same program runs again in a new sandbox. It gets the recorded replies and calls no server. The ledger
        records that you looked.
      </p>
      <label class="field">
        Engine
        <select class="select" value={engine} onChange={(event) => setEngine(event.currentTarget.value)}>
          <option value="">the same as then ({result.engine})</option>
          {REPLAY_ENGINES.map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <div aria-live="polite">{answer && <Replayed answer={answer} />}</div>
    </Dialog>
  );
}

function Replayed({ answer: { difference, result } }: { readonly answer: ReplayAnswer }) {
  const { state, engine, stats, value } = result;
  return (
    <>
      {difference === undefined ? (
        <div class="note ok">The result is the same.</div>
      ) : (
        <div class="note bad">
          <div>
            <b class="strong">It differs.</b> <Visible text={difference} />
          </div>
        </div>
      )}
      <div class="row tight small">
        <State name={state} />
        <span>on {engine}</span>
        <span class="muted">{formatDuration(stats.cpuMs)} of processor time</span>
      </div>
      {difference !== undefined && value !== undefined && (
        <pre class="block tail" tabIndex={0} aria-label="Result of the replay">
          {toPlainJson(value, 2).slice(0, 20_000)}
        </pre>
      )}
    </>
  );
}

const OFFERED = 10;

/** Latest executions of the same principal, or any other by its id. */
function ChooseOther({ api, details: { id, principal }, onClose }: DialogProps) {
  const load = () => listExecutions(api, { limit: OFFERED + 1, principal });
  const { value, error } = useAnswer(load, { key: `others ${id}`, topics: [] });
  const [typed, setTyped] = useState("");
  const others = value?.executions.filter((one) => one.id !== id).slice(0, OFFERED) ?? [];
  const choose = (other: string): void => {
    onClose();
    navigate(`/executions/${id}?with=${encodeURIComponent(other)}`);
  };
  const footer = (
    <>
      <button class="btn" type="button" onClick={onClose}>
        Close
      </button>
      <button class="btn primary" type="submit" disabled={!/^ex_[0-9a-f]{24}$/.test(typed.trim())}>
        Compare
      </button>
    </>
  );
  return (
    <Dialog
      title="Compare with another execution"
      onClose={onClose}
      onSubmit={() => choose(typed.trim())}
      footer={footer}
    >
      <label class="field">
        Its id
        <input
          class="input mono"
          placeholder="ex_…"
          autoComplete="off"
          spellcheck={false}
          value={typed}
          onInput={(event) => setTyped(event.currentTarget.value)}
        />
      </label>
      {error && <Problem message={error.message} />}
      {!value && !error && <Loading what="executions" />}
      {others.length > 0 && <p class="muted small">Or one of the latest of {principal}:</p>}
      <ul class="reads">
        {others.map((other) => (
          <li key={other.id}>
            <button class="row-link" type="button" onClick={() => choose(other.id)}>
              <State name={other.state} /> <Visible text={toTitle(other.head) || other.id.slice(0, 11)} />
            </button>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
