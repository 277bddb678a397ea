/** The decision about one approval. The button waits for the ledger, then the page shows what was recorded. */

import { useEffect, useState } from "preact/hooks";

import { proposedRuleSchema } from "../../../src/surfaces/admin/contract.ts";
import { DESCRIBED_SCOPES } from "../../../src/surfaces/describe-scope.ts";
import type { DecidedScope } from "../../../src/surfaces/describe-scope.ts";
import { toPlainJson } from "../../../src/text/escape-hidden.ts";
import type { Api } from "../../api.ts";
import type { ListedApproval } from "../../page-props.ts";
import { takesKeys } from "../../shortcuts.ts";
import { Problem } from "../../parts/frame.tsx";
import { Command, Visible } from "../../parts/text.tsx";

interface DecisionProps {
  readonly approval: ListedApproval;
  readonly api: Pick<Api, "decide" | "read">;
  readonly onDecided: () => void;
}

/** A server asks for input during a call. */
export function isQuestion({ id }: ListedApproval): boolean {
  return id.startsWith("ir_");
}

export function Decision({ approval, api, onDecided }: DecisionProps) {
  const [scope, setScope] = useState<DecidedScope>("call");
  const [note, setNote] = useState("");
  const [isSending, setSending] = useState(false);
  const [problem, setProblem] = useState("");
  const rule = useRule(scope, approval, api);
  const send = (verdict: "approve" | "reject"): void => {
    setSending(true);
    setProblem("");
    const choice = { note: note === "" ? undefined : note, scope: verdict === "approve" ? scope : undefined };
    api
      .decide(approval.id, verdict, isQuestion(approval) ? {} : choice)
      .catch((error: unknown) => setProblem(error instanceof Error ? error.message : "The decision was not stored."))
      .finally(() => {
        setSending(false);
        onDecided();
      });
  };
  useShortcuts(setScope);
  if (approval.state !== "pending") return problem === "" ? null : <Lost problem={problem} />;
  const canApprove = approval.argsShown === undefined;
  return (
    <aside class="side" aria-label="Decision">
      <form class="decision" onSubmit={(event) => event.preventDefault()}>
        <h2>Decide</h2>
        <div class="body">
          {problem !== "" && <Problem message={problem} />}
          {isQuestion(approval) ? (
            <Answer approval={approval} />
          ) : (
            canApprove && <Scopes {...{ scope, setScope, rule }} />
          )}
          {!isQuestion(approval) && <Note {...{ note, setNote }} />}
        </div>
        <Buttons {...{ approval, canApprove, isSending, rule, send }} />
        <p class="hints small muted no-phone">
          <kbd>A</kbd> <kbd>R</kbd> then <kbd>Enter</kbd> decide, <kbd>N</kbd> note, <kbd>J</kbd> <kbd>K</kbd> next and
          previous. The first decision counts. The program reads your note, and can catch a rejection.
        </p>
      </form>
    </aside>
  );
}

/** Another person was faster. */
function Lost({ problem }: { readonly problem: string }) {
  return (
    <aside class="side" aria-label="Your decision">
      <Problem message={`${problem} Your decision was not recorded.`} />
    </aside>
  );
}

type ShownRule =
  | { readonly kind: "none" | "loading" }
  | { readonly kind: "rule"; readonly text: string; readonly file: string }
  | { readonly kind: "refused"; readonly message: string };

/** A decision for good can only be made once its rule is shown. */
function useRule(scope: DecidedScope, { id }: ListedApproval, api: DecisionProps["api"]): ShownRule {
  const isAlways = scope === "always-tool" || scope === "always-arguments";
  const [shown, setShown] = useState<ShownRule>({ kind: "none" });
  useEffect(() => {
    setShown({ kind: isAlways ? "loading" : "none" });
    if (!isAlways) return undefined;
    let isCurrent = true;
    const set = (next: ShownRule): void => void (isCurrent && setShown(next));
    api.read(proposedRuleSchema, `/api/approvals/${id}/rule`, { scope }).then(
      ({ rule, file }) => set({ kind: "rule", text: toPlainJson(rule, 2), file }),
      (error: unknown) => set({ kind: "refused", message: error instanceof Error ? error.message : "No rule." }),
    );
    return () => (isCurrent = false);
  }, [scope, id]);
  return shown;
}

