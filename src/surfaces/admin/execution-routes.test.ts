/** Executions and withheld definitions over the admin API, and the events of open pages. */

import assert from "node:assert/strict";
import { request } from "node:http";
import type { IncomingMessage } from "node:http";
import { createInterface } from "node:readline";
import { test } from "node:test";
import type { TestContext } from "node:test";

import type { HeldTool } from "../../catalog/index.ts";
import { parseConnectorId, parseDigest, parsePrincipalId } from "../../domain/index.ts";
import { EXECUTION, createMemoryGateway, createResult } from "../mcp/fixtures/memory-gateway.ts";
import type { MemoryGateway } from "../mcp/fixtures/memory-gateway.ts";
import { OPERATOR } from "../../identity/index.ts";
import type { OperatorDoor, OperatorRecords } from "../operator-records.ts";
import { connectSchema, withheldSchema } from "./contract/servers.ts";
import { executionSchema, executionsSchema, replaySchema } from "./contract/executions.ts";
import { SESSION, startApp } from "./fixtures/start-app.ts";
import type { StartedApp } from "./fixtures/start-app.ts";

const headers = SESSION;
const OTHER = "ex_111111111111111111111111";

test("an execution is listed by its state and shown whole in the shape of the contract", async (t) => {
  const { send } = await startApp(t);
  const read = async (path: string): Promise<unknown> => JSON.parse((await send(path, { headers })).body);
  const { executions } = executionsSchema.parse(await read("/api/executions?state=failed"));
  assert.deepEqual(
    executions.map(({ errorCode }) => errorCode),
    ["LIMIT_TIME"],
  );
  const shown = await read(`/api/executions/${EXECUTION}`);
  const { source, result } = executionSchema.parse(shown);
  assert.deepEqual([source, result.value, result.calls.length], ["return (await github.listIssues({})).length;", 2, 1]);
  assert.deepEqual(executionSchema.parse(shown), shown);
  assert.equal((await send(`/api/executions/${OTHER}`, { headers })).status, 404);
  assert.equal((await send("/api/executions?before=nothing", { headers })).status, 400);
});

test("who may not see arguments gets an execution without its program, value, logs and error text", async (t) => {
  const memory = createMemoryGateway();
  const approvals = { ...memory.approvals, showsArguments: () => false };
  const { send } = await startApp(t, undefined, { approvals });
  const { body } = await send(`/api/executions/${EXECUTION}`, { headers });
  const { source, result } = executionSchema.parse(JSON.parse(body));
  assert.deepEqual([source, result.value, result.logs, result.calls.length], [undefined, undefined, [], 1]);
  assert.doesNotMatch(body, /listIssues\(\{\}\)|two issues/);
});

test("an operator cancels an execution with a request of the page, and a reviewer or another site does not", async (t) => {
  const cancelled: string[] = [];
  const memory = createMemoryGateway();
  const cancel = async (id: string, by: string) => (cancelled.push(`${id} ${by}`), memory.history.show(id));
  const { send, identity, listener } = await startApp(t, undefined, { history: { ...memory.history, cancel } });
  const path = `/api/executions/${EXECUTION}/cancel`;
  await identity.people.add("rea", ["reviewer"], OPERATOR);
  const reviewer = await openSession(identity, listener.port, "rea");
  const foreign = { method: "POST", headers: { ...headers, origin: "https://evil.example" } };
  assert.equal((await send(path, { method: "POST", headers: reviewer })).status, 403);
  assert.equal((await send(path, foreign)).status, 403);
  assert.deepEqual(cancelled, []);
  assert.equal((await send(path, { method: "POST", headers })).status, 200);
  assert.deepEqual(cancelled, [`${EXECUTION} operator`]);
});

async function openSession(identity: StartedApp["identity"], port: number, name: string) {
  const id = parsePrincipalId(`person:${name}`);
  if (!id) throw new TypeError(`${name} is not a name`);
  const { secret } = await identity.sessions.open({ id, kind: "person", groups: [], roles: ["reviewer"] }, "test");
  return { cookie: `glovebox-${port}=${secret}`, origin: `http://127.0.0.1:${port}` };
}

const HELD = {
  server: "github",
  tool: "create_issue",
  why: "changed",
  digest: `sha256:${"1".repeat(64)}`,
  seenAt: 5,
  difference: ["description: now says something else"],
} as const;
const FIELD = { path: "description", before: "Creates", after: "Sends", marks: [{ start: 0, end: 5, why: "lies" }] };

