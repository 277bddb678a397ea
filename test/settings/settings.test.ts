/**
 * Every setting changes behavior: for every path of the configuration's schema the product runs with two values, and
 * what can be observed differs as documented. A path without an observation fails.
 */

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { existsSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import type { TestContext } from "node:test";
import { setTimeout as wait } from "node:timers/promises";

import { listSettingPaths } from "../../src/config/schema/setting-paths.ts";
import {
  compare,
  findingsOf,
  isolation,
  outcomeOf,
  probeWith,
  refusalOf,
  run,
  runTwice,
  shareGlovebox,
  startUpstream,
  states,
  withGlovebox,
} from "../fixtures/observe-settings.ts";
import { API_OBSERVATIONS } from "./observe-apis.ts";
import { APPROVAL_OBSERVATIONS } from "./observe-approvals.ts";
import { CLIENT_OBSERVATIONS } from "./observe-clients.ts";
import { RULE_OBSERVATIONS } from "./observe-rules.ts";
import { FLOW_OBSERVATIONS } from "./observe-flows.ts";
import { JOURNAL_OBSERVATIONS } from "./observe-journal.ts";
import { LEDGER_OBSERVATIONS } from "./observe-ledger.ts";
import { LOGIN_OBSERVATIONS } from "./observe-login.ts";
import { QUOTA_OBSERVATIONS, policyObservations } from "./observe-policy.ts";
import { NOTIFY_OBSERVATIONS } from "./observe-notify.ts";
import { NETWORK_OBSERVATIONS } from "./observe-network.ts";
import { UPSTREAM_NETWORK_OBSERVATIONS } from "./observe-upstream-network.ts";
import { SKILL_OBSERVATIONS } from "./observe-skills.ts";
import { SECRET_OBSERVATIONS } from "./observe-secrets.ts";
import { OAUTH_OBSERVATIONS } from "./observe-oauth.ts";
import { PROFILE_OBSERVATIONS } from "./observe-profiles.ts";
import { OIDC_OBSERVATIONS } from "./observe-oidc.ts";
import { LISTEN_OBSERVATIONS } from "./observe-server.ts";
import { SERVED_OBSERVATIONS } from "./observe-served.ts";
import { SERVER_OBSERVATIONS } from "./observe-servers.ts";
import { TELEMETRY_OBSERVATIONS } from "./observe-telemetry.ts";

const MIB = 1024 * 1024;
const folder = realpathSync(mkdtempSync(join(tmpdir(), "glovebox-settings-")));
after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));

/** The default limits, with more time for a busy machine. */
const openDefault = shareGlovebox(() => ({ sandbox: { limits: { wallMs: 300_000 } } }));

/** The low limit ends the program, the default lets it complete. */
const limits = (
  code: string,
  tight: object,
  [fails, passes]: readonly [unknown, unknown],
  look = outcomeOf,
): (() => Promise<void>) =>
  compare(
    async (config) =>
      config === undefined ? look(await (await openDefault()).execute({ code })) : run(code, look)(config),
    [{ sandbox: { limits: tight } }, fails],
    [undefined, passes],
  );

const policy = (...rules: readonly object[]): unknown => ({ policy: { rules } });
const server = (more: object): unknown => ({ mcpServers: { probe: { ...probeWith(), ...more } } });
const typed = (more: object): unknown => ({ mcpServers: { probe: { ...probeWith("--typed"), ...more } } });

const isSingle = (config: unknown): boolean => Object(config).sandbox.concurrency === 1;

const HIDDEN = 'return "a\u200bb".length';
const INVISIBLE_ERROR = { "no-invisible-characters": "error" };
const ABOUT = "return await http.about({})";

/** The length of a large result, read by its handle a moment later, or the error code. */
const readBack = (config: unknown): Promise<unknown> =>
  withGlovebox(config, async (glovebox) => {
    const { truncated, error } = await glovebox.execute({ code: 'return "x".repeat(2_000_000)' });
    if (!truncated) return error?.code;
    await wait(20);
    const code = "return (await glovebox.results.read(input)).length";
    return outcomeOf(await glovebox.execute({ code, input: truncated.handle }));
  });