const SCOPES: readonly (readonly [DecidedScope, string])[] = [
  ["call", "This call"],
  ["execution", "This execution"],
  ["session", "These arguments, this session"],
  ["session-tool", "This tool, this session"],
  ["always-arguments", "These arguments, always"],
  ["always-tool", "This tool, always"],
];

function Scopes(props: {
  readonly scope: DecidedScope;
  readonly setScope: (scope: DecidedScope) => void;
  readonly rule: ShownRule;
}) {
  const { scope, setScope, rule } = props;
  return (
    <fieldset class="options">
      <legend class="vh">Approve for</legend>
      {SCOPES.map(([value, name], index) => (
        <label key={value} class="option">
          <input type="radio" name="scope" checked={scope === value} onChange={() => setScope(value)} />
          <span>
            {name}
            <small>{DESCRIBED_SCOPES[value]}</small>
          </span>
          <kbd>{index + 1}</kbd>
        </label>
      ))}
      <div aria-live="polite">
        {rule.kind === "refused" && <p class="cause">{rule.message}</p>}
        {rule.kind === "rule" && (
          <>
            <div class="small soft">
              This rule is added to <Visible text={rule.file} />:
            </div>
            <pre class="rule" tabIndex={0} aria-label="Rule">
              {rule.text}
            </pre>
            <p class="small soft">No rule loosens the data-flow guard. `glovebox policy revoke` removes it.</p>
          </>
        )}
      </div>
    </fieldset>
  );
}

function Note({ note, setNote }: { readonly note: string; readonly setNote: (note: string) => void }) {
  return (
    <div class="field">
      <label for="note">
        Note <span class="muted">(optional; the program can read it, and the ledger keeps it)</span>
      </label>
      <textarea
        class="input"
        id="note"
        rows={2}
        placeholder="Reason, or what to do instead"
        value={note}
        onInput={(event) => setNote(event.currentTarget.value)}
      />
    </div>
  );
}

/** The fields of a server's form are asked for at the command line; an address is opened by the person. */
function Answer({ approval }: { readonly approval: ListedApproval }) {
  if (isAddress(approval)) return <p>Open the address above yourself, if you trust it, and then confirm.</p>;
  return (
    <>
      <p>Answer it on the machine of the gateway:</p>
      <Command text={`glovebox answer ${approval.id}`} />
    </>
  );
}

function isAddress({ args }: ListedApproval): boolean {
  return typeof args === "object" && args !== null && "mode" in args && args.mode === "url";
}

function Buttons(props: {
  readonly approval: ListedApproval;
  readonly canApprove: boolean;
  readonly isSending: boolean;
  readonly rule: ShownRule;
  readonly send: (verdict: "approve" | "reject") => void;
}) {
  const { approval, canApprove, isSending, rule, send } = props;
  const asks = isQuestion(approval);
  const isOffered = asks ? isAddress(approval) : canApprove;
  const approve = asks ? "I have opened the address" : rule.kind === "none" ? "Approve" : "Approve and add this rule";
  const isRuleMissing = rule.kind === "loading" || rule.kind === "refused";
  return (
    <div class="decide">
      <button id="reject" class="btn danger big" type="button" disabled={isSending} onClick={() => send("reject")}>
        {asks ? "Decline" : "Reject"}
      </button>
      {isOffered && (
        <button
          id="approve"
          class="btn primary big"
          type="button"
          disabled={isSending || isRuleMissing}
          onClick={() => send("approve")}
        >
          {approve}
        </button>
      )}
    </div>
  );
}

/** A digit chooses a scope; `A` and `R` choose a button, and `Enter` presses it. */
function useShortcuts(setScope: (scope: DecidedScope) => void): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (!takesKeys(event)) return;
      const chosen = SCOPES[Number(event.key) - 1];
      if (chosen) setScope(chosen[0]);
      const target = { a: "approve", r: "reject", n: "note" }[event.key];
      if (target === undefined) return;
      event.preventDefault();
      document.getElementById(target)?.focus();
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, []);
}