test("an operator decides about a withheld definition as it was shown, and not about another one", async (t) => {
  const made: string[] = [];
  const tool: HeldTool = {
    ...HELD,
    server: known(parseConnectorId(HELD.server)),
    digest: known(parseDigest(HELD.digest)),
  };
  const held: Partial<MemoryGateway>["held"] = {
    list: async () => [tool],
    review: async () => [{ ...tool, fields: [FIELD] }],
    approve: async (_, confirm) => ((await confirm?.([tool])) === false ? undefined : (made.push("approve"), [tool])),
    reject: async () => (made.push("reject"), [tool]),
  };
  const { send, identity, listener } = await startApp(t, undefined, { held });
  const listed: unknown = JSON.parse((await send("/api/withheld", { headers })).body);
  assert.deepEqual(withheldSchema.parse(listed), listed);
  const decide = async (verdict: string, digest: string, by: Record<string, string> = headers): Promise<number> => {
    const body = JSON.stringify({ verdict, server: "github", tools: [{ tool: "create_issue", digest }] });
    return (await send("/api/withheld", { method: "POST", headers: by, body })).status;
  };
  await identity.people.add("rea", ["reviewer"], OPERATOR);
  const reviewer = await openSession(identity, listener.port, "rea");
  const other = `sha256:${"2".repeat(64)}`;
  assert.deepEqual([await decide("approve", other), await decide("reject", other)], [409, 409]);
  assert.equal(await decide("approve", HELD.digest, reviewer), 403);
  assert.deepEqual(made, []);
  assert.deepEqual([await decide("approve", HELD.digest), await decide("reject", HELD.digest)], [200, 200]);
  assert.deepEqual(made, ["approve", "reject"]);
});

/** One event of a stream. */
interface LiveEvent {
  readonly topics: readonly string[];
  readonly id: string;
}

test("a page is told which lists changed, and after a break only what it missed", async (t) => {
  const memory = createMemoryGateway();
  let executions = await memory.history.list({ limit: 50 });
  const history = { ...memory.history, list: async () => executions };
  const app = await startApp(t, undefined, { history });
  const first = await openEvents(t, app);
  const start = await first.next();
  assert.deepEqual(start.topics, ["approvals", "executions", "servers", "skills"]);
  executions = executions.slice(1);
  assert.deepEqual((await first.next()).topics, ["executions"]);
  const again = await openEvents(t, app, { "last-event-id": start.id });
  assert.deepEqual((await again.next()).topics, ["executions"]);
  const broken = await openEvents(t, app, { "last-event-id": "1.2" });
  assert.deepEqual((await broken.next()).topics, start.topics);
});

test("the events of a page end when its session does, and need one", async (t) => {
  const app = await startApp(t);
  const stream = await openEvents(t, app);
  await stream.next();
  await app.identity.sessions.end("all", OPERATOR);
  await stream.ended;
  assert.equal((await app.send("/api/events", { headers })).status, 401);
});

/** A stream of events with a session of the operator. */
async function openEvents(t: TestContext, { identity, listener }: StartedApp, more: Record<string, string> = {}) {
  const { secret } = await identity.sessions.open(OPERATOR, "test");
  const { port } = listener;
  const all = { ...more, cookie: `glovebox-${port}=${secret}` };
  const incoming = await new Promise<IncomingMessage>((resolve, reject) => {
    const outgoing = request({ host: "127.0.0.1", port, path: "/api/events", headers: all }, resolve);
    outgoing.on("error", reject).end();
    t.after(() => outgoing.destroy());
  });
  assert.match(incoming.headers["content-type"] ?? "", /^text\/event-stream/);
  incoming.on("error", () => undefined); // the test ends it
  const ended = new Promise<void>((resolve) => incoming.once("close", resolve));
  const lines = createInterface({ input: incoming })[Symbol.asyncIterator]();
  const next = async (): Promise<LiveEvent> => {
    const fields = new Map<string, string>();
    for (;;) {
      const { value, done } = await lines.next();
      if (done === true) throw new Error("The stream has ended");
      if (value === "" && fields.size > 0) break;
      const [name = "", text = ""] = value.split(": ");
      fields.set(name, text);
    }
    return { topics: (fields.get("data") ?? "").split(" ").filter(Boolean), id: fields.get("id") ?? "" };
  };
  return { next, ended };
}

function known<Id>(id: Id | undefined): Id {
  if (id === undefined) throw new TypeError("The test uses an invalid id");
  return id;
}

/** A server with OAuth, as its login answers. */
async function startConnecting(t: TestContext) {
  const [restarted, kept]: [string[], string[]] = [[], []];
  const logins = {
    begin: async (_: string, { state, redirectUri }: { readonly state: string; readonly redirectUri: string }) => ({
      issuer: "https://login.example",
      authorizationUrl: new URL(`https://login.example/?${new URLSearchParams({ state, redirectUri }).toString()}`),
      finish: async (answer: URLSearchParams) => answer.get("code"),
    }),
    keep: async (login: unknown, actor: string) => void kept.push(`${String(login)} ${actor}`),
  };
  const restart = async (server: string, actor: string) => void restarted.push(`${server} ${actor}`);
  const records = { logins, restart };
  const operator = { openRecords: async () => trustRecords(records) };
  return { ...(await startApp(t, undefined, {}, { operator })), restarted, kept };
}

