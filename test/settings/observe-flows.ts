/** What the settings of the data-flow guard change, for `test/settings/settings.test.ts`. */

import { compare, run } from "../fixtures/observe-settings.ts";

/** Reads with one tool of the probe and sends something of it with another. */
const FLOW = "const { argv } = await probe.about({}); return (await probe.echo({ n: argv.length })).n";
const EXTERNAL = { tools: ["probe.echo"], add: ["external"] };
const flows = (more: object, ...rules: readonly object[]): unknown => ({
  policy: { ...more, labels: [{ tools: ["probe.about"], add: ["private", "untrusted"] }, EXTERNAL, ...rules] },
});

export const FLOW_OBSERVATIONS: Readonly<Record<string, () => Promise<void>>> = {
  "policy.flows": compare(run(FLOW), [flows({ flows: "deny" }), "POLICY_DENIED"], [flows({ flows: "allow" }), 0]),
  "policy.labels[].add": compare(
    run(FLOW),
    [flows({}), "paused"],
    [{ policy: { labels: [{ tools: ["probe.about"], add: ["private"] }, EXTERNAL] } }, 0],
  ),
  "policy.labels[].remove": compare(
    run(FLOW),
    [flows({}), "paused"],
    [flows({}, { tools: ["probe.echo"], remove: ["external"] }), 0],
  ),
  "policy.labels[].tools": compare(
    run(FLOW),
    [flows({}, { tools: ["probe.*"], add: ["external"] }), "paused"],
    [flows({}, { tools: ["probe.*"], remove: ["external"] }), 0],
  ),
};
