/** What the settings of `server.oauth` change. */

import { parseSettings } from "../../src/config/index.ts";
import { openEgress } from "../../src/egress/index.ts";
import { openTestIdentity } from "../../src/identity/fixtures/open-test-identity.ts";
import { RESOURCE, openTestIssuer } from "../../src/identity/fixtures/test-issuer.ts";
import { OPERATOR } from "../../src/identity/index.ts";
import { runNode } from "../../src/surfaces/admin/run-node.ts";
import { compare } from "../fixtures/observe-settings.ts";

type Issuer = Awaited<ReturnType<typeof openTestIssuer>>;

/** The agent that a token makes, or `undefined`. The settings are made for the issuer. */
const observe =
  (sign: (issuer: Issuer) => Promise<string>) =>
  async (toExternal: unknown): Promise<unknown> => {
    const at = 1_800_000_000_000;
    await using issuer = await openTestIssuer(() => at);
    await using egress = openEgress();
    const external = typeof toExternal === "function" ? (toExternal(issuer) as object) : {};
    const oauth = { external: { issuer: issuer.issuer, algorithm: "ES256", ...external } };
    const { server } = parseSettings({ server: { oauth } }, { folder: "/" }, {});
    await using room = await openTestIdentity({ egress, ...server.oauth });
    room.clock.now = at;
    await room.identity.people.add("ada", ["agent"], OPERATOR);
    const verified = await room.identity
      .verify({ text: await sign(issuer), origin: "", resource: RESOURCE })
      .catch((thrown: unknown) => ({ principal: { id: Object(thrown).code } }));
    return verified?.principal.id;
  };

const AGENT = "agent:ada/cli";

type OpenServer = NonNullable<Awaited<ReturnType<typeof openTestIdentity>>["identity"]["openAuthorization"]>;

/** What the built-in server does for a client. */
const observeOwn =
  (ask: (server: ReturnType<OpenServer> | undefined) => Promise<unknown>) =>
  async (oauth: unknown): Promise<unknown> => {
    await using egress = openEgress();
    const { server } = parseSettings({ server: { oauth } }, { folder: "/" }, {});
    await using room = await openTestIdentity({ egress, ...server.oauth });
    await room.identity.people.add("ada", ["agent"], OPERATOR);
    const url = new URL(RESOURCE).origin;
    return await ask(room.identity.openAuthorization?.({ url, pageUrl: () => url, runNode, report: () => undefined }));
  };

const readMetadata = (key: string) => observeOwn(async (server) => Object(await server?.describe())[key] as unknown);

/** 303 asks the person, 400 refuses the client. */
const startLogin = observeOwn(async (server) => {
  const url = new URL("/oauth/authorize", RESOURCE);
  const query = {
    client_id: "cli",
    redirect_uri: "http://127.0.0.1:5000/",
    response_type: "code",
    code_challenge: "c",
  };
  const challenge = { code_challenge: "c".repeat(43), code_challenge_method: "S256" };
  url.search = new URLSearchParams({ ...query, ...challenge }).toString();
  const answer = await server?.handle({ method: "GET", url: url.href, headers: new Headers(), body: "", origin: "" });
  return answer?.status;
});

export const OAUTH_OBSERVATIONS = {
  "server.oauth.builtIn": compare(
    observeOwn(async (server) => server !== undefined),
    [{ builtIn: true }, true],
    [{ builtIn: false }, false],
  ),
  "server.oauth.clients.*.redirectUris": compare(
    startLogin,
    [{ clients: { cli: { redirectUris: ["http://127.0.0.1/"] } } }, 303],
    [{ clients: { cli: { redirectUris: ["http://127.0.0.1/other"] } } }, 400],
  ),
  "server.oauth.registration": compare(
    readMetadata("registration_endpoint"),
    [{ registration: true }, "https://gloves.example/oauth/register"],
    [{ registration: false }, undefined],
  ),
  "server.oauth.clientDocuments": compare(
    readMetadata("client_id_metadata_document_supported"),
    [{ clientDocuments: true }, true],
    [{ clientDocuments: false }, false],
  ),
  "server.oauth.external.issuer": compare(
    observe((issuer) => issuer.sign()),
    [({ issuer }: Issuer) => ({ issuer: issuer.replace("127.0.0.1", "localhost") }), "UPSTREAM_UNREACHABLE"],
    [() => ({}), AGENT],
  ),
  "server.oauth.external.audience": compare(
    observe((issuer) => issuer.sign({ claims: { aud: "gloves" } })),
    [() => ({ audience: "gloves" }), AGENT],
    [() => ({}), undefined],
  ),
  "server.oauth.external.algorithm": compare(
    observe((issuer) => issuer.sign()),
    [() => ({ algorithm: "ES256" }), AGENT],
    [() => ({ algorithm: "RS256" }), undefined],
  ),
  "server.oauth.external.jwksUri": compare(
    observe((issuer) => {
      issuer.state.metadata = {};
      return issuer.sign();
    }),
    [({ issuer }: Issuer) => ({ jwksUri: `${issuer}/jwks` }), AGENT],
    [() => ({}), "UPSTREAM_UNREACHABLE"],
  ),
  "server.oauth.external.personClaim": compare(
    observe((issuer) => issuer.sign({ claims: { sub: "17", email: "ada" } })),
    [() => ({ personClaim: "email" }), AGENT],
    [() => ({}), "REQUEST_FORBIDDEN"],
  ),
  "server.oauth.external.clockToleranceSeconds": compare(
    observe((issuer) => issuer.sign({ claims: { exp: 1_799_999_950 } })),
    [() => ({ clockToleranceSeconds: 60 }), AGENT],
    [() => ({}), undefined],
  ),
};
