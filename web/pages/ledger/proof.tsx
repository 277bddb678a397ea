/** Whether the ledger is intact: the state of the latest verification, and its progress while one runs. */

import { useEffect } from "preact/hooks";

import { proofSchema } from "../../../src/surfaces/admin/contract/ledger.ts";
import type { ProofAnswer } from "../../../src/surfaces/admin/contract/ledger.ts";
import { useAnswer } from "../../live/use-answer.ts";
import { useChange } from "../../live/use-change.ts";
import type { PageProps } from "../../page-props.ts";
import { Problem } from "../../parts/frame.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Meter } from "../../parts/meter.tsx";
import { Status } from "../../parts/status.tsx";
import { Ago, useNow } from "../../parts/time.tsx";

const POLL_MS = 300;

export interface Proof {
  readonly answer: ProofAnswer;
  readonly isRunning: boolean;
  readonly problem: string;
  /** The last record that a signature covers, after a verification that found nothing. */
  readonly signed: number | undefined;
  readonly start: () => void;
}

/** Asks again while a verification runs. */
export function useProof(api: PageProps["api"]): Proof {
  const { value, reload } = useAnswer(() => api.read(proofSchema, "/api/ledger/proof"), { key: "proof", topics: [] });
  const change = useChange(reload);
  const answer = value ?? {};
  const isRunning = answer.running !== undefined;
  useEffect(() => {
    if (!isRunning) return undefined;
    const timer = setInterval(reload, POLL_MS);
    return () => clearInterval(timer);
  }, [isRunning]);
  const verdict = answer.last?.verdict;
  return {
    answer,
    isRunning,
    problem: change.problem,
    signed: verdict?.ok === true ? verdict.signed : undefined,
    start: () => void change.send(() => api.change(proofSchema, "/api/ledger/proof")),
  };
}

/** In the head of the page. */
export function ProofState({ proof: { answer, isRunning } }: { readonly proof: Proof }) {
  const now = useNow();
  const { last } = answer;
  if (isRunning) return <Status tone="run">verifying</Status>;
  if (!last) return <span class="muted small">not verified since the start</span>;
  if (!last.verdict.ok) return <Status tone="bad">damaged at {count(last.verdict.seq)}</Status>;
  return (
    <Status tone="ok">
      <span title={`by ${last.by}`}>
        {count(last.verdict.records)} records intact, <Ago at={last.at} now={now} />
      </span>
    </Status>
  );
}

/** Below it: progress, or what is wrong and what to do. */
export function ProofNote({ proof: { answer, problem } }: { readonly proof: Proof }) {
  const { running, last, failure } = answer;
  return (
    <div aria-live="polite">
      {problem !== "" && <Problem message={problem} />}
      {failure !== undefined && <Problem message={`The verification was not finished: ${failure}`} />}
      {running && (
        <div class="panel">
          <div class="panel-b stack">
            <span>
              {count(running.checked)} of {count(running.of)} records
            </span>
            <Meter
              value={running.checked}
              of={running.of}
              label={`${running.checked} of ${running.of} records verified`}
            />
          </div>
        </div>
      )}
      {last && !last.verdict.ok && !running && <Damage seq={last.verdict.seq} problem={last.verdict.problem} />}
    </div>
  );
}

function Damage({ seq, problem }: { readonly seq: number; readonly problem: string }) {
  return (
    <div class="note bad" role="alert">
      <Icon name="ledger" />
      <div>
        <b class="strong">
          Record {count(seq)}: {problem}.
        </b>{" "}
        Records before it verify, and new ones are still written. Keep a copy of the store before you do anything else,
        and compare it with your last export.
      </div>
      <a class="btn small" href="/api/ledger/export" download>
        Export as it is
      </a>
    </div>
  );
}

export function count(number: number): string {
  return number.toLocaleString("en-US");
}
