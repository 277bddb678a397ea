/**
 * Chooses the OAuth client for an authorization server: configured, described by a metadata document, or registered
 * now.
 */

import { registerClient } from "@modelcontextprotocol/client";
import type { AuthorizationServerMetadata } from "@modelcontextprotocol/client";

import { defined } from "../../domain/index.ts";
import type { ConnectorId } from "../../domain/index.ts";
import type { FetchLike } from "../../egress/index.ts";
import { Secret } from "../../vault/index.ts";

import type { LoginClient } from "./login.ts";
import { loginRefused } from "./login-errors.ts";

/** What the operator configured. */
export interface ClientChoice {
  readonly clientId?: string;
  readonly clientSecret?: Secret;
  /** An https URL of the operator with a client ID metadata document. */
  readonly clientMetadataUrl?: string;
}

export interface ChooseOptions {
  readonly id: ConnectorId;
  readonly choice: ClientChoice;
  readonly metadata: AuthorizationServerMetadata;
  readonly redirectUri: string;
  readonly scope: string | undefined;
  readonly fetch: FetchLike;
}

/** Registers for one login only: the port of its callback differs each time. */
export async function chooseClient(options: ChooseOptions): Promise<LoginClient> {
  const { id, choice, metadata } = options;
  const { clientId, clientSecret, clientMetadataUrl } = choice;
  if (clientId !== undefined) return { id: clientId, ...defined({ secret: clientSecret }) };
  const takesDocument =
    "client_id_metadata_document_supported" in metadata && metadata.client_id_metadata_document_supported === true;
  if (takesDocument && clientMetadataUrl !== undefined) return { id: clientMetadataUrl, authMethod: "none" };
  if (metadata.registration_endpoint !== undefined) return register(options);
  const document = takesDocument ? ", or oauth.clientMetadataUrl" : "";
  throw loginRefused(
    id,
    "its authorization server does not support client registration",
    `Register a client there with the redirect URI http://127.0.0.1/callback, and set oauth.clientId${document}`,
  );
}

async function register({ metadata, redirectUri, scope, fetch }: ChooseOptions): Promise<LoginClient> {
  const method = chooseMethod(metadata.token_endpoint_auth_methods_supported);
  const registered = await registerClient(metadata.issuer, {
    metadata,
    clientMetadata: {
      client_name: "Glovebox",
      redirect_uris: [redirectUri],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      application_type: "native",
      ...defined({ token_endpoint_auth_method: method }),
    },
    ...defined({ scope }),
    fetchFn: fetch,
  });
  const { client_id: id, client_secret: secret, token_endpoint_auth_method: answered } = registered;
  const authMethod = answered ?? method;
  return { id, ...defined({ secret: secret === undefined ? undefined : new Secret(secret), authMethod }) };
}

/** A public client: a program on a user's machine cannot keep a client secret. */
const METHODS = ["none", "client_secret_basic", "client_secret_post"];

function chooseMethod(supported: readonly string[] | undefined): string | undefined {
  return METHODS.find((method) => supported?.includes(method));
}
