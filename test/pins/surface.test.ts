/** Pins what others build on or must review: exports, production dependencies, environment variables, file sizes. */

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { parseSync } from "oxc-parser";

const MAX_LINES = 400;

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly optionalDependencies?: unknown;
}

interface Source {
  readonly file: string;
  readonly text: string;
}

function readSources(): readonly Source[] {
  return readdirSync("src", { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .map((file) => ({ file, text: readFileSync(join("src", file), "utf8") }));
}

const sources = readSources();
/** Shipped files, without tests and test fixtures. */
const shipped = sources.filter(({ file }) => !/\.(test|conformance)\.ts$|(^|\/)fixtures\//.test(file));

test("the package exports these names and no others", () => {
  const text = sources.find(({ file }) => file === "main.ts")?.text ?? "";
  const entries = parseSync("main.ts", text).module.staticExports.flatMap((one) => one.entries);
  const named = entries.map(({ exportName, isType }) => `${isType ? "type " : ""}${exportName.name ?? "?"}`);
  assert.deepEqual(named.toSorted(), [
    "GloveboxError",
    "createGlovebox",
    "defineAdapter",
    "defineConfig",
    "main",
    "replay",
    "type Adapter",
    "type AdapterContext",
    "type Approval",
    "type ErrorCode",
    "type ExecutionEvent",
    "type ExecutionResult",
    "type ExecutionView",
    "type Glovebox",
    "type GloveboxConfig",
    "type Json",
    "type LibraryEvent",
    "type LibraryRequest",
    "type Limits",
    "type McpFetchHandler",
    "type PublicError",
    "type ReplayOptions",
    "type Replayed",
  ]);
});

test("production has these dependencies, each at one exact version", () => {
  const { dependencies, optionalDependencies } = JSON.parse(readFileSync("package.json", "utf8")) as Manifest;
  assert.deepEqual(Object.keys(dependencies), ["typescript"]);
  // A package in `optionalDependencies` could bring a `node` that npm puts on the path of the user's project.
  assert.equal(optionalDependencies, undefined);
  const loose = Object.entries(dependencies).filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version));
  assert.deepEqual(loose, []);
});

test("every production dependency is imported somewhere", () => {
  const { dependencies } = JSON.parse(readFileSync("package.json", "utf8")) as Manifest;
  const isUsed = (name: string): boolean =>
    shipped.some(({ text }) => new RegExp(`from "${name}[/"]|\\("${name}/`).test(text));
  assert.deepEqual(
    Object.keys(dependencies).filter((name) => !isUsed(name)),
    [],
  );
});

test("these environment variables are read, each in one place", () => {
  const found = shipped.flatMap(({ file, text }) =>
    Array.from(text.matchAll(/process\.env\[([^\]]*)\]/g), ([, name]) => `${file} ${name}`),
  );
  assert.deepEqual(found.toSorted(), [
    'main.ts "GLOVEBOX_LAUNCHER"',
    'main.ts "GLOVEBOX_UNRESTRICTED_NETWORK"',
    'main.ts "XDG_CONFIG_HOME"',
    'main.ts "XDG_STATE_HOME"',
    'open-gateway.ts "OTEL_EXPORTER_OTLP_ENDPOINT"',
    'open-records.ts "GLOVEBOX_ENCRYPTION_KEY"',
    'open-records.ts "GLOVEBOX_NEW_ENCRYPTION_KEY"',
  ]);
});

test("only the composition root touches the environment as a whole", () => {
  const touching = shipped
    .filter(({ text }) => /\bprocess\.env\b|["']node:process["']/.test(text))
    .map(({ file }) => file);
  assert.deepEqual(touching.toSorted(), ["main.ts", "open-gateway.ts", "open-records.ts"]);
});

test("a secret becomes plain text in these files only, and the vault's index exports no way to read one", () => {
  const revealing = shipped.filter(({ text }) => text.includes(".reveal()")).map(({ file }) => file);
  assert.deepEqual(revealing.toSorted(), [
    "connectors/adapter/adapter-connector.ts",
    "connectors/create-borrowing-upstream.ts",
    "connectors/login/login-store.ts",
    "connectors/login/revoke-login.ts",
    "connectors/login/token-source.ts",
    "connectors/mcp/transport/authorize-fetch.ts",
    "connectors/resolve-templates.ts",
    "identity/providers/provider-client.ts",
    "vault/keys/rotate-key.ts",
    "vault/lending/fill-request.ts",
    "vault/lending/open-lending.ts",
    "vault/lending/program-secrets.ts",
    "vault/open-seal.ts",
    "vault/open-vault.ts",
    "vault/seal.ts",
  ]);
  const rooms = shipped.filter(({ file }) => file.startsWith("vault/"));
  const plain = rooms.filter(({ text }) =>
    /^export [^;{]*\): (Promise<)?(Readonly<)?(Record<string, )?string\b/m.test(text),
  );
  assert.deepEqual(plain, []);
});

test("text passes the mask of secrets in these files only: the door, the ways in, the ledger, and single strings", () => {
  const masking = shipped.filter(({ text }) => /\bhide(Own|Text|Bytes)?\(|, hide\)/.test(text)).map(({ file }) => file);
  assert.deepEqual(masking.toSorted(), [
    "bridge/dry-run.ts",
    "builtins/create-describe.ts",
    "catalog/search/search.ts",
    "connectors/adapter/adapter-connector.ts",
    "connectors/create-borrowing-upstream.ts",
    "connectors/hide-secrets.ts",
    "connectors/openapi/credentials.ts",
    "connectors/openapi/request/read-response.ts",
    "execution/execution-log.ts",
    "execution/replay/read-run.ts",
    "execution/replay/recording-file.ts",
    "execution/running-table.ts",
    "ledger/open-ledger.ts",
    "policy/approvals/always-rules.ts",
    "policy/approvals/client-approvals.ts",
    "policy/approvals/create-desk.ts",
    "text/clean-text.ts",
    "text/redact-secrets.ts",
    "vault/lending/open-lending.ts",
    "vault/lending/program-secrets.ts",
  ]);
});

test(`no file of src has more than ${MAX_LINES} lines`, () => {
  const long = sources
    .map(({ file, text }) => ({ file, lines: text.split("\n").length - 1 }))
    .filter(({ file, lines }) => lines > MAX_LINES && !file.endsWith(".generated.ts"));
  assert.deepEqual(long, []);
});
