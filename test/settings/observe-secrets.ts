/** What each setting of `sandbox.secrets` changes: what the bound host receives. */

import { openLendingWorld } from "../canary/fixtures/lending-world.ts";
import type { LendingWorld } from "../canary/fixtures/lending-world.ts";
import { compare, outcomeOf } from "./observe.ts";

const VALUE = "observed-value-31415";
const CODE = `
  const found = Object.keys(secrets).includes("KEY");
  if (!found) return "no secret";
  await fetch(input, { method: "POST", headers: { "x-key": secrets["KEY"] }, body: secrets["KEY"] });
  return "sent"`;

/** Which parts of the request had the value when it arrived, or why there was none. */
async function observe(toGrant: (world: LendingWorld) => object): Promise<unknown> {
  await using world = await openLendingWorld();
  await world.set("KEY", VALUE);
  const KEY = { hosts: [world.bound.place], ...toGrant(world) };
  await using glovebox = await world.open("isolate", { secrets: { KEY } });
  const said = outcomeOf(await glovebox.execute({ code: CODE, input: `http://${world.bound.place}/plain` }));
  const [arrived] = world.bound.arrived;
  if (!arrived) return said;
  return [arrived.headers["x-key"] === VALUE && "header", arrived.body === VALUE && "body"].filter(Boolean).join();
}

const compareGrants = (
  one: (world: LendingWorld) => object,
  two: (world: LendingWorld) => object,
  outcomes: readonly [unknown, unknown],
): (() => Promise<void>) => compare((grant) => observe(grant as typeof one), [one, outcomes[0]], [two, outcomes[1]]);

/** By the path of the setting. */
export const SECRET_OBSERVATIONS: Readonly<Record<string, () => Promise<void>>> = {
  "sandbox.secrets.*.hosts": compareGrants(
    ({ other }) => ({ hosts: [other.place] }),
    ({ bound }) => ({ hosts: [bound.place] }),
    ["", "header"],
  ),
  "sandbox.secrets.*.in": compareGrants(
    () => ({ in: ["header"] }),
    () => ({ in: ["body"] }),
    ["header", "body"],
  ),
  "sandbox.secrets.*.principals": compareGrants(
    () => ({ principals: ["somebody"] }),
    () => ({ principals: ["library"] }),
    ["no secret", "header"],
  ),
};
