/** A program's `fetch` through the whole product: its responses, its policy decisions and its records. */

import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, describe, test } from "node:test";

import type { EngineName } from "../../../src/domain/index.ts";
import { openStore } from "../../../src/store/index.ts";
import { createGlovebox } from "../../../src/main.ts";
import type { ExecutionResult, Glovebox, GloveboxConfig } from "../../../src/main.ts";
import { passingStore } from "../../fixtures/passing-store.ts";
import { probeWith } from "../../fixtures/observe-settings.ts";
import { makeFolder, makeUntypedFolder, runGlovebox } from "../../fixtures/product.ts";

let place = "";
const server = createServer(async (request, response) => {
  const { pathname } = new URL(request.url ?? "/", "http://a.example");
  const body = (await request.toArray()).join("");
  if (pathname === "/bytes") return response.end(Buffer.from([0, 255, 128, 65]));
  if (pathname === "/there") return response.writeHead(302, { location: "/json?moved" }).end();
  if (pathname === "/away") return response.writeHead(302, { location: "http://127.0.0.2:1/" }).end();
  if (pathname === "/large") return response.end("x".repeat(20_000));
  if (pathname === "/never") return undefined;
  const { method, url, headers } = request;
  const seen = { method, url, body, type: headers["content-type"] ?? null, key: headers["x-key"] ?? null };
  return response.writeHead(201, { "content-type": "application/json", "x-answer": "42" }).end(JSON.stringify(seen));
});
before(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  place = `127.0.0.1:${(server.address() as AddressInfo).port}`;
});
after(() => server.close().closeAllConnections());

const open = (config: GloveboxConfig = {}, engine: EngineName = "isolate"): Promise<Glovebox> =>
  createGlovebox({
    store: passingStore(),
    approvals: { graceMs: 0 },
    analysis: { types: "off" },
    ...config,
    // A busy machine ends no program.
    sandbox: {
      engine,
      networkPolicy: { mode: "allowed", grants: [place] },
      limits: { wallMs: 300_000 },
      ...config.sandbox,
    },
  });
const outcome = ({ value, error }: ExecutionResult): unknown => error?.code ?? value;

const PROGRAM = `
  const at = (path) => input + path;
  const answer = await fetch(at("/json"), { headers: { "X-Key": "k" } });
  const posted = await fetch(new URL(at("/json")), { method: "POST", body: JSON.stringify({ a: 1 }), headers: new Headers([["Content-Type", "application/json"]]) });
  const form = await fetch(at("/json"), { method: "PUT", body: new URLSearchParams({ q: "a b" }) });
  const bytes = await (await fetch(at("/bytes"))).bytes();
  const sent = await fetch(at("/json"), { method: "POST", body: bytes.slice(3) });
  const moved = await fetch(at("/there"));
  const again = moved.clone();
  const failed = async (...args) => { try { return (await fetch(...args)).status } catch (error) { return error.code ?? error.name } };
  return {
    answer: [answer.ok, answer.status, answer.statusText, answer.headers.get("X-Answer"), (await answer.json()).key],
    used: await answer.text().catch((error) => error.name),
    posted: await posted.json(),
    form: (await form.json()).body,
    bytes: [...bytes],
    sent: (await sent.json()).body,
    moved: [moved.redirected, moved.url === at("/json?moved"), (await moved.json()).url, (await again.text()).length > 5],
    size: (await (await fetch(at("/large"))).arrayBuffer()).byteLength,
    refused: [await failed("http://127.0.0.2:1/"), await failed(at("/away")), await failed(at("/json"), { headers: { Host: "x" } }),
      await failed("file:///etc/passwd"), await failed(at("/json"), { method: "POST", body: { a: 1 } })],
    aborted: [await failed(at("/never"), { signal: AbortSignal.timeout(10) }), await failed(at("/json"), { signal: AbortSignal.abort() })],
  };`;

for (const engine of ["isolate", "quickjs", "workerd"] as const) {
  test(`${engine}: a program sends requests to granted hosts and reads the responses`, async () => {
    await using glovebox = await open({}, engine);
    const input = `http://${place}`;
    const seen = { url: "/json", key: null };
    assert.deepEqual(outcome(await glovebox.execute({ code: PROGRAM, input })), {
      answer: [true, 201, "Created", "42", "k"],
      used: "TypeError",
      posted: { ...seen, method: "POST", body: '{"a":1}', type: "application/json" },
      form: "q=a+b",
      bytes: [0, 255, 128, 65],
      sent: "A",
      moved: [true, true, "/json?moved", true],
      size: 20_000,
      refused: ["EGRESS_DENIED", "EGRESS_DENIED", "EGRESS_DENIED", "EGRESS_DENIED", "TypeError"],
      aborted: ["TimeoutError", "AbortError"],
    });
  });
}

