/** The JSON Schema for editors: it equals the shipped file, describes every key, and agrees with the checks. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { Validator } from "@cfworker/json-schema";

import { isJsonObject } from "../../domain/index.ts";
import type { Json, JsonObject } from "../../domain/index.ts";
import { createConfigSchema, parseSettings } from "../index.ts";
import { listSettingPaths } from "./setting-paths.ts";

test("glovebox.schema.json equals the generated schema", () => {
  const file: unknown = JSON.parse(readFileSync(new URL("../../../glovebox.schema.json", import.meta.url), "utf8"));
  assert.deepEqual(file, createConfigSchema());
});

test("every key of the schema has a description that ends with a period", () => {
  const bare: string[] = [];
  const walk = (node: Json | undefined, path: string): void => {
    if (!isJsonObject(node)) return;
    for (const [key, child] of Object.entries(node["properties"] ?? {})) {
      const description: unknown = isJsonObject(child) ? child["description"] : undefined;
      if (typeof description !== "string" || !description.endsWith(".")) bare.push(`${path}.${key}`);
      walk(child, `${path}.${key}`);
    }
    walk(node["additionalProperties"], `${path}.*`);
    walk(node["items"], `${path}[]`);
  };
  walk(createConfigSchema(), "");
  assert.deepEqual(bare, []);
});

test("listSettingPaths lists every setting", () => {
  assert.deepEqual(listSettingPaths(), [
    "adapters",
    "adapters[].module",
    "adapters[].networkPolicy.domains",
    "adapters[].networkPolicy.grants",
    "adapters[].networkPolicy.mode",
    "adapters[].pin",
    "adapters[].tools.*.networkPolicy.domains",
    "adapters[].tools.*.networkPolicy.grants",
    "adapters[].tools.*.networkPolicy.mode",
    "analysis.blockOnError",
    "analysis.enabled",
    "analysis.rules.max-source-size",
    "analysis.rules.no-dangerous-globals",
    "analysis.rules.no-dynamic-import",
    "analysis.rules.no-eval",
    "analysis.rules.no-external-import",
    "analysis.rules.no-infinite-loop",
    "analysis.rules.no-invisible-characters",
    "analysis.rules.no-nested-loops",
    "analysis.rules.no-prototype-pollution",
    "analysis.rules.no-tool-in-loop",
    "analysis.rules.no-unawaited-call",
    "analysis.rules.no-unhandled-async",
    "analysis.typeCheck",
    "analysis.types",
    "anomalies.enabled",
    "anomalies.webhook.secret",
    "anomalies.webhook.url",
    "approvals.elicitation",
    "approvals.evidenceMs",
    "approvals.evidenceRounds",
    "approvals.expiryMs",
    "approvals.fourEyes",
    "approvals.graceMs",
    "approvals.notify.desktop",
    "approvals.notify.webhook.format",
    "approvals.notify.webhook.secret",
    "approvals.notify.webhook.url",
    "approvals.separate",
    "approvals.showArguments",
    "audit.export[].headers",
    "audit.export[].kind",
    "audit.export[].path",
    "audit.export[].url",
    "audit.previews",
    "catalog.describeTokens",
    "catalog.learn",
    "catalog.searchTokens",
    "clients.patienceMs",
    "egress.networkPolicy.domains",
    "egress.networkPolicy.grants",
    "egress.networkPolicy.mode",
    "egress.proxy",
    "egress.proxyPassword",
    "egress.proxyUser",
    "executions.keepMs",
    "executions.totalBytes",
    "expose",
    "journal.executionBytes",
    "journal.keepMs",
    "journal.totalBytes",
    "ledger.retention.days",
    "ledger.retention.records",
    "mcpServers.*.args",
    "mcpServers.*.command",
    "mcpServers.*.confine",
    "mcpServers.*.cwd",
    "mcpServers.*.disabled",
    "mcpServers.*.env",
    "mcpServers.*.files.read",
    "mcpServers.*.files.write",
    "mcpServers.*.headers",
    "mcpServers.*.installScripts",
    "mcpServers.*.limits.memoryBytes",
    "mcpServers.*.limits.openFiles",
    "mcpServers.*.limits.processes",
    "mcpServers.*.networkPolicy.domains",
    "mcpServers.*.networkPolicy.grants",
    "mcpServers.*.networkPolicy.mode",
    "mcpServers.*.oauth.clientId",
    "mcpServers.*.oauth.clientMetadataUrl",
    "mcpServers.*.oauth.clientSecret",
    "mcpServers.*.oauth.grants",
    "mcpServers.*.oauth.scopes",
    "mcpServers.*.pin",
    "mcpServers.*.start",
    "mcpServers.*.startupTimeoutMs",
    "mcpServers.*.type",
    "mcpServers.*.url",
    "mcpServers.*.validate",
    "metrics.enabled",
    "openapi.*.auth",
    "openapi.*.baseUrl",
    "openapi.*.disabled",
    "openapi.*.document",
    "openapi.*.exclude",
    "openapi.*.headers",
    "openapi.*.include",
    "openapi.*.networkPolicy.domains",
    "openapi.*.networkPolicy.grants",
    "openapi.*.networkPolicy.mode",
    "openapi.*.pin",
    "openapi.*.startupTimeoutMs",
    "openapi.*.tools.*.networkPolicy.domains",
    "openapi.*.tools.*.networkPolicy.grants",
    "openapi.*.tools.*.networkPolicy.mode",
    "openapi.*.validate",
    "output.escapeHtml",
    "pin",
    "policy.effects",
    "policy.file",
    "policy.flows",
    "policy.groups",
    "policy.labelHours",
    "policy.labels[].add",
    "policy.labels[].remove",
    "policy.labels[].tools",
    "policy.profile",
    "policy.rules[].decision",
    "policy.rules[].effects",
    "policy.rules[].groups",
    "policy.rules[].id",
    "policy.rules[].principals",
    "policy.rules[].reason",
    "policy.rules[].servers",
    "policy.rules[].tools",
    "policy.rules[].when[].equals",
    "policy.rules[].when[].is",
    "policy.rules[].when[].matches",
    "policy.rules[].when[].max",
    "policy.rules[].when[].min",
    "policy.rules[].when[].missing",
    "policy.rules[].when[].not",
    "policy.rules[].when[].oneOf",
    "policy.rules[].when[].path",
    "policy.rules[].when[].prefix",
    "quotas.concurrentExecutions",
    "quotas.costPerDay",
    "quotas.executionMsPerHour",
    "quotas.executionsPerMinute",
    "quotas.prices",
    "quotas.rates[].calls",
    "quotas.rates[].per",
    "quotas.rates[].tools",
    "quotas.rates[].windowMs",
    "quotas.session.concurrentExecutions",
    "quotas.session.costPerDay",
    "quotas.session.executionMsPerHour",
    "quotas.session.executionsPerMinute",
    "quotas.total.concurrentExecutions",
    "quotas.total.costPerDay",
    "quotas.total.executionMsPerHour",
    "quotas.total.executionsPerMinute",
    "results.keepMs",
    "results.totalBytes",
    "sandbox.concurrency",
    "sandbox.engine",
    "sandbox.isolation",
    "sandbox.limits.argumentBytes",
    "sandbox.limits.callMs",
    "sandbox.limits.calls",
    "sandbox.limits.concurrentCalls",
    "sandbox.limits.cpuMs",
    "sandbox.limits.depth",
    "sandbox.limits.hostMs",
    "sandbox.limits.memoryBytes",
    "sandbox.limits.outputBytes",
    "sandbox.limits.resultBytes",
    "sandbox.limits.sourceBytes",
    "sandbox.limits.wallMs",
    "sandbox.networkPolicy.domains",
    "sandbox.networkPolicy.grants",
    "sandbox.networkPolicy.mode",
    "sandbox.queue",
    "sandbox.secrets.*.hosts",
    "sandbox.secrets.*.in",
    "sandbox.secrets.*.principals",
    "server.admin.host",
    "server.admin.port",
    "server.allowedHosts",
    "server.auth",
    "server.host",
    "server.oauth.external.algorithm",
    "server.oauth.external.audience",
    "server.oauth.external.clockToleranceSeconds",
    "server.oauth.external.issuer",
    "server.oauth.external.jwksUri",
    "server.oauth.external.personClaim",
    "server.port",
    "server.proxyToken",
    "server.publicUrl",
    "server.sessions.stepUpMinutes",
    "server.tls.cert",
    "server.tls.key",
    "server.trustedProxies",
    "store.durability",
    "store.minFreeBytes",
    "store.url",
    "traces.enabled",
    "traces.endpoint",
    "traces.headers",
  ]);
});

test("the JSON Schema and parseSettings accept and refuse the same configurations", () => {
  const good: readonly JsonObject[] = [
    {},
    { $schema: "x", mcpServers: { a: { command: "a", args: ["b"], env: { A: "1" } }, b: { url: "https://h/" } } },
    { server: { host: "${HOST:-127.0.0.1}" }, store: { url: "${STORE:-sqlite::memory:}" } },
    { sandbox: { engine: "quickjs" } },
    { sandbox: { engine: "workerd" } },
    { policy: { profile: "open", rules: [{ decision: "ask", tools: ["a.*"], effects: ["write"] }] } },
    { policy: { rules: [{ decision: "deny", when: [{ path: "a[*]", equals: null }] }], effects: { "a.*": "read" } } },
    { quotas: { costPerDay: 0.5, rates: [{ tools: ["a.*"], calls: 1 }], prices: { "*": 0.1 } } },
  ];
  const bad: readonly JsonObject[] = [
    { quotas: { perDay: 1 } },
    { quotas: { costPerDay: -1 } },
    { policy: { rules: [{ decision: "deny", when: [{ equals: 1 }] }] } },
    { mcpServers: { a: {} } },
    { mcpServers: { a: { command: "a", url: "https://h/" } } },
    { mcpServers: { a: { command: "" } } },
    { mcpServers: { a: { type: "pigeon", url: "https://h/" } } },
    { sandbox: { engine: "eval" } },
    { sandbox: { limits: { calls: 0 } } },
    { analysis: { rules: { "no-eval": "info" } } },
    { policy: { rules: [{}] } },
    { server: { port: "4747" } },
  ];
  // The validator's own type of a schema is narrower than JSON; the text is the same.
  const validator = new Validator(JSON.parse(JSON.stringify(createConfigSchema())), "7");
  for (const config of good) {
    assert.equal(validator.validate(config).valid, true, JSON.stringify(config));
    assert.doesNotThrow(() => parseSettings(config, { folder: "/" }, {}));
  }
  for (const config of bad) {
    assert.equal(validator.validate(config).valid, false, JSON.stringify(config));
    assert.throws(() => parseSettings(config, { folder: "/" }, {}), { code: "CONFIG_INVALID" }, JSON.stringify(config));
  }
});
