/** What each setting of `sandbox.secrets` changes: what the bound host receives. */

import { openSecretGateway } from "../fixtures/secret-gateway.ts";
import type { SecretGateway } from "../fixtures/secret-gateway.ts";
import { compare, outcomeOf } from "../fixtures/observe-settings.ts";

const VALUE = "observed-value-31415";
const CODE = `
  const found = Object.keys(secrets).includes("KEY");
  if (!found) return "no secret";
  await fetch(input, { method: "POST", headers: { "x-key": secrets["KEY"] }, body: secrets["KEY"] });
  return "sent"`;

/** The parts of the request that had the value when it arrived, or why there was none. */
async function observe(toGrant: (gateway: SecretGateway) => object): Promise<unknown> {
  await using gateway = await openSecretGateway();
  await gateway.setSecret("KEY", VALUE);
  const KEY = { hosts: [gateway.boundHost.hostAndPort], ...toGrant(gateway) };
  await using glovebox = await gateway.open("isolate", { secrets: { KEY } });
  const said = outcomeOf(
    await glovebox.execute({ code: CODE, input: `http://${gateway.boundHost.hostAndPort}/plain` }),
  );
  const [arrived] = gateway.boundHost.requests;
  if (!arrived) return said;
  return [arrived.headers["x-key"] === VALUE && "header", arrived.body === VALUE && "body"].filter(Boolean).join();
}

const compareGrants = (
  one: (gateway: SecretGateway) => object,
  two: (gateway: SecretGateway) => object,
  outcomes: readonly [unknown, unknown],
): (() => Promise<void>) => compare((grant) => observe(grant as typeof one), [one, outcomes[0]], [two, outcomes[1]]);

/** Keyed by setting path. */
export const SECRET_OBSERVATIONS: Readonly<Record<string, () => Promise<void>>> = {
  "sandbox.secrets.*.hosts": compareGrants(
    ({ otherHost: other }) => ({ hosts: [other.hostAndPort] }),
    ({ boundHost: bound }) => ({ hosts: [bound.hostAndPort] }),
    ["", "header"],
  ),
  "sandbox.secrets.*.in": compareGrants(
    () => ({ in: ["header"] }),
    () => ({ in: ["body"] }),
    ["header", "body"],
  ),
  "sandbox.secrets.*.principals": compareGrants(
    () => ({ principals: ["another"] }),
    () => ({ principals: ["library"] }),
    ["no secret", "header"],
  ),
};
