/** Tools that a server lists and that are not offered yet, and the sentences that describe them. */

import type { ConnectorId, Digest, Instant, ToolAddress } from "./ids.ts";

/** Whether a new definition is accepted at first use, or only by an operator. A changed one always needs an operator. */
export type PinMode = "first-use" | "approve";

/** `new`: never accepted. `changed`: differs from what was accepted. `unrecorded`: the store could not be used. */
export type WithheldReason = "new" | "changed" | "unrecorded";

export interface WithheldTool {
  /** The address it has once it is accepted. */
  readonly address: ToolAddress;
  readonly connector: ConnectorId;
  readonly remoteName: string;
  readonly why: WithheldReason;
}

/** A changed definition of a tool that waits for an operator. */
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

/** Names that are safe to copy into a shell command; for others the address is used. */
const PLAIN = /^[A-Za-z0-9_@:./][A-Za-z0-9_@:./-]{0,63}$/;

/** Explains why a program cannot call a tool, with the command that changes this; a model can only pass it on. */
export function describeWithheld(tool: WithheldTool): { readonly message: string; readonly hint: string } {
  const message = `${tool.address} is withheld: ${REASONS[tool.why]}`;
  if (tool.why === "unrecorded") return { message, hint: "The store must be readable and writable; tell the operator" };
  const name = PLAIN.test(tool.remoteName) ? tool.remoteName : tool.address.slice(tool.address.indexOf(".") + 1);
  return {
    message,
    hint: `An operator can review and accept it: ${serverCommand("approve", tool.connector)} ${name}`,
  };
}

/** The command that an operator runs about one server: `approve` accepts withheld tools, `login` connects an account. */
export function serverCommand(verb: "approve" | "login", connector: ConnectorId): string {
  return `glovebox servers ${verb} ${PLAIN.test(connector) ? connector : JSON.stringify(connector)}`;
}