function trustRecords(records: object): OperatorRecords {
  return records as OperatorRecords;
}

test("an operator restarts a server, and nothing else is restarted", async (t) => {
  const { send, restarted, identity, listener } = await startConnecting(t);
  await identity.people.add("rea", ["reviewer"], OPERATOR);
  const reviewer = await openSession(identity, listener.port, "rea");
  const post = async (path: string, by: Record<string, string> = headers): Promise<number> =>
    (await send(path, { method: "POST", headers: by, body: "{}" })).status;
  assert.equal(await post("/api/servers/github/restart", reviewer), 403);
  assert.equal(await post("/api/servers/unknown/restart"), 404);
  assert.deepEqual(restarted, []);
  assert.equal(await post("/api/servers/github/restart"), 200);
  assert.deepEqual(restarted, ["github operator"]);
  const { send: other } = await startApp(t);
  const refused = await other("/api/servers/github/restart", { method: "POST", headers, body: "{}" });
  assert.equal(refused.status, 400);
  assert.match(refused.body, /Set store\.url to a file/);
});

test("a login to a server is kept once, in the browser that asked", async (t) => {
  const { send, kept } = await startConnecting(t);
  const begun = await send("/api/servers/billing/connect", { method: "POST", headers, body: "{}" });
  const { url } = connectSchema.parse(JSON.parse(begun.body));
  const [cookie = ""] = String(begun.headers["set-cookie"]).split(";");
  const { searchParams } = new URL(url);
  assert.match(searchParams.get("redirectUri") ?? "", /^http:\/\/127\.0\.0\.1:\d+\/servers\/callback$/);
  const answer = `/servers/callback?code=c1&state=${searchParams.get("state")}`;
  const without = await send(answer);
  assert.deepEqual([without.status, /unknown, answered or too old/.test(without.body)], [404, true]);
  assert.equal((await send(answer, { headers: { cookie: `${cookie.slice(0, -1)}x` } })).status, 404);
  assert.deepEqual(kept, []);
  assert.equal((await send(answer, { headers: { cookie } })).status, 200);
  assert.equal((await send(answer, { headers: { cookie } })).status, 404);
  assert.deepEqual(kept, ["c1 operator"]);
});

test("an operator who sees programs replays and exports an execution, one at a time", async (t) => {
  const asked: string[] = [];
  const engines: unknown[] = [];
  const held = Promise.withResolvers<void>();
  const findRecording = async (id: string, { action }: { readonly action: string }) => (asked.push(action), { id });
  const operator: Partial<OperatorDoor> = {
    openRecords: async () => trustRecords({ findRecording }),
    showReplay: async (_, { engine }) => {
      engines.push(engine);
      await held.promise;
      return { result: createResult({ value: 2 }), difference: "The value was 1 and is 2" };
    },
    toRecordingFile: () => ({ glovebox: 1 }),
  };
  const showsArguments = ({ id }: { readonly id: string }) => id === "operator";
  const approvals = { ...createMemoryGateway().approvals, showsArguments };
  const { send, identity, listener } = await startApp(t, undefined, { approvals }, { operator });
  const post = (path: string, body = "{}", by: Record<string, string> = headers) =>
    send(`/api/executions/${path}`, { method: "POST", headers: by, body });
  await identity.people.add("rea", ["reviewer"], OPERATOR);
  const reviewer = await openSession(identity, listener.port, "rea");
  assert.equal((await post(`${EXECUTION}/replay`, "{}", reviewer)).status, 403);
  assert.equal((await post("nothing/replay")).status, 404);
  assert.equal((await post(`${EXECUTION}/replay`, '{"engine":"other"}')).status, 400);
  assert.deepEqual(asked, []);
  const first = post(`${EXECUTION}/replay`, '{"engine":"quickjs"}');
  while (engines.length === 0) await new Promise((resolve) => setImmediate(resolve));
  assert.equal((await post(`${EXECUTION}/replay`)).status, 429);
  held.resolve();
  const { result, difference } = replaySchema.parse(JSON.parse((await first).body));
  assert.deepEqual([result.value, difference, engines], [2, "The value was 1 and is 2", ["quickjs"]]);
  assert.equal((await post(`${EXECUTION}/replay`)).status, 200);
  assert.deepEqual(JSON.parse((await post(`${EXECUTION}/export`)).body), { glovebox: 1 });
  assert.deepEqual(asked.slice(-2), ["execution.replayed", "execution.exported"]);
});