const OBSERVATIONS: Readonly<Record<string, (context: TestContext) => Promise<void>>> = {
  "analysis.enabled": compare(
    run(HIDDEN),
    [{ analysis: { enabled: true, rules: INVISIBLE_ERROR } }, "PROGRAM_FORBIDDEN"],
    [{ analysis: { enabled: false, rules: INVISIBLE_ERROR } }, 3],
  ),
  "analysis.blockOnError": compare(
    run(HIDDEN),
    [{ analysis: { blockOnError: true, rules: INVISIBLE_ERROR } }, "PROGRAM_FORBIDDEN"],
    [{ analysis: { blockOnError: false, rules: INVISIBLE_ERROR } }, 3],
  ),
  "analysis.types": async () => {
    const code = 'try { return await probe.nothing({}) } catch { return "threw" }';
    const types = (level: string): unknown => ({ analysis: { types: level } });
    await compare(run(code), [types("error"), "PROGRAM_TYPES"], [types("off"), "threw"])();
    await compare(run(code, findingsOf), [types("warn"), [["types", "warn"]]], [types("off"), []])();
  },
  "analysis.typeCheck": compare(
    (config) =>
      withGlovebox(config, async (glovebox) => {
        await glovebox.search({ query: "about" }); // the upstream and the sandbox are ready, the checker is not
        await glovebox.execute({ code: "return 1" });
        const code = "await probe.about({}); return await probe.nothing({})";
        const { error, calls } = await glovebox.execute({ code });
        return [error?.code, calls[0]?.tool];
      }),
    [{ analysis: { types: "error", typeCheck: "beside" } }, ["PROGRAM_TYPES", "probe.about"]],
    [{ analysis: { types: "error", typeCheck: "before" } }, ["PROGRAM_TYPES", undefined]],
  ),
  ...RULE_OBSERVATIONS,

  "catalog.learn": compare(
    async (config) => {
      const kept = { ...(config as object), store: { url: `sqlite:${join(folder, `learn-${randomUUID()}.db`)}` } };
      await withGlovebox(kept, (glovebox) => glovebox.execute({ code: "await probe.echo({ a: 1 })" }));
      const text = await withGlovebox(kept, (glovebox) => glovebox.describe({ names: ["probe.echo"] }));
      return /learned from \d+ results?/.exec(text)?.[0] ?? "any";
    },
    [{ catalog: { learn: true } }, "learned from 1 result"],
    [{ catalog: { learn: false } }, "any"],
  ),

  ...SKILL_OBSERVATIONS,
  pin: compare(
    run("return await probe.echo({ a: 1 })"),
    [{ pin: "approve" }, "TOOL_WITHHELD"],
    [{ pin: "first-use" }, { a: 1 }],
  ),
  ...API_OBSERVATIONS,
  ...policyObservations(folder),
  ...QUOTA_OBSERVATIONS,
  ...APPROVAL_OBSERVATIONS,
  ...LISTEN_OBSERVATIONS,
  ...OAUTH_OBSERVATIONS,
  ...OIDC_OBSERVATIONS,
  ...PROFILE_OBSERVATIONS,
  ...NOTIFY_OBSERVATIONS,
  ...FLOW_OBSERVATIONS,
  ...JOURNAL_OBSERVATIONS,
  ...LEDGER_OBSERVATIONS,
  ...LOGIN_OBSERVATIONS,
  ...NETWORK_OBSERVATIONS,
  ...UPSTREAM_NETWORK_OBSERVATIONS,
  ...SECRET_OBSERVATIONS,
  ...TELEMETRY_OBSERVATIONS,
  ...SERVED_OBSERVATIONS,
  ...CLIENT_OBSERVATIONS,

  ...SERVER_OBSERVATIONS,
  "mcpServers.*.headers": async () => {
    const { url, close } = await startUpstream("one");
    const http = (headers: object): unknown => ({ mcpServers: { http: { url, headers } } });
    await compare(
      run(ABOUT),
      [http({ "x-key": "a" }), { name: "one", key: "a" }],
      [http({ "x-key": "b" }), { name: "one", key: "b" }],
    )().finally(close);
  },
  "mcpServers.*.pin": compare(
    run("return await probe.echo({ a: 1 })"),
    [server({ pin: "approve" }), "TOOL_WITHHELD"],
    [{ pin: "approve", ...Object(server({ pin: "first-use" })) }, { a: 1 }],
  ),
  "mcpServers.*.validate": compare(
    run('return await probe.echo({ n: "x" })', ({ error, value, findings }) => [
      error?.code ?? value,
      ...findings.map(({ rule }) => rule),
    ]),
    [typed({}), ["UPSTREAM_RESULT_INVALID"]],
    [typed({ validate: "warn" }), [{ n: "x" }, "result-schema"]],
  ),
  "mcpServers.*.start": async () => {
    const fileOf = (start: string): string => join(folder, `${start}.started`);
    const upstream = (start: string): unknown => ({
      command: "/bin/sh",
      args: ["-c", ': > "$0"; exec cat', fileOf(start)],
      start,
    });
    await withGlovebox({ mcpServers: { eager: upstream("eager"), lazy: upstream("lazy") } }, async () => {
      for (let tries = 0; tries < 6_000 && !existsSync(fileOf("eager")); tries += 1) await wait(10);
    });
    assert.deepEqual(["eager", "lazy"].map(fileOf).map(existsSync), [true, false]);
  },
  "mcpServers.*.type": compare(
    states,
    [server({ type: "stdio" }), ["ready"]],
    [server({ type: "http" }), "CONFIG_INVALID"],
  ),
  "mcpServers.*.url": async () => {
    const [one, two] = await Promise.all([startUpstream("one"), startUpstream("two")]);
    await compare(
      run(ABOUT),
      [{ mcpServers: { http: { url: one.url } } }, { name: "one", key: null }],
      [{ mcpServers: { http: { url: two.url } } }, { name: "two", key: null }],
    )().finally(() => {
      one.close();
      two.close();
    });
  },

  "policy.profile": compare(
    run("return (await probe.change({})).done"),
    [{ policy: { profile: "strict" } }, "paused"],
    [{ policy: { profile: "open" } }, true],
  ),
  "policy.rules[].id": compare(
    run("await probe.change({})", refusalOf),
    [policy({ id: "house-rule", decision: "deny", reason: "no" }), ["house-rule", "no"]],
    [policy({ decision: "deny", reason: "no" }), ["rule-1", "no"]],
  ),
  "policy.rules[].reason": compare(
    run("await probe.change({})", refusalOf),
    [policy({ decision: "ask", reason: "stock is counted today" }), ["rule-1", "stock is counted today"]],
    [policy({ decision: "ask" }), ["rule-1", "Rule rule-1 of the configuration says ask"]],
  ),
  "policy.rules[].tools": compare(
    run("return (await probe.change({})).done"),
    [policy({ decision: "deny", tools: ["probe.*"] }), "POLICY_DENIED"],
    [policy({ decision: "deny", tools: ["probe.destroy"] }), true],
  ),

  "sandbox.concurrency": compare(
    // A program that runs alone gives up soon; two that run at once have time to meet on a busy machine.
    (config) => runTwice(`return (await probe.meet({ ms: ${isSingle(config) ? 500 : 25_000} })).met`)(config),
    [{ sandbox: { concurrency: 1 } }, ["false", "false"]],
    [{ sandbox: { concurrency: 2 } }, ["true", "true"]],
  ),
  "sandbox.queue": compare(
    runTwice("await probe.wait({ ms: 100 }); return 1"),
    [{ sandbox: { concurrency: 1, queue: 0 } }, ["1", "LIMIT_BUSY"]],
    [{ sandbox: { concurrency: 1, queue: 1 } }, ["1", "1"]],
  ),
  "sandbox.engine": compare(
    states,
    [{ sandbox: { engine: "isolate" } }, ["ready"]],
    [{ sandbox: { engine: "eval" } }, "CONFIG_INVALID"],
  ),
  "sandbox.isolation": async () => {
    const strict = await isolation({ sandbox: { isolation: "strict" } });
    assert.ok(strict === "strict" || strict === "SANDBOX_UNAVAILABLE", String(strict));
    assert.equal(await isolation({ sandbox: { isolation: "process" } }), "process");
  },

  "sandbox.limits.argumentBytes": limits(
    'return (await probe.echo({ text: "x".repeat(200) })).text.length',
    { argumentBytes: 100 },
    ["LIMIT_SIZE", 200],
  ),
  "sandbox.limits.resultBytes": limits(
    'return (await probe.echo({ text: "x".repeat(200) })).text.length',
    { resultBytes: 100 },
    ["LIMIT_SIZE", 200],
  ),
  "sandbox.limits.callMs": limits("return (await probe.wait({ ms: 400 })).underWay", { callMs: 100 }, [
    "UPSTREAM_TIMEOUT",
    1,
  ]),
  "sandbox.limits.calls": limits("await probe.echo({}); await probe.echo({}); return 2", { calls: 1 }, [
    "LIMIT_CALLS",
    2,
  ]),
  "sandbox.limits.concurrentCalls": limits(
    "return Math.max(...(await Promise.all([1, 2, 3].map(() => probe.wait({ ms: 100 })))).map((seen) => seen.underWay))",
    { concurrentCalls: 1 },
    [1, 3],
  ),
  "sandbox.limits.cpuMs": limits(
    "let sum = 0; for (let i = 0; i < 1e8; i++) sum += i % 7; return sum > 0 ? 1 : 0",
    { cpuMs: 50 },
    ["LIMIT_TIME", 1],
  ),
  "sandbox.limits.depth": limits("return [[[[[[1]]]]]]", { depth: 3 }, ["LIMIT_SIZE", [[[[[[1]]]]]]]),
  "sandbox.limits.hostMs": limits(
    "for (let i = 0; i < 20; i++) await probe.echo({ text: 'x'.repeat(100_000) }); return 1",
    { hostMs: 1 },
    ["LIMIT_TIME", 1],
  ),
  "sandbox.limits.memoryBytes": limits(
    "const kept = []; for (let i = 0; i < 50; i++) kept.push(new Array(1e5).fill(i + 0.5)); return kept.length",
    { memoryBytes: 16 * MIB },
    ["LIMIT_MEMORY", 50],
  ),
  "sandbox.limits.outputBytes": limits(
    'return "x".repeat(2_000)',
    { outputBytes: 100 },
    [
      [1_003, 2_002],
      [2_002, null],
    ],
    ({ value, truncated }) => [JSON.stringify(value).length, truncated?.bytes ?? null],
  ),
  "sandbox.limits.sourceBytes": limits("return 1 // a comment that is long", { sourceBytes: 20 }, ["LIMIT_SIZE", 1]),
  "sandbox.limits.wallMs": limits("await new Promise((done) => setTimeout(done, 500)); return 1", { wallMs: 100 }, [
    "LIMIT_TIME",
    1,
  ]),

  "results.keepMs": compare(readBack, [{ results: { keepMs: 1 } }, "REQUEST_NOT_FOUND"], [{}, 2_000_000]),
  "results.totalBytes": compare(
    readBack,
    [{ results: { totalBytes: 1_999_999 } }, "LIMIT_SIZE"],
    [{ results: { totalBytes: 2_000_002 } }, 2_000_000],
  ),

  "store.url": compare(
    (config) =>
      withGlovebox(config, async (glovebox) => {
        await glovebox.execute({ code: "1" });
        return ["one.db", "two.db"].filter((file) => existsSync(join(folder, file)));
      }),
    [{ store: { url: `sqlite:${join(folder, "one.db")}` } }, ["one.db"]],
    [{ store: { url: `sqlite:${join(folder, "two.db")}` } }, ["one.db", "two.db"]],
  ),
};

test("every setting has an observation, and every observation is of a setting", () => {
  assert.deepEqual(Object.keys(OBSERVATIONS).toSorted(), listSettingPaths());
});

describe("every setting changes what it documents", { concurrency: 2 }, () => {
  for (const [path, observe] of Object.entries(OBSERVATIONS)) test(path, observe);
});
