/**
 * The client side of the official conformance suite, in both protocol eras: our connector against the suite's own
 * servers. Expected failures are listed with their reasons.
 */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";

import { openRelay } from "./open-relay.ts";

const SUITE = fileURLToPath(
  new URL("../../node_modules/@modelcontextprotocol/conformance/dist/index.js", import.meta.url),
);
/** A client waits until the scenarios before it have ended. */
const CLIENT_TIMEOUT_MS = "240000";

const NO_ELICITATION = "the connector refuses a server that elicits input while a tool runs";

/** Scenario, revision, and the reason for an expected failure. */
const SCENARIOS: readonly (readonly [name: string, revision: string, failure?: string])[] = [
  ["initialize", "2025-11-25"],
  ["tools_call", "2025-11-25"],
  ["sse-retry", "2025-11-25"],
  ["json-schema-2020-12-preservation", "2025-11-25"],
  ["elicitation-sep1034-client-defaults", "2025-11-25", NO_ELICITATION],
  ["tools_call", "2026-07-28"],
  ["request-metadata", "2026-07-28"],
  ["http-standard-headers", "2026-07-28"],
  ["http-custom-headers", "2026-07-28"],
  ["http-invalid-tool-headers", "2026-07-28"],
  ["json-schema-ref-no-deref", "2026-07-28"],
  ["json-schema-2020-12-preservation", "2026-07-28"],
  ["sep-2322-client-request-state", "2026-07-28", NO_ELICITATION],
];

/** Login is the same in all revisions, so its scenarios run in the newest, which has the most. None may fail. */
const AUTH_REVISION = "2026-07-28";
const AUTH: typeof SCENARIOS = [
  "metadata-default",
  "metadata-var1",
  "metadata-var2",
  "metadata-var3",
  "basic-cimd",
  "scope-from-www-authenticate",
  "scope-from-scopes-supported",
  "scope-omitted-when-undefined",
  "scope-step-up",
  "scope-retry-limit",
  "token-endpoint-auth-basic",
  "token-endpoint-auth-post",
  "token-endpoint-auth-none",
  "pre-registration",
  "resource-mismatch",
  "offline-access-scope",
  "offline-access-not-supported",
  "authorization-server-migration",
  "iss-supported",
  "iss-not-advertised",
  "iss-supported-missing",
  "iss-wrong-issuer",
  "iss-unexpected",
  "iss-normalized",
  "metadata-issuer-mismatch",
].map((name) => [`auth/${name}`, AUTH_REVISION] as const);
/** Servers of the first revision with logins. */
const OLDEST_REVISION = "2025-03-26";
const OLDEST: typeof SCENARIOS = [
  ["auth/2025-03-26-oauth-metadata-backcompat", OLDEST_REVISION],
  [
    "auth/2025-03-26-oauth-endpoint-fallback",
    OLDEST_REVISION,
    "without any metadata the connector does not guess where to send a person and a code",
  ],
];
const ALL = [...SCENARIOS, ...AUTH, ...OLDEST];

/** Ways of other specifications to log in, which the connector does not have. */
const EXTENSIONS: Readonly<Record<string, string>> = {
  "auth/client-credentials-basic": "a service account is a header with a secret, or a login of a person",
  "auth/client-credentials-jwt": "as above, and with a key of the client",
  "auth/enterprise-managed-authorization": "a token of the company's provider is exchanged; each person has an account",
  "auth/wif-jwt-bearer": "a token of the platform is exchanged",
  "auth/dpop": "tokens that are bound to a key",
  "auth/dpop-nonce": "as above, with a nonce of the server",
};

/** Scenarios in which the suite lets the client fail, because it must refuse what the server does. */
const REFUSALS = new Set([
  "http-invalid-tool-headers",
  "auth/scope-retry-limit",
  "auth/resource-mismatch",
  "auth/iss-supported-missing",
  "auth/iss-wrong-issuer",
  "auth/iss-unexpected",
  "auth/iss-normalized",
  "auth/metadata-issuer-mismatch",
]);

interface Ending {
  readonly passed: boolean;
  readonly output: string;
}

function runSuite(args: readonly string[]): Promise<Ending> {
  return new Promise((resolve) => {
    execFile(process.execPath, [SUITE, ...args], { timeout: 300_000 }, (error, stdout, stderr) =>
      resolve({ passed: error === null, output: `${stdout}${stderr}` }),
    );
  });
}

test("the scenario list has every client scenario of the conformance suite for the two revisions", async () => {
  const { output } = await runSuite(["list"]);
  const clients = output.slice(output.indexOf("Client scenarios"), output.indexOf("Authorization server scenarios"));
  const found = [...clients.matchAll(/^ {2}- (\S+) \[([^\]]*)\]$/gm)]
    .map(([, name = "", revisions = ""]) => ({ name, revisions: revisions.split(",") }))
    .filter(({ revisions }) => !revisions.includes("extension"))
    .flatMap(({ name, revisions }) =>
      revisions
        .filter((one) => one >= (name.startsWith("auth/") ? AUTH_REVISION : "2025-11-25") || one === revisions.at(-1))
        .map((one) => `${name} ${one}`),
    );
  assert.deepEqual(ALL.map(([name, revision]) => `${name} ${revision}`).toSorted(), found.toSorted());
  const extensions = [...clients.matchAll(/^ {2}- (auth\/\S+) \[extension\]$/gm)].map(([, name = ""]) => name);
  assert.deepEqual(extensions.toSorted(), Object.keys(EXTENSIONS).toSorted());
});

/** Runs one scenario; the suite also fails if the client fails where it may not. */
async function runOne(name: string, revision: string): Promise<Ending> {
  await using relay = await openRelay();
  const args = ["--command", relay.command, "--scenario", name, "--spec-version", revision];
  const ending = await runSuite(["client", ...args, "--timeout", CLIENT_TIMEOUT_MS]);
  assert.match(ending.output, /Passed: \d+\/\d+/);
  return ending;
}

/** Runs every scenario of a revision in one process, which does not say whether a client failed. */
async function runAll(revision: string): Promise<ReadonlyMap<string, Ending>> {
  await using relay = await openRelay();
  const args = ["--command", relay.command, "--suite", "all", "--spec-version", revision, "--verbose"];
  const { output } = await runSuite(["client", ...args, "--timeout", CLIENT_TIMEOUT_MS]);
  const lines = [...output.matchAll(/^([✓✗]) (\S+): \d+ passed, \d+ failed/gm)];
  return new Map(
    lines.map(([, mark, name = ""]) => {
      const problem = relay.problems.get(name) ?? "the client did not end";
      const passed = mark === "✓" && (problem === "" || REFUSALS.has(name));
      return [name, { passed, output: `${problem}\n${output}` }];
    }),
  );
}

describe("the connector in the official conformance suite", () => {
  let newest: ReadonlyMap<string, Ending>;
  before(async () => {
    newest = await runAll(AUTH_REVISION);
  });

  for (const [name, revision, failure] of ALL) {
    test(`${name}, ${revision}${failure === undefined ? "" : `, fails: ${failure}`}`, async () => {
      const ending = revision === AUTH_REVISION ? newest.get(name) : await runOne(name, revision);
      assert.ok(ending, "the suite did not run the scenario");
      assert.equal(ending.passed, failure === undefined, ending.output);
    });
  }
});
