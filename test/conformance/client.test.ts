/**
 * The client side of the official conformance suite, in both eras: our connector against the suite's own servers.
 * What is expected to fail is listed with its reason. Scenarios of authorization are left out: there is no OAuth
 * towards upstreams.
 */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, test } from "node:test";

const SUITE = fileURLToPath(
  new URL("../../node_modules/@modelcontextprotocol/conformance/dist/index.js", import.meta.url),
);
const CLIENT = fileURLToPath(new URL("client-command.ts", import.meta.url));

const NOBODY_TO_ASK = "a server that asks something while a tool runs is refused, because there is nobody to ask yet";

/** Scenario, revision, and why it fails if it is expected to. */
const SCENARIOS: readonly (readonly [name: string, revision: string, failure?: string])[] = [
  ["initialize", "2025-11-25"],
  ["tools_call", "2025-11-25"],
  ["sse-retry", "2025-11-25"],
  ["json-schema-2020-12-preservation", "2025-11-25"],
  ["elicitation-sep1034-client-defaults", "2025-11-25", NOBODY_TO_ASK],
  ["tools_call", "2026-07-28"],
  ["request-metadata", "2026-07-28"],
  ["http-standard-headers", "2026-07-28"],
  ["http-custom-headers", "2026-07-28"],
  ["http-invalid-tool-headers", "2026-07-28"],
  ["json-schema-ref-no-deref", "2026-07-28"],
  ["json-schema-2020-12-preservation", "2026-07-28"],
  ["sep-2322-client-request-state", "2026-07-28", NOBODY_TO_ASK],
];

interface Ending {
  readonly passed: boolean;
  readonly output: string;
}

function runSuite(args: readonly string[]): Promise<Ending> {
  return new Promise((resolve) => {
    execFile(process.execPath, [SUITE, ...args], { timeout: 60_000 }, (error, stdout, stderr) =>
      resolve({ passed: error === null, output: `${stdout}${stderr}` }),
    );
  });
}

test("the list has every scenario of the suite for the two revisions, but for authorization", async () => {
  const { output } = await runSuite(["list"]);
  const clients = output.slice(output.indexOf("Client scenarios"), output.indexOf("Authorization server scenarios"));
  const found = [...clients.matchAll(/^ {2}- (\S+) \[([^\]]*)\]$/gm)]
    .map(([, name = "", revisions = ""]) => ({ name, revisions: revisions.split(",") }))
    .filter(({ name, revisions }) => !name.startsWith("auth/") && !revisions.includes("extension"))
    .flatMap(({ name, revisions }) => revisions.filter((one) => one >= "2025-11-25").map((one) => `${name} ${one}`));
  assert.deepEqual(SCENARIOS.map(([name, revision]) => `${name} ${revision}`).toSorted(), found.toSorted());
});

describe("the connector in the official suite", { concurrency: 2 }, () => {
  for (const [name, revision, failure] of SCENARIOS) {
    test(`${name}, ${revision}${failure === undefined ? "" : `, fails: ${failure}`}`, async () => {
      const command = `${process.execPath} ${CLIENT}`;
      const args = ["client", "--command", command, "--scenario", name, "--spec-version", revision];
      const { passed, output } = await runSuite(args);
      assert.equal(passed, failure === undefined, output);
      assert.match(output, /Passed: \d+\/\d+/);
    });
  }
});
