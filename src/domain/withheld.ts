/** A tool that its server lists and that is not offered yet, and the sentences that say so everywhere. */

import type { ConnectorId, Digest, Instant, ToolAddress } from "./ids.ts";

/** Whether a definition is accepted at first sight, or only by a person. A changed one always needs a person. */
export type PinMode = "first-use" | "approve";

/** `new` was never accepted, `changed` is not what was accepted, `unrecorded` could not be looked up or written down. */
export type WithheldReason = "new" | "changed" | "unrecorded";

export interface WithheldTool {
  /** What a program would write, once it is accepted. */
  readonly address: ToolAddress;
  readonly connector: ConnectorId;
  readonly remoteName: string;
  readonly why: WithheldReason;
}

/** What a server says of a tool in the place of the definition that was accepted; it waits for an operator. */
export interface HeldChange {
  readonly server: ConnectorId;
  readonly definition: Digest;
  readonly seenAt: Instant;
}

const REASONS: Readonly<Record<WithheldReason, string>> = {
  new: "no operator has approved it yet",
  changed: "its definition changed since it was accepted",
  unrecorded: "its definition could not be checked against the store",
};

/** Long and strange names are left to the address: the command must be safe to copy into a shell. */
const PLAIN = /^[A-Za-z0-9_@:./][A-Za-z0-9_@:./-]{0,63}$/;

/** Why a program cannot call it, and the one command that changes this; a model can only pass it on. */
export function describeWithheld(tool: WithheldTool): { readonly message: string; readonly hint: string } {
  const message = `${tool.address} is withheld: ${REASONS[tool.why]}`;
  if (tool.why === "unrecorded")
    return { message, hint: "An operator must make the store readable and writable again" };
  const name = PLAIN.test(tool.remoteName) ? tool.remoteName : tool.address.slice(tool.address.indexOf(".") + 1);
  return {
    message,
    hint: `An operator can compare and accept it: ${serverCommand("approve", tool.connector)} ${name}`,
  };
}

/** The command that an operator runs about one server: `approve` accepts withheld tools, `login` connects an account. */
export function serverCommand(verb: "approve" | "login", connector: ConnectorId): string {
  return `glovebox servers ${verb} ${PLAIN.test(connector) ? connector : JSON.stringify(connector)}`;
}
