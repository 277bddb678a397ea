/**
 * The client side of the official conformance suite, in both protocol eras: our connector against the suite's own
 * servers. Expected failures are listed with their reasons.
 */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";

import { build } from "esbuild";

const SUITE = fileURLToPath(
  new URL("../../node_modules/@modelcontextprotocol/conformance/dist/index.js", import.meta.url),
);
const folder = mkdtempSync(join(tmpdir(), "glovebox-conformance-"));
after(() => rmSync(folder, { recursive: true, force: true }));

/** The suite starts a client process per scenario, and a bundle starts in a third of the time of the sources. */
before(async () => {
  const entryPoints = ["client-command.ts", "auth-command.ts"].map((name) =>
    fileURLToPath(new URL(name, import.meta.url)),
  );
  await build({
    entryPoints,
    outdir: folder,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node24",
    logLevel: "error",
    banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' },
  });
});

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
const ALL = [...SCENARIOS, ...AUTH];

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

test("the scenario list has every client scenario of the conformance suite for the two revisions", async () => {
  const { output } = await runSuite(["list"]);
  const clients = output.slice(output.indexOf("Client scenarios"), output.indexOf("Authorization server scenarios"));
  const found = [...clients.matchAll(/^ {2}- (\S+) \[([^\]]*)\]$/gm)]
    .map(([, name = "", revisions = ""]) => ({ name, revisions: revisions.split(",") }))
    .filter(({ revisions }) => !revisions.includes("extension"))
    .flatMap(({ name, revisions }) =>
      revisions
        .filter((one) => one >= (name.startsWith("auth/") ? AUTH_REVISION : "2025-11-25"))
        .map((one) => `${name} ${one}`),
    );
  assert.deepEqual(ALL.map(([name, revision]) => `${name} ${revision}`).toSorted(), found.toSorted());
});

describe("the connector in the official conformance suite", { concurrency: 2 }, () => {
  for (const [name, revision, failure] of ALL) {
    test(`${name}, ${revision}${failure === undefined ? "" : `, fails: ${failure}`}`, async () => {
      const client = name.startsWith("auth/") ? "auth-command.mjs" : "client-command.mjs";
      const command = `${process.execPath} ${join(folder, client)}`;
      const args = ["client", "--command", command, "--scenario", name, "--spec-version", revision];
      const { passed, output } = await runSuite(args);
      assert.equal(passed, failure === undefined, output);
      assert.match(output, /Passed: \d+\/\d+/);
    });
  }
});
