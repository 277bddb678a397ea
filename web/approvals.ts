/** The calls that wait for approval and the questions of servers, with what a reviewer needs and the decisions. */

import type { ApprovalsAnswer } from "../src/surfaces/admin/contract.ts";
import { describeEvidence } from "../src/surfaces/describe-evidence.ts";
import { DESCRIBED_SCOPES } from "../src/surfaces/describe-scope.ts";
import type { DecidedScope } from "../src/surfaces/describe-scope.ts";
import { toPlainJson, toVisible } from "../src/text/escape-hidden.ts";
import type { Api } from "./api.ts";
import { element } from "./element.ts";

type ListedApproval = ApprovalsAnswer["approvals"][number];
type DeciderApi = Pick<Api, "decide" | "proposeRule">;

/** The approval that the address names; `undefined` for the whole page. */
export function findNamed(path: string): string | undefined {
  return /^\/approvals\/((?:ap|ir)_[0-9a-f]{24})$/.exec(path)?.[1];
}

/** `onDecided` is called after each attempt, with the message of a refusal. */
export function renderApprovals(
  approvals: readonly ListedApproval[],
  api: DeciderApi,
  onDecided: (problem?: string) => void,
): readonly HTMLElement[] {
  if (approvals.length === 0) return [element("p", { class: "empty" }, "No call waits for approval.")];
  return approvals.map((approval) => renderApproval(approval, api, onDecided));
}

function renderApproval(approval: ListedApproval, api: DeciderApi, onDecided: (problem?: string) => void): HTMLElement {
  const { id, tool, effect, reason, state, decidedBy = "", labels } = approval;
  const decided = element("p", {}, `It was ${state}${decidedBy && ` by ${decidedBy}`}.`);
  const article = element(
    "article",
    { "aria-label": isQuestion(approval) ? `Input request ${id}` : `Approval ${id}` },
    element("p", {}, element("span", { class: "name" }, tool), ` (${effect}) · ${id}`),
    element("p", {}, toVisible(reason)),
    ...labels.map(({ label, tool: source }) => element("p", {}, `It has read ${label} data (${source}).`)),
    ...renderContent(approval),
    ...renderEvidence(approval),
  );
  article.append(...(state === "pending" ? renderDecision(approval, api, onDecided) : [decided]));
  return article;
}

/** A server asks for input during a call. */
function isQuestion({ id }: ListedApproval): boolean {
  return id.startsWith("ir_");
}

/** It asks to open an address, which has no fields. */
function isAddress({ args }: ListedApproval): boolean {
  return typeof args === "object" && args !== null && "mode" in args && args.mode === "url";
}

function renderContent(approval: ListedApproval): readonly HTMLElement[] {
  const { id, args, argsShown } = approval;
  const title = isQuestion(approval) ? "The server asks (its own text):" : "Arguments:";
  const content = [element("p", { class: "muted" }, title), element("pre", {}, toPlainJson(args, 2))];
  if (argsShown === undefined) return content;
  const whole = element("a", {}, "Show all of it");
  whole.href = `/approvals/${id}`;
  const more = argsShown === "beginning" ? whole : `Not shown (${argsShown}). See glovebox approvals show ${id}`;
  return [...content, element("p", {}, more)];
}

function renderEvidence({ evidence }: ListedApproval): readonly HTMLElement[] {
  if (!evidence) return [];
  const lines = describeEvidence(evidence).map((line) => element("li", {}, toVisible(line)));
  return [
    element("p", { class: "muted" }, "Evidence from replays with other data; it proves nothing by itself:"),
    element("ul", { class: "evidence", "aria-label": "Evidence" }, ...lines),
  ];
}

/** An approval needs the whole arguments. The fields of a server's form are asked for at the command line. */
function renderDecision(
  approval: ListedApproval,
  api: DeciderApi,
  onDecided: (problem?: string) => void,
): readonly HTMLElement[] {
  const { id, argsShown } = approval;
  const send = async (verdict: "approve" | "reject", scope?: DecidedScope): Promise<void> => {
    const buttons = [approve, reject].map((button) => ({ button, wasDisabled: button.disabled }));
    for (const { button } of buttons) button.disabled = true;
    try {
      await api.decide(id, verdict, scope);
      onDecided();
    } catch (thrown) {
      for (const { button, wasDisabled } of buttons) button.disabled = wasDisabled;
      onDecided(toMessage(thrown));
    }
  };
  const scopes = createScopes();
  const rule = element("div", { "aria-live": "polite" });
  const approve = createButton("Approve", () => void send("approve", readScope(scopes)));
  const reject = createButton(isQuestion(approval) ? "Decline" : "Reject", () => void send("reject"));
  scopes.addEventListener("change", () => void showRule(id, api, { scopes, rule, approve }));
  if (isQuestion(approval)) {
    const command = element("code", {}, `glovebox answer ${id}`);
    const answer = element("p", {}, "Answer it on the machine of the gateway: ", command);
    approve.textContent = "I have opened the address";
    return isAddress(approval) ? [element("p", {}, approve, reject)] : [answer, element("p", {}, reject)];
  }
  if (argsShown !== undefined) return [element("p", {}, reject)];
  const label = element("label", {}, "Approve for ", scopes);
  return [element("p", {}, label), rule, element("p", {}, approve, reject)];
}

interface ScopeChoice {
  readonly scopes: HTMLSelectElement;
  readonly rule: HTMLElement;
  readonly approve: HTMLButtonElement;
}

/** A decision for good can only be made once its rule is shown. */
async function showRule(id: string, api: DeciderApi, { scopes, rule, approve }: ScopeChoice): Promise<void> {
  const scope = readScope(scopes);
  const isAlways = scope === "always-tool" || scope === "always-arguments";
  rule.replaceChildren();
  approve.textContent = isAlways ? "Approve and add this rule" : "Approve";
  approve.disabled = isAlways;
  if (!isAlways) return;
  const shown = await api.proposeRule(id, scope).then(
    (proposed) => [
      element("p", {}, `This rule is added to ${toVisible(proposed.file)}:`),
      element("pre", { "aria-label": "Rule" }, toPlainJson(proposed.rule, 2)),
    ],
    (thrown: unknown) => [element("p", { class: "cause" }, toMessage(thrown))],
  );
  if (readScope(scopes) !== scope) return; // another one was chosen meanwhile
  rule.replaceChildren(...shown);
  approve.disabled = shown.length < 2;
}

function createScopes(): HTMLSelectElement {
  const options = Object.entries(DESCRIBED_SCOPES).map(([scope, text]) => {
    const option = element("option", {}, text);
    option.value = scope;
    return option;
  });
  return element("select", {}, ...options);
}

function readScope({ value }: HTMLSelectElement): DecidedScope {
  return Object.keys(DESCRIBED_SCOPES).find((scope): scope is DecidedScope => scope === value) ?? "call";
}

function toMessage(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : "The decision was not stored.";
}

function createButton(name: string, onClick: () => void): HTMLButtonElement {
  const button = element("button", {}, name);
  button.type = "button";
  button.addEventListener("click", onClick);
  return button;
}
