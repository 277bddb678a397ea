/** The calls that wait for approval, with the two decisions about one call. The command line offers the wider scopes. */

import type { ApprovalsAnswer } from "../src/surfaces/admin/contract.ts";
import { toPlainJson, toVisible } from "../src/text/escape-hidden.ts";
import type { Api } from "./api.ts";
import { element } from "./element.ts";

type ListedApproval = ApprovalsAnswer["approvals"][number];

/** The approval that the address names; `undefined` for the whole page. */
export function findNamed(path: string): string | undefined {
  return /^\/approvals\/((?:ap|ir)_[0-9a-f]{24})$/.exec(path)?.[1];
}

/** `onDecided` is called after each attempt, with the message of a refusal. */
export function renderApprovals(
  approvals: readonly ListedApproval[],
  api: Pick<Api, "decide">,
  onDecided: (problem?: string) => void,
): readonly HTMLElement[] {
  if (approvals.length === 0) return [element("p", { class: "empty" }, "No call waits for approval.")];
  return approvals.map((approval) => renderApproval(approval, api, onDecided));
}

function renderApproval(
  { id, tool, effect, reason, args, argsShown, state, decidedBy = "", labels }: ListedApproval,
  api: Pick<Api, "decide">,
  onDecided: (problem?: string) => void,
): HTMLElement {
  const decide = (verdict: "approve" | "reject") => (): void => {
    for (const button of buttons) button.disabled = true;
    api.decide(id, verdict).then(
      () => onDecided(),
      (thrown: unknown) => {
        for (const button of buttons) button.disabled = false;
        onDecided(thrown instanceof Error ? thrown.message : "The decision was not stored.");
      },
    );
  };
  const buttons = [createButton("Approve", decide("approve")), createButton("Reject", decide("reject"))];
  const isPending = state === "pending";
  // An approval needs the whole arguments.
  const offered = argsShown === undefined ? buttons : buttons.slice(1);
  const more = argsShown === undefined ? [] : [element("p", {}, `To see all of it: glovebox approvals show ${id}`)];
  return element(
    "article",
    { "aria-label": `Approval ${id}` },
    element("p", {}, element("span", { class: "name" }, tool), ` (${effect}) · ${id}`),
    element("p", {}, toVisible(reason)),
    ...labels.map(({ label, tool: source }) => element("p", {}, `It has read ${label} data (${source}).`)),
    element("pre", {}, toPlainJson(args, 2)),
    ...more,
    isPending ? element("p", {}, ...offered) : element("p", {}, `It was ${state}${decidedBy && ` by ${decidedBy}`}.`),
  );
}

function createButton(name: string, onClick: () => void): HTMLButtonElement {
  const button = element("button", {}, name);
  button.type = "button";
  button.addEventListener("click", onClick);
  return button;
}
