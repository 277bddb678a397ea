/** What the settings of `server.oidc` change, observed at a provider that tells what a test wants. */

import { parseSettings } from "../../src/config/index.ts";
import { openEgress } from "../../src/egress/index.ts";
import { openTestIdentity } from "../../src/identity/fixtures/open-test-identity.ts";
import { CLIENT_ID, openTestProvider } from "../../src/identity/fixtures/test-provider.ts";
import { compare } from "../fixtures/observe-settings.ts";

type Room = Awaited<ReturnType<typeof openTestIdentity>>;
type Provider = Awaited<ReturnType<typeof openTestProvider>>;
type Providers = NonNullable<Room["identity"]["providers"]>;

const PAGE = "http://127.0.0.1:4747";
const PERSON = { sub: "17", preferred_username: "ada", nickname: "eve", groups: ["admins"], teams: ["staff"] };

/** With one provider, whose settings are changed. */
const observe =
  (look: (providers: Providers, provider: Provider, room: Room) => Promise<unknown>) =>
  async (changed: unknown): Promise<unknown> => {
    const now = { at: () => 0 };
    await using provider = await openTestProvider(() => now.at());
    await using egress = openEgress();
    const roles = { admins: ["operator"], staff: ["agent"] };
    const company = { issuer: provider.issuer, clientId: CLIENT_ID, roles, ...Object(changed) };
    const { server } = parseSettings({ server: { oidc: { company } } }, { folder: "/" }, {});
    await using room = await openTestIdentity({ egress }, server.oidc);
    now.at = () => room.clock.now;
    const { providers } = room.identity;
    if (!providers) throw new TypeError("The provider was not opened");
    return await look(providers, provider, room);
  };

const start = (providers: Providers) =>
  providers.start("company", { pageUrl: PAGE, origin: "", next: PAGE, isStepUp: false });

const readQuery = (name: string) =>
  observe(async (providers) => new URL((await start(providers)).url).searchParams.get(name));

/** The principal and its roles, or the code of a refusal. */
async function logIn(providers: Providers, provider: Provider, { identity }: Room): Promise<unknown> {
  try {
    const { url, secret } = await start(providers);
    const query = provider.logIn(url, PERSON).search;
    const { opened } = await providers.finish("company", { pageUrl: PAGE, origin: "", query, secret });
    const { id, roles = [] } = (await identity.sessions.find(opened.secret, ""))?.principal ?? { id: "" };
    return `${id} ${roles.join()}`;
  } catch (thrown) {
    return Object(thrown).code;
  }
}

const ADA = "person:ada operator";

export const OIDC_OBSERVATIONS = {
  "server.oidc.*.issuer": compare(
    async (isRight) =>
      observe(async (providers, provider, room) => {
        if (isRight !== true) provider.lies.metadata = { issuer: `${provider.issuer}/tenant` };
        return logIn(providers, provider, room);
      })({}),
    [true, ADA],
    [false, "REQUEST_UNAUTHENTICATED"],
  ),
  "server.oidc.*.clientId": compare(readQuery("client_id"), [{}, CLIENT_ID], [{ clientId: "other" }, "other"]),
  "server.oidc.*.clientSecret": compare(
    observe(async (providers, provider, room) => {
      await logIn(providers, provider, room);
      return [...provider.seen.credentials];
    }),
    [{ clientSecret: "one" }, [`Basic ${btoa(`${CLIENT_ID}:one`)}`]],
    [{ clientSecret: "${secret:TWO}" }, [`Basic ${btoa(`${CLIENT_ID}:lent+secret`)}`]],
  ),
  "server.oidc.*.title": compare(
    observe(async (providers) => providers.list()),
    [{ title: "Company" }, [{ name: "company", title: "Company" }]],
    [{}, [{ name: "company", title: "company" }]],
  ),
  "server.oidc.*.scopes": compare(
    readQuery("scope"),
    [{ scopes: ["groups"] }, "openid groups"],
    [{}, "openid profile email"],
  ),
  "server.oidc.*.nameClaim": compare(observe(logIn), [{ nameClaim: "nickname" }, "person:eve operator"], [{}, ADA]),
  "server.oidc.*.groupsClaim": compare(observe(logIn), [{ groupsClaim: "teams" }, "person:ada agent"], [{}, ADA]),
  "server.oidc.*.roles": compare(
    observe(logIn),
    [{ roles: { others: ["operator"] } }, "REQUEST_FORBIDDEN"],
    [{ roles: { admins: ["reviewer"] } }, "person:ada reviewer"],
  ),
};