describe("policy for fetch", () => {
  const get = "return (await fetch(input)).status";
  const post = 'return (await fetch(input, { method: "POST", body: "x" })).status';

  test("a rule of the operator for glovebox.fetch applies, and can require approval", async (context) => {
    const policy = { effects: { "glovebox.fetch": "destroy" } } as const;
    await using glovebox = await open({ policy });
    const code = "return (await fetch(input)).status";
    const { state, calls } = await glovebox.execute({ code, input: `http://${place}/json` });
    assert.deepEqual([state, calls[0]?.effect], ["paused", "destroy"]);
    const folder = makeUntypedFolder(context, { policy });
    const asked = await runGlovebox(["policy", "explain", "glovebox.fetch", "--json"], { folder });
    const { effect, decision } = JSON.parse(asked.stdout) as { effect: string; decision: string };
    assert.deepEqual([asked.code, effect, decision], [3, "destroy", "ask"]);
    const args = JSON.stringify({ url: "https://a.example", method: "POST" });
    const plain = makeUntypedFolder(context, {});
    const allowed = await runGlovebox(["policy", "explain", "glovebox.fetch", "--args", args], { folder: plain });
    assert.deepEqual([allowed.code, allowed.stdout.split("\n")[0]], [0, "allow: glovebox.fetch (write) by local"]);
  });
  test("rules see a request as glovebox.fetch, as a read or a write by its method", async () => {
    await using glovebox = await open({
      policy: { rules: [{ decision: "deny", tools: ["glovebox.fetch"], effects: ["write"] }] },
    });
    const input = `http://${place}/json`;
    const [asked, sent] = [await glovebox.execute({ code: get, input }), await glovebox.execute({ code: post, input })];
    assert.deepEqual([outcome(asked), outcome(sent)], [201, "POLICY_DENIED"]);
    const line = ({ calls }: ExecutionResult) => calls.map(({ ms: _, ...call }) => call);
    assert.deepEqual(line(asked), [
      { seq: 1, tool: "glovebox.fetch", effect: "read", decision: "allow", outcome: "ok" },
    ]);
    assert.deepEqual(line(sent), [
      { seq: 1, tool: "glovebox.fetch", effect: "write", decision: "deny", outcome: "denied" },
    ]);
  });

  test("rules decide about each redirect, with the normalized URL", async () => {
    const denies = (prefix: string, decision: "deny" | "ask" = "deny"): Promise<Glovebox> =>
      open({
        policy: {
          rules: [{ decision, tools: ["glovebox.fetch"], when: [{ path: "url", prefix: `http://${place}${prefix}` }] }],
        },
      });
    const run = async (glovebox: Glovebox, input: string): Promise<unknown> =>
      outcome(await glovebox.execute({ code: get, input }));
    await using moved = await denies("/json?moved");
    await using asks = await denies("/json?moved", "ask");
    const there = `http://${place}/there`;
    assert.deepEqual([await run(moved, there), await run(asks, there)], ["POLICY_DENIED", "POLICY_DENIED"]);
    const { error } = await moved.execute({ code: get, input: there });
    assert.match(error?.message ?? "", new RegExp(`A redirect leads to http://${place}: glovebox.fetch .* is denied`));
    assert.deepEqual([await run(moved, `http://${place}/json`), await run(asks, `http://${place}/json`)], [201, 201]);
    await using json = await denies("/json");
    const port = place.split(":")[1];
    for (const spelling of [
      `127.1:${port}/json`,
      `0x7f.1:${port}/./json`,
      `2130706433:${port}\\json`,
      `${place}/x/../json`,
    ])
      assert.equal(await run(json, `http://${spelling}`), "POLICY_DENIED", spelling);
    assert.equal(await run(json, `http://127.1:${port}/other`), 201);
  });

  test("a request may restrict the network that the operator allows, but never widen it", async () => {
    await using glovebox = await open();
    const input = `http://${place}/json`;
    const withPolicy = async (networkPolicy: Parameters<Glovebox["execute"]>[0]["networkPolicy"]): Promise<unknown> =>
      outcome(await glovebox.execute({ code: get, input, ...(networkPolicy && { networkPolicy }) }));
    assert.deepEqual(
      [
        await withPolicy({ mode: "allowed", grants: [place] }),
        await withPolicy({ mode: "blocked" }),
        await withPolicy({ mode: "allowed", domains: ["other.example"] }),
      ],
      [201, "EGRESS_DENIED", "EGRESS_DENIED"],
    );
    await assert.rejects(withPolicy({ mode: "allowed", domains: ["*"] }), { code: "REQUEST_INVALID" });
    await using closed = await open({ sandbox: { networkPolicy: { mode: "blocked" } } });
    const networkPolicy = { mode: "allowed" as const, grants: [place] };
    assert.equal(outcome(await closed.execute({ code: get, input, networkPolicy })), "EGRESS_DENIED");
  });

  test("requests count as calls, and a response is limited to the size of a result", async () => {
    await using glovebox = await open({
      sandbox: { limits: { calls: 2, resultBytes: 20_500 }, networkPolicy: { mode: "allowed", grants: [place] } },
    });
    const run = async (code: string): Promise<unknown> =>
      outcome(await glovebox.execute({ code, input: `http://${place}/large` }));
    assert.equal(await run("await fetch(input); await fetch(input); return 2"), 2);
    assert.equal(await run("await fetch(input); await fetch(input); await fetch(input); return 3"), "LIMIT_CALLS");
    await using tight = await open({
      sandbox: { limits: { resultBytes: 19_999 }, networkPolicy: { mode: "allowed", grants: [place] } },
    });
    assert.equal(outcome(await tight.execute({ code: get, input: `http://${place}/large` })), "LIMIT_SIZE");
  });
});

