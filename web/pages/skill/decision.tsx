/** The decision about a version: each grant on its own, then approve or reject exactly what is shown. */

import { useState } from "preact/hooks";

import { skillSchema } from "../../../src/surfaces/admin/contract/skills.ts";
import type { SkillReviewAnswer } from "../../../src/surfaces/admin/contract/skills.ts";
import { useChange } from "../../live/use-change.ts";
import type { SentChange } from "../../live/use-change.ts";
import type { PageProps } from "../../page-props.ts";
import { TextField } from "../../parts/form.tsx";
import { Problem } from "../../parts/frame.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Visible } from "../../parts/text.tsx";
import { navigate } from "../../router.ts";

interface DecisionProps extends Pick<PageProps, "api"> {
  readonly review: SkillReviewAnswer;
  readonly onDecided: () => void;
}

export function SkillDecision({ review, api, onDecided }: DecisionProps) {
  const change = useChange(onDecided);
  const { name, version, digest, state, frozen } = review;
  const send = async (what: string, body: object): Promise<void> => {
    const answer = await change.send(() =>
      api.change(skillSchema, `/api/skills/${encodeURIComponent(name)}/${what}`, body),
    );
    if (answer && answer.version !== version) navigate(`/skills/${name}?version=${answer.version}`);
  };
  const seen = { version, digest };
  if (state === "pending_review")
    return <Pending {...{ review, change }} onSend={(what, more) => send(what, { ...seen, ...more })} />;
  const canWithdraw = state === "approved";
  const canRollBack = state === "retired" || state === "revoked";
  if (!canWithdraw && !canRollBack) return null;
  return (
    <aside class="side" aria-label="Decision">
      <form class="decision" onSubmit={(event) => event.preventDefault()}>
        <h2>Change</h2>
        <div class="body">
          {change.problem !== "" && <Problem message={change.problem} />}
          {canWithdraw && (
            <Withdrawal
              {...{ change }}
              isFrozen={frozen !== undefined}
              onSend={(what, more) => send(what, { ...seen, ...more })}
              onPlain={(what) => send(what, {})}
            />
          )}
          {canRollBack && review.approval && (
            <>
              <p class="soft">Submits these files again as a new version, which needs a review like any other.</p>
              <button
                class="btn"
                type="button"
                disabled={change.isSending}
                onClick={() => void send("rollback", { version })}
              >
                Submit version {version} again
              </button>
            </>
          )}
        </div>
      </form>
    </aside>
  );
}

type Send = (what: string, more: object) => Promise<void>;

interface PendingProps {
  readonly review: SkillReviewAnswer;
  readonly change: SentChange;
  readonly onSend: Send;
}

/** Approving needs an answer about every grant; rejecting needs a reason. */
function Pending({ review: { grants, refusal, tests }, change, onSend }: PendingProps) {
  const [answers, setAnswers] = useState<Readonly<Record<string, boolean>>>({});
  const [text, setText] = useState("");
  const open = grants.filter(({ id }) => answers[id] === undefined).length;
  const failing = tests.filter(({ runs }) => runs.some(({ problem }) => problem !== undefined)).length;
  const obstacle = refusal ?? (open > 0 ? `${open} of ${grants.length} grants are not decided.` : undefined);
  return (
    <aside class="side" aria-label="Decision">
      <form class="decision" onSubmit={(event) => event.preventDefault()}>
        <h2>Decide</h2>
        <div class="body">
          {change.problem !== "" && <Problem message={change.problem} />}
          {failing > 0 && (
            <div class="note bad">
              <Icon name="warn" />
              <div>{failing} tests fail.</div>
            </div>
          )}
          {grants.map(({ id, name, pin }) => (
            <Grant
              key={id}
              {...{ id, name }}
              effect={pin?.effect}
              answer={answers[id]}
              onAnswer={(isGranted) => setAnswers((before) => ({ ...before, [id]: isGranted }))}
            />
          ))}
          <TextField
            label="Note or reason"
            hint="Needed to reject; its author can read it, and the ledger keeps it."
            value={text}
            onText={setText}
            maxLength={1000}
          />
          <p id="obstacle" class="small muted" aria-live="polite">
            {obstacle === undefined ? "Signs exactly these files with these grants." : <Visible text={obstacle} />}
          </p>
        </div>
        <Buttons {...{ change, obstacle }} reason={text.trim()} onSend={onSend} grants={answers} />
      </form>
    </aside>
  );
}

interface ButtonsProps extends Pick<PendingProps, "change" | "onSend"> {
  readonly grants: Readonly<Record<string, boolean>>;
  readonly reason: string;
  /** Why it cannot be approved yet. */
  readonly obstacle: string | undefined;
}

function Buttons({ change, onSend, grants, reason, obstacle }: ButtonsProps) {
  return (
    <div class="decide">
      <button
        class="btn danger big"
        type="button"
        disabled={change.isSending || reason === ""}
        onClick={() => void onSend("reject", { reason })}
      >
        Reject
      </button>
      <button
        class="btn primary big"
        type="button"
        aria-describedby="obstacle"
        disabled={change.isSending || obstacle !== undefined}
        onClick={() => void onSend("approve", { grants, ...(reason !== "" && { note: reason }) })}
      >
        Approve
      </button>
    </div>
  );
}

interface GrantProps {
  readonly id: string;
  readonly name: string;
  readonly effect: string | undefined;
  readonly answer: boolean | undefined;
  readonly onAnswer: (isGranted: boolean) => void;
}

function Grant({ id, name, effect, answer, onAnswer }: GrantProps) {
  return (
    <fieldset class="grant-choice">
      <legend class="small">
        <code class="strong">
          <Visible text={name} />
        </code>{" "}
        {effect !== undefined && <span class="muted">{effect}</span>}
      </legend>
      {([true, false] as const).map((isGranted) => (
        <label key={String(isGranted)} class="check">
          <input type="radio" name={id} checked={answer === isGranted} onChange={() => onAnswer(isGranted)} />
          {isGranted ? "Grant" : "Refuse"}
        </label>
      ))}
    </fieldset>
  );
}

interface WithdrawalProps {
  readonly change: SentChange;
  readonly isFrozen: boolean;
  readonly onSend: Send;
  readonly onPlain: (what: string) => Promise<void>;
}

function Withdrawal({ change, isFrozen, onSend, onPlain }: WithdrawalProps) {
  const [reason, setReason] = useState("");
  const more = reason.trim() === "" ? {} : { reason: reason.trim() };
  return (
    <>
      <TextField
        label="Reason"
        hint="Optional; the ledger keeps it."
        value={reason}
        onText={setReason}
        maxLength={1000}
      />
      <div class="row">
        <button
          class="btn danger"
          type="button"
          disabled={change.isSending}
          onClick={() => void onSend("revoke", more)}
        >
          Revoke
        </button>
        <button class="btn" type="button" disabled={change.isSending} onClick={() => void onSend("retire", more)}>
          Retire
        </button>
        {isFrozen && (
          <>
            <button class="btn" type="button" disabled={change.isSending} onClick={() => void onPlain("thaw")}>
              Accept its tools as they are
            </button>
            <button class="btn" type="button" disabled={change.isSending} onClick={() => void onPlain("restore")}>
              Write its files again
            </button>
          </>
        )}
      </div>
      <p class="small muted">Both refuse every further call, also of programs that run now.</p>
    </>
  );
}
