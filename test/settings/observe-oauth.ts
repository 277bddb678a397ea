/** What the settings of `server.oauth` change. */

import { parseSettings } from "../../src/config/index.ts";
import { openEgress } from "../../src/egress/index.ts";
import { openTestIdentity } from "../../src/identity/fixtures/open-test-identity.ts";
import { RESOURCE, openTestIssuer } from "../../src/identity/fixtures/test-issuer.ts";
import { OPERATOR } from "../../src/identity/index.ts";
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

export const OAUTH_OBSERVATIONS = {
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
