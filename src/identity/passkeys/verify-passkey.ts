/** What WebAuthn asks of a browser, and whether an answer fits, through `@simplewebauthn/server`. */

import { timingSafeEqual } from "node:crypto";

import type {
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from "@simplewebauthn/server";

import type { PrincipalId } from "../../domain/index.ts";
import type { IdentityPowers, StoredPasskey } from "../powers.ts";

import type { NewPasskeyAnswer, UsedPasskeyAnswer } from "./passkey-answers.ts";

/** Where passkeys count. */
export interface PasskeyPlace {
  /** A name of a host. */
  readonly rpId: string;
  /** The address of the page, as browsers name it. */
  readonly pageOrigin: string;
}

type Known = Pick<StoredPasskey, "id" | "transports">;

const NAME = "Glovebox";
/** EdDSA, ES256 and RS256, which all devices have one of. */
const ALGORITHMS = [-8, -7, -257];
const MAX_TRANSPORTS = 10;
const TRANSPORT = /^[a-z-]{1,20}$/;

interface PasskeyVerifier {
  describeNew(place: PasskeyPlace, request: NewRequest): Promise<PublicKeyCredentialCreationOptionsJSON>;
  /** Returns what is stored of it, and `undefined` if it does not fit. */
  checkNew(
    place: PasskeyPlace,
    answer: NewPasskeyAnswer,
    challenge: string,
  ): Promise<Pick<StoredPasskey, "counter" | "id" | "publicKey" | "transports"> | undefined>;
  describeUse(
    place: PasskeyPlace,
    request: Pick<NewRequest, "challenge" | "known">,
  ): Promise<PublicKeyCredentialRequestOptionsJSON>;
  checkUse(place: PasskeyPlace, use: PasskeyUse): Promise<{ readonly counter: number; readonly problem?: string }>;
}

interface NewRequest {
  readonly principal: PrincipalId;
  readonly name: string;
  readonly challenge: Uint8Array;
  /** Those that the person has. */
  readonly known: readonly Known[];
}

interface PasskeyUse {
  readonly answer: UsedPasskeyAnswer;
  readonly challenge: string;
  readonly row: StoredPasskey;
}

type ToHandle = (principal: PrincipalId) => Uint8Array<ArrayBuffer>;

/** Loads the package at its first use. */
const load = () => import("@simplewebauthn/server");

export function createVerifier({ digestFor }: Pick<IdentityPowers, "digestFor">): PasskeyVerifier {
  const digest = digestFor("handles of passkeys");
  /** What a device stores of the person: no name. */
  const toHandle: ToHandle = (principal) => Uint8Array.from(digest(principal));
  return { ...createNewChecks(toHandle), ...createUseChecks(toHandle) };
}

function toList(known: readonly Known[]) {
  return known.map(({ id, transports }) => ({ id, transports: [...transports] }));
}

function createNewChecks(toHandle: ToHandle): Pick<PasskeyVerifier, "checkNew" | "describeNew"> {
  return {
    async describeNew({ rpId }, { principal, name, challenge, known }) {
      const { generateRegistrationOptions } = await load();
      return generateRegistrationOptions({
        rpName: NAME,
        rpID: rpId,
        userName: name,
        userID: toHandle(principal),
        challenge: Uint8Array.from(challenge),
        attestationType: "none",
        supportedAlgorithmIDs: ALGORITHMS,
        excludeCredentials: toList(known),
        authenticatorSelection: { residentKey: "required", requireResidentKey: true, userVerification: "required" },
      });
    },
    async checkNew({ rpId, pageOrigin }, answer, challenge) {
      const { verifyRegistrationResponse } = await load();
      const { transports = [], ...response } = answer.response;
      try {
        const { registrationInfo } = await verifyRegistrationResponse({
          response: { ...answer, response, clientExtensionResults: {} },
          expectedChallenge: challenge,
          expectedOrigin: pageOrigin,
          expectedRPID: rpId,
          requireUserVerification: true,
          supportedAlgorithmIDs: ALGORITHMS,
        });
        if (!registrationInfo) return undefined;
        const { id, publicKey, counter } = registrationInfo.credential;
        const kept = transports.filter((one) => TRANSPORT.test(one)).slice(0, MAX_TRANSPORTS);
        return { id, publicKey, counter, transports: kept };
      } catch {
        return undefined;
      }
    },
  };
}

function createUseChecks(toHandle: ToHandle): Pick<PasskeyVerifier, "checkUse" | "describeUse"> {
  return {
    async describeUse({ rpId }, { challenge, known }) {
      const { generateAuthenticationOptions } = await load();
      return generateAuthenticationOptions({
        rpID: rpId,
        challenge: Uint8Array.from(challenge),
        allowCredentials: toList(known),
        userVerification: "required",
      });
    },
    async checkUse({ rpId, pageOrigin }, { answer, challenge, row }) {
      const { verifyAuthenticationResponse } = await load();
      const { userHandle, ...response } = answer.response;
      const wrong = { counter: row.counter, problem: "not valid" };
      const handle = userHandle === undefined ? undefined : Buffer.from(userHandle, "base64url");
      if (handle && !isSame(handle, toHandle(row.principal))) return wrong;
      try {
        const { verified, authenticationInfo } = await verifyAuthenticationResponse({
          response: { ...answer, response, clientExtensionResults: {} },
          expectedChallenge: challenge,
          expectedOrigin: pageOrigin,
          expectedRPID: rpId,
          // The counter is compared where it is stored, so that two processes do not accept one value.
          credential: { id: row.id, publicKey: Uint8Array.from(row.publicKey), counter: 0 },
          requireUserVerification: true,
        });
        return verified ? { counter: authenticationInfo.newCounter } : wrong;
      } catch {
        return wrong;
      }
    },
  };
}

function isSame(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && timingSafeEqual(one, other);
}
