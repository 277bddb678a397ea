/** What people behind MCP clients are asked and answer, where the operator lets clients pass such questions on. */

import type { Settings } from "./config/index.ts";
import { GloveboxError, mapTexts, parsePrincipalId } from "./domain/index.ts";
import type { Approval, Json, Principal, Seal } from "./domain/index.ts";
import type { Approvals } from "./policy/index.ts";
import type { Questions } from "./surfaces/index.ts";
import { mask } from "./host-powers.ts";

interface QuestionParts {
  readonly approvals: Pick<Approvals, "waiting" | "find" | "decide">;
  readonly seal: Pick<Seal, "close" | "open">;
}

/** Nothing when `approvals.elicitation` is off. */
export function openQuestions({ approvals: settings }: Settings, parts: QuestionParts): Questions | undefined {
  if (!settings.elicitation) return undefined;
  const { approvals, seal } = parts;
  return {
    async waiting(principal, execution) {
      const waiting = await approvals.waiting(execution);
      return waiting.filter((head) => head.principal === principal.id).map(({ id }) => id);
    },
    async find(principal, id) {
      const found = await approvals.find(id);
      return found?.principal === principal.id && found.state === "pending" ? hideInApproval(found) : undefined;
    },
    async answer(principal, id, choice) {
      const found = await approvals.find(id);
      if (found?.principal !== principal.id) {
        throw new GloveboxError("REQUEST_NOT_FOUND", `There is no approval ${id}`, {
          hint: "It is not yours to decide",
        });
      }
      await approvals.decide(id, choice, personBehind(principal));
    },
    close: (principal, kept) =>
      Buffer.from(seal.close(JSON.stringify(kept), contextOf(principal))).toString("base64url"),
    open: (principal, sealed) => parseKept(seal.open(Buffer.from(sealed, "base64url"), contextOf(principal))),
  };
}

/** Records say that it was a client who passed the answer on. */
function personBehind({ id }: Principal): Principal {
  const name = parsePrincipalId(`elicitation:${id}`.slice(0, MOST_NAME));
  if (!name) throw new TypeError("A principal has no proper name");
  return { id: name, kind: "operator", groups: [] };
}

const MOST_NAME = 256;

function contextOf({ id }: Principal): string {
  return `mcp.round ${id}`;
}

function hideInApproval(approval: Approval): Approval {
  return { ...approval, args: mapTexts(approval.args, mask.hide), reason: mask.hide(approval.reason) };
}

/** Closed by `close`. */
function parseKept(text: string): Json {
  return JSON.parse(text) as Json;
}
