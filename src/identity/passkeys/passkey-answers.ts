/** What a browser answers about a passkey, as WebAuthn writes it in JSON; texts of bytes are base64url. */

import { isJsonObject, parseJson } from "../../domain/index.ts";

interface CredentialAnswer {
  readonly id: string;
  readonly rawId: string;
  readonly type: "public-key";
}

/** After a new one was made. */
export interface NewPasskeyAnswer extends CredentialAnswer {
  readonly response: {
    readonly clientDataJSON: string;
    readonly attestationObject: string;
    readonly transports?: readonly string[] | undefined;
  };
}

/** After one was used. */
export interface UsedPasskeyAnswer extends CredentialAnswer {
  readonly response: {
    readonly clientDataJSON: string;
    readonly authenticatorData: string;
    readonly signature: string;
    readonly userHandle?: string | undefined;
  };
}

/** Which request it answers; `undefined` for an answer that cannot be read. */
export function findChallenge(answer: NewPasskeyAnswer | UsedPasskeyAnswer): string | undefined {
  const data = parseJson(Buffer.from(answer.response.clientDataJSON, "base64url").toString("utf8"));
  const challenge = isJsonObject(data) ? data["challenge"] : undefined;
  return typeof challenge === "string" && challenge !== "" ? challenge : undefined;
}
