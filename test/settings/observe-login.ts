/** What each setting of a login changes, observed with a real authorization server. */

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import { parseSettings } from "../../src/config/index.ts";
import type { PendingLogin } from "../../src/connectors/login/begin-login.ts";
import { GloveboxError, parseConnectorId } from "../../src/domain/index.ts";
import { openOperatorRecords } from "../../src/open-records.ts";
import { compare } from "../fixtures/observe-settings.ts";
import type { Case } from "../fixtures/observe-settings.ts";
import { CLIENT, openLoginProvider } from "../fixtures/login-provider.ts";
import type { LoginProvider } from "../fixtures/login-provider.ts";

const DOCUMENT = "https://operator.example/glovebox.json";

type Look = (begun: PendingLogin, provider: LoginProvider) => unknown;

/** Begins a login with each of two settings; a refusal is observed as its code. */
function compareLogins(look: Look, make: (provider: LoginProvider) => readonly [Case, Case]): () => Promise<void> {
  return async () => {
    await using provider = await openLoginProvider();
    const observe = async (oauth: unknown): Promise<unknown> => {
      const config = { mcpServers: { notes: { url: provider.url, oauth } }, store: { url: "sqlite::memory:" } };
      await using records = await openOperatorRecords(parseSettings(config, { folder: process.cwd() }, {}));
      const id = parseConnectorId("notes");
      if (!id) throw new TypeError("A constant of this file is malformed");
      try {
        const request = { scopes: [], redirectUri: "http://127.0.0.1:1/callback", state: "s" };
        return await look(await records.logins.begin(id, request), provider);
      } catch (thrown) {
        return thrown instanceof GloveboxError ? thrown.code : thrown;
      }
    };
    await compare(observe, ...make(provider))();
  };
}

const parameter =
  (name: string): Look =>
  ({ authorizationUrl }) =>
    authorizationUrl.searchParams.get(name);

/** Whether the redirect of the person becomes a login. */
const finish: Look = async (begun, provider) => {
  const { searchParams } = await provider.agree(begun.authorizationUrl);
  return (await begun.finish(searchParams)).client.id;
};

/** An authorization server that supports client metadata documents, up to the first page of a login. */
async function compareDocuments(): Promise<void> {
  const server = createServer((_, response) =>
    response.end(
      JSON.stringify({
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        response_types_supported: ["code"],
        code_challenge_methods_supported: ["S256"],
        client_id_metadata_document_supported: true,
      }),
    ),
  );
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const grants = [new URL(issuer).host];
  try {
    await compareLogins(parameter("client_id"), (provider) => {
      provider.resource = { ...provider.resource, authorization_servers: [issuer] };
      return [
        [{ grants, clientMetadataUrl: DOCUMENT }, DOCUMENT],
        [{ grants }, "UPSTREAM_AUTH_REQUIRED"],
      ];
    })();
  } finally {
    server.close().closeAllConnections();
  }
}

/** Keyed by setting path. */
export const LOGIN_OBSERVATIONS: Readonly<Record<string, () => Promise<void>>> = {
  "mcpServers.*.oauth.clientId": compareLogins(
    (begun) => begun.authorizationUrl.searchParams.get("client_id") === CLIENT.id,
    ({ hostAndPort: place }) => [
      [{ grants: [place], clientId: CLIENT.id }, true],
      [{ grants: [place] }, false],
    ],
  ),
  "mcpServers.*.oauth.clientSecret": compareLogins(finish, ({ hostAndPort: place }) => [
    [{ grants: [place], clientId: CLIENT.id, clientSecret: CLIENT.secret }, CLIENT.id],
    [{ grants: [place], clientId: CLIENT.id, clientSecret: "another" }, "UPSTREAM_AUTH_REQUIRED"],
  ]),
  "mcpServers.*.oauth.clientMetadataUrl": compareDocuments,
  "mcpServers.*.oauth.scopes": compareLogins(parameter("scope"), ({ hostAndPort: place }) => [
    [{ grants: [place], scopes: ["notes:write"] }, "notes:write offline_access"],
    [{ grants: [place] }, "notes:read offline_access"],
  ]),
  "mcpServers.*.oauth.grants": compareLogins(parameter("response_type"), ({ hostAndPort: place }) => [
    [{ grants: [place] }, "code"],
    [{ grants: [] }, "EGRESS_DENIED"],
  ]),
};
