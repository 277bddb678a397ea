/** What the settings about approvals do. */

import { GloveboxError, isJsonObject, parsePrincipalId } from "../../src/domain/index.ts";
import type { Principal } from "../../src/domain/index.ts";
import { parseSettings } from "../../src/config/index.ts";
import { ask, withQueue } from "./approval-world.ts";
import { compare } from "./observe.ts";

/** Whether a question can still be decided a moment after it was asked. */
const decideLater = async (config: unknown): Promise<unknown> => {
  const whole = { store: { url: "sqlite::memory:" }, ...(isJsonObject(config) && config) };
  const settings = parseSettings(whole, { folder: "/" }, {});
  return withQueue(settings, async (queue) => {
    const [asked] = await ask(queue, { args: [{}] });
    const id = parsePrincipalId("operator");
    if (!asked || !id) throw new TypeError("Nothing was asked");
    const operator: Principal = { id, kind: "operator", groups: [] };
    while (Date.now() <= asked.createdAt + 1) await new Promise((done) => setTimeout(done, 1));
    return queue.approvals.decide(asked.id, { verdict: "approve" }, operator).then(
      ({ state }) => state,
      (thrown: unknown) => (thrown instanceof GloveboxError ? thrown.code : thrown),
    );
  });
};

export const APPROVAL_OBSERVATIONS = {
  "approvals.expiryMs": compare(decideLater, [{ approvals: { expiryMs: 1 } }, "REQUEST_CONFLICT"], [{}, "approved"]),
};
