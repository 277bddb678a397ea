/** What the settings of `profiles` change for a token that has the profile. */

import { parseSettings } from "../../src/config/index.ts";
import { defineAdapter } from "../../src/connectors/index.ts";
import { OPERATOR } from "../../src/identity/index.ts";
import { openGateway } from "../../src/open-gateway.ts";
import { compare } from "../fixtures/observe-settings.ts";

const tool = (effect: "read" | "write") => ({
  description: "Returns 1.",
  input: { type: "object" },
  effect,
  run: () => 1,
});
const adapters = ["desk", "shelf"].map((name) =>
  defineAdapter({ name, tools: { look: tool("read"), put: tool("write") } }),
);

/** What became of each call, in order. A program does not see a server that is not allowed. */
const PROGRAM = `return [
  typeof desk === "undefined" ? "hidden" : await desk.look({}).catch((error) => error.code),
  typeof desk === "undefined" ? "hidden" : await desk.put({}).catch((error) => error.code),
  typeof shelf === "undefined" ? "hidden" : await shelf.look({}).catch((error) => error.code),
]`;

/** What a token with this profile does: once, and then once more. */
const observe = async (profile: unknown): Promise<unknown> => {
  const raw = { adapters, analysis: { types: "off" }, profiles: { own: profile }, store: { url: "sqlite::memory:" } };
  await using gateway = await openGateway(parseSettings(raw, { folder: "/" }, {}), { lasting: true });
  const { tokens } = gateway.identity;
  const { token } = await tokens.create({ name: "ci", scopes: ["execute"], profile: "own" }, OPERATOR);
  const principal = (await tokens.verify(token, ""))?.principal;
  if (!principal) throw new Error("The token is not valid");
  const first = await gateway.execute({ principal, source: PROGRAM });
  const second = await gateway.execute({ principal, source: "return 2" });
  return [...(Array.isArray(first.value) ? first.value : [first.error?.code]), second.value ?? second.error?.code];
};

const NO = "POLICY_DENIED";

export const PROFILE_OBSERVATIONS = {
  "profiles.*.servers": compare(
    observe,
    [{ servers: ["desk"] }, [1, 1, "hidden", 2]],
    [{}, ["hidden", "hidden", "hidden", 2]],
  ),
  "profiles.*.tools": compare(observe, [{ tools: ["*.look"] }, [1, NO, 1, 2]], [{ tools: ["desk.*"] }, [1, 1, NO, 2]]),
  "profiles.*.effects": compare(
    observe,
    [{ servers: ["desk", "shelf"], effects: ["read"] }, [1, NO, 1, 2]],
    [{ servers: ["desk", "shelf"] }, [1, 1, 1, 2]],
  ),
  "profiles.*.executionsPerMinute": compare(
    observe,
    [{ servers: ["desk"], executionsPerMinute: 1 }, [1, 1, "hidden", "LIMIT_QUOTA"]],
    [{ servers: ["desk"], executionsPerMinute: 2 }, [1, 1, "hidden", 2]],
  ),
};
