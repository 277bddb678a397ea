/** An input request: an upstream asks the person behind a call (MCP elicitation) while the call is under way. */

import type { ApprovalId } from "./ids.ts";
import type { JsonObject } from "./json.ts";

/** The parts of an input request, for types. */
export interface InputRequest {
  /** Checked and bounded; the texts are the server's, cleaned. `schema` is an object of plain fields. */
  readonly question:
    | { readonly mode: "form"; readonly server: string; readonly message: string; readonly schema: JsonObject }
    | { readonly mode: "url"; readonly server: string; readonly message: string; readonly url: string };
  /** The values of a form, by field. */
  readonly content: Readonly<Record<string, string | number | boolean | readonly string[]>>;
  /** `cancel`: no person has decided. Only `accept` of a form has content. */
  readonly answer: {
    readonly action: "accept" | "decline" | "cancel";
    readonly content?: InputRequest["content"];
  };
  /** `canRepeat` is true when the call can be made again from its start, with the same answer. */
  readonly ask: (question: InputRequest["question"], canRepeat: boolean) => Promise<InputRequest["answer"]>;
}

/** An input request is in the same queue as approvals, under an id of its own kind. */
export function isInputRequest(id: ApprovalId): boolean {
  return id.startsWith("ir_");
}
