/** The approvals that an MCP client may show to its person and answer for them, if the operator allows it. */

import { GloveboxError, defined, isInputRequest, parsePrincipalId } from "../../domain/index.ts";
import type { Approval, ApprovalId, ExecutionId, Json, Principal, Seal } from "../../domain/index.ts";

import { redactApproval } from "../../text/index.ts";

import type { DutySettings } from "./duties.ts";
import type { ApprovalChoice, Approvals } from "./open-approvals.ts";

/** Every method sees the approvals of the given principal only. */
export interface ClientApprovals {
  /** Returns the pending approvals of an execution, oldest first. Cheap enough to be polled. */
  waiting(principal: Principal, execution: ExecutionId): Promise<readonly ApprovalId[]>;
  /** Returns what the person is shown, without secrets; `undefined` if the principal cannot decide it. */
  find(principal: Principal, id: ApprovalId): Promise<Approval | undefined>;
  /** Decides in the name of the person behind the principal. REQUEST_NOT_FOUND for another principal's approval. */
  answer(principal: Principal, id: ApprovalId, choice: ApprovalChoice): Promise<void>;
  /** Seals state that a client keeps between two requests: only `open` can read it, for the same principal. */
  close(principal: Principal, state: Json): string;
  /** Throws for anything that `close` did not return for this principal. */
  open(principal: Principal, sealed: string): Json;
}

export interface ClientApprovalsOptions {
  readonly approvals: Pick<Approvals, "waiting" | "find" | "decide">;
  readonly seal: Pick<Seal, "close" | "open">;
  readonly hide: (text: string) => string;
  readonly isEnabled: boolean;
  readonly duties?: Pick<DutySettings, "fourEyes" | "separate">;
  /**
   * True for clients on the machine of the local user, who may decide everything there. The person behind another client
   * decides on the page: a client can answer its own form, and neither a role nor a recent login would be needed.
   */
  readonly isLocal: (principal: Principal) => boolean;
}

const MAX_NAME_LENGTH = 256;

/** Returns `undefined` if the operator does not allow it. */
export function createClientApprovals(options: ClientApprovalsOptions): ClientApprovals | undefined {
  const { approvals, seal, hide, isEnabled, duties, isLocal } = options;
  // With separated duties the person behind a client must not decide.
  if (!isEnabled || duties?.separate === true) return undefined;
  // An answer to a server decides nothing about the client.
  const mayAnswer = (principal: Principal, id: ApprovalId): boolean => isInputRequest(id) || isLocal(principal);
  return {
    async waiting(principal, execution) {
      const waiting = await approvals.waiting(execution);
      return waiting.filter((head) => head.principal === principal.id).map(({ id }) => id);
    },
    async find(principal, id) {
      const found = await approvals.find(id);
      if (found?.principal !== principal.id || found.state !== "pending" || !mayAnswer(principal, id)) return undefined;
      // A service has no person at a client, and a form cannot show that a second person is needed.
      if (principal.kind === "service" || (duties?.fourEyes === true && found.effect === "destroy")) return undefined;
      return redactApproval(found, hide);
    },
    async answer(principal, id, choice) {
      const found = await approvals.find(id);
      if (found?.principal !== principal.id) {
        throw new GloveboxError("REQUEST_NOT_FOUND", `The approval ${id} does not exist`, {
          hint: "Only the principal of the program can decide it",
        });
      }
      if (!mayAnswer(principal, id)) throw notHere(principal);
      await approvals.decide(id, choice, personBehind(principal));
    },
    close: (principal, state) =>
      Buffer.from(seal.close(JSON.stringify(state), contextOf(principal))).toString("base64url"),
    open: (principal, sealed) => trustState(seal.open(Buffer.from(sealed, "base64url"), contextOf(principal))),
  };
}

function notHere({ id }: Principal): GloveboxError {
  return new GloveboxError("POLICY_DENIED", `The client of ${id} cannot decide an approval`, {
    hint: "A reviewer or an operator decides on the page, or with `glovebox approve` or `glovebox reject`",
  });
}

/** Records show that a client passed the answer on. */
function personBehind({ id, person }: Principal): Principal {
  const name = parsePrincipalId(`elicitation:${id}`.slice(0, MAX_NAME_LENGTH));
  if (!name) throw new TypeError("A principal has an invalid name");
  return { id: name, kind: "person", roles: ["reviewer"], groups: [], ...defined({ person }) };
}

function contextOf({ id }: Principal): string {
  return `mcp.round ${id}`;
}

/** The seal proves that `close` wrote it. */
function trustState(text: string): Json {
  return JSON.parse(text);
}