test("data may leave by fetch until the session has read private and untrusted data", async () => {
  await using glovebox = await open({
    mcpServers: { probe: probeWith() },
    policy: { labels: [{ tools: ["probe.about"], add: ["private"] }] },
  });
  const input = `http://${place}/json`;
  const code = "await probe.about({}); return (await fetch(input)).status";
  assert.equal(outcome(await glovebox.execute({ code, input })), 201);
  const again = "await probe.about({}); await fetch(input); return (await fetch(input)).status";
  const { state, calls } = await glovebox.execute({ code: again, input });
  assert.deepEqual([state, calls.at(-1)?.decision], ["paused", "ask"]);
  const own = { tools: ["glovebox.fetch"], remove: ["external" as const] };
  await using closed = await open({
    mcpServers: { probe: probeWith() },
    policy: { labels: [{ tools: ["probe.about"], add: ["private"] }, own] },
  });
  assert.equal(outcome(await closed.execute({ code: again, input })), 201);
});

test("a write whose response was lost has an unknown outcome, and one that was never sent has failed", async () => {
  await using glovebox = await open({
    sandbox: { limits: { callMs: 200 }, networkPolicy: { mode: "allowed", grants: [place, "127.0.0.1:1"] } },
  });
  const code = 'return await fetch(input, { method: "POST", body: "x" }).catch(({ code }) => code)';
  const told = async (input: string): Promise<unknown> => {
    const result = await glovebox.execute({ code, input });
    return [outcome(result), result.calls[0]?.outcome];
  };
  assert.deepEqual(await told(`http://${place}/never`), ["UPSTREAM_TIMEOUT", "unknown"]);
  assert.deepEqual(await told("http://127.0.0.1:1/"), ["UPSTREAM_UNREACHABLE", "error"]);
});

describe("records and descriptions of fetch", () => {
  test("the ledger has the host and the status of every request, but never the URL", async (context) => {
    const folder = makeFolder(context);
    const path = `${folder}/glovebox.db`;
    const glovebox = await open({ store: { url: `sqlite:${path}` } });
    const code = "await fetch(input); return await fetch('http://10.0.0.1/?secret').catch(({ code }) => code)";
    assert.equal(outcome(await glovebox.execute({ code, input: `http://${place}/json?canary` })), "EGRESS_DENIED");
    await glovebox.close();
    await using store = await openStore({ path, now: Date.now });
    const records = await store.ledger.read({ from: 1, limit: 100 });
    const text = records.map(({ detail }) => detail).join("\n");
    const told = records.flatMap(({ action, detail }) => {
      const { host, method, status, outcome: came } = JSON.parse(detail) as Record<string, unknown>;
      return action.startsWith("call.") ? [[action, host, method ?? came, status]] : [];
    });
    assert.deepEqual(told, [
      ["call.intended", place, "GET", undefined],
      ["call.ended", place, "ok", 201],
      ["call.intended", "10.0.0.1", "GET", undefined],
      ["call.ended", undefined, "denied", undefined],
    ]);
    assert.doesNotMatch(text, /canary|secret/);
  });

  test("describe lists fetch only where it is allowed, and elsewhere explains how to request it", async () => {
    await using glovebox = await open();
    await using closed = await open({ sandbox: { networkPolicy: { mode: "blocked" } } });
    const declared = async (from: Glovebox): Promise<boolean> =>
      /declare function fetch\(/.test(await from.describe({ names: ["glovebox"] }));
    await using capped = await open({ egress: { networkPolicy: { mode: "blocked" } } });
    assert.deepEqual([await declared(glovebox), await declared(closed), await declared(capped)], [true, false, false]);
    const { error } = await closed.execute({ code: "return await fetch('https://a.example')" });
    assert.deepEqual([error?.code, error?.message], ["EGRESS_DENIED", "The sandbox has no network"]);
  });

  test("the unrestricted network needs a second setting, and every start prints a warning", async (context) => {
    const networkPolicy = { mode: "unrestricted" };
    const tools = { "*": { networkPolicy } };
    for (const [config, who] of [
      [{ sandbox: { networkPolicy } }, "programs"],
      [{ mcpServers: { web: { url: "http://127.0.0.1:1/", start: "lazy", networkPolicy } } }, "an upstream"],
      [{ openapi: { api: { document: "./none.json", tools } } }, "an upstream"],
    ] as const) {
      const folder = makeUntypedFolder(context, config);
      const run = async (...flags: string[]): Promise<unknown> => {
        const { code, stderr } = await runGlovebox(["run", "-", ...flags], { folder, input: "return 1" });
        return [code, stderr.includes(`warning: ${who} may send requests to every public host`)];
      };
      assert.deepEqual(
        [await run(), await run("--unrestricted-network")],
        [
          [2, false],
          [0, true],
        ],
      );
    }
  });
});
