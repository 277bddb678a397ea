/** What the settings of the HTTP server and of separated duties change. The server runs in this process. */

import assert from "node:assert/strict";
import { request } from "node:http";
import { join } from "node:path";
import { connect } from "node:tls";

import { parseSettings } from "../../src/config/index.ts";
import { GloveboxError, parsePrincipalId } from "../../src/domain/index.ts";
import type { Principal } from "../../src/domain/index.ts";
import { openTestIdentity } from "../../src/identity/fixtures/open-test-identity.ts";
import { OPERATOR } from "../../src/identity/index.ts";
import { OPERATOR_DOOR } from "../../src/surfaces/admin/fixtures/start-app.ts";
import { createMemoryGateway } from "../../src/surfaces/mcp/fixtures/memory-gateway.ts";
import { serveHttp } from "../../src/surfaces/serve.ts";
import { requestApprovals, withQueue } from "../fixtures/approval-gateway.ts";
import { compare } from "../fixtures/observe-settings.ts";

type Served = Awaited<ReturnType<typeof serveHttp>> & Awaited<ReturnType<typeof openTestIdentity>>;

const TLS = join(import.meta.dirname, "../fixtures/tls");
const pair = (name: string) => ({ cert: join(TLS, `${name}.cert`), key: join(TLS, `${name}.key`) });

/** Serves with this configuration and returns what `use` does, or the code of an error. */
async function observeServer(server: object, use: (served: Served) => Promise<unknown>): Promise<unknown> {
  const settings = parseSettings({ server: { port: 0, ...server } }, { folder: "/" }, {});
  await using room = await openTestIdentity();
  const door = {
    gateway: createMemoryGateway(),
    identity: room.identity,
    webFolder: "/nonexistent",
    report: () => "in_1",
    operator: OPERATOR_DOOR,
  };
  const powers = { storePath: ":memory:", uid: process.getuid?.(), warn: () => {} };
  try {
    const served = await serveHttp({ server: settings.server, ...door, ...powers });
    return await use({ ...served, ...room }).finally(() => served.close());
  } catch (thrown) {
    if (thrown instanceof GloveboxError) return thrown.code;
    throw thrown;
  }
}

const look =
  (use: (served: Served) => Promise<unknown>) =>
  (server: unknown): Promise<unknown> =>
    observeServer(Object(server), use);

/** The listener, also where the public address is another one. */
function send(url: string, path: string, headers: Record<string, string> = {}): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(`${url}${path}`, { headers }, (answer) => {
      answer.resume();
      resolve(answer.statusCode ?? 0);
    });
    sent.on("error", reject);
    sent.end();
  });
}

const initialize = (url: string, headers: Record<string, string> = {}): Promise<number> => send(url, "/mcp", headers);

/** The name in the certificate of the server. */
function readCertificate(url: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url);
    const socket = connect({ host: hostname, port: Number(port), rejectUnauthorized: false }, () => {
      resolve(socket.getPeerCertificate().subject.CN);
      socket.destroy();
    });
    socket.on("error", reject);
  });
}

const PUBLIC = { publicUrl: "http://localhost:9" };

/** The last origin that a refusal recorded. */
const refusedOrigin = async ({ url, records }: Served): Promise<unknown> => {
  await initialize(url, { authorization: "Bearer gbx_x", "x-forwarded-for": "203.0.113.7" });
  return records.at(-1)?.subject;
};

/** A change in a session that was opened long ago: the clock of the room is behind that of the server. */
const changeLater = async ({ url, identity }: Served): Promise<number> => {
  const { secret } = await identity.sessions.open(OPERATOR, "test");
  const headers = { origin: url, cookie: `glovebox-${new URL(url).port}=${secret}` };
  return (await fetch(`${url}/api/sessions/se_other`, { method: "DELETE", headers })).status;
};

/** Whether the person behind an agent, and another one, may decide; then who has to decide a destructive call. */
function decideAs(person: Principal, effect: "read" | "destroy", verdict: "approve" | "reject" = "approve") {
  return async (approvals: unknown): Promise<unknown> => {
    const settings = parseSettings(
      { store: { url: "sqlite::memory:" }, approvals: Object(approvals) },
      { folder: "/" },
      {},
    );
    return withQueue(settings, async (queue) => {
      const [asked] = await requestApprovals(queue, { args: [{}], effect });
      assert.ok(asked);
      return queue.approvals.decide(asked.id, { verdict }, person).then(
        ({ state }) => state,
        (thrown: unknown) => (thrown instanceof GloveboxError ? thrown.code : thrown),
      );
    });
  };
}

const ADA: Principal = { ...OPERATOR, id: parsePrincipalId("person:ada") ?? assert.fail(), roles: ["operator"] };

export const LISTEN_OBSERVATIONS = {
  "server.auth": compare(
    look(({ url }) => initialize(url)),
    [{ auth: "required" }, 401],
    [{ auth: "local" }, 406],
  ),
  "server.publicUrl": compare(
    look(async ({ url }) => url),
    [PUBLIC, "http://localhost:9"],
    [{ publicUrl: "https://gloves.example" }, "https://gloves.example"],
  ),
  "server.sessions.stepUpMinutes": compare(look(changeLater), [{ sessions: { stepUpMinutes: 1 } }, 401], [{}, 200]),
  "server.allowedHosts": async () => {
    const ask = look(({ url }) => send(url, "/health", { host: "inside.example" }));
    assert.deepEqual([await ask({ allowedHosts: ["inside.example"] }), await ask({})], [200, 403]);
  },
  "server.trustedProxies": compare(
    look(refusedOrigin),
    [{ trustedProxies: ["127.0.0.0/8"] }, "203.0.113.7"],
    [{}, "127.0.0.1"],
  ),
  "server.proxyToken": async () => {
    const ask = look(({ url }) => initialize(url, { "x-glovebox-proxy-token": "sixteen characters" }));
    const answers = [await ask({ proxyToken: "sixteen characters" }), await ask({ proxyToken: "sixteen Characters" })];
    assert.deepEqual(answers, [406, 403]);
  },
  "server.tls.cert": compare(
    look(({ url }) => readCertificate(url)),
    [{ tls: pair("one") }, "one"],
    [{ tls: pair("two") }, "two"],
  ),
  "server.tls.key": compare(
    look(({ url }) => readCertificate(url)),
    [{ tls: { ...pair("one"), key: pair("two").key } }, "CONFIG_INVALID"],
    [{ tls: pair("one") }, "one"],
  ),
  "server.admin.host": compare(
    look(async ({ pageUrl }) => new URL(pageUrl).hostname),
    [{ admin: { host: "127.0.0.2", port: 0 } }, "127.0.0.2"],
    [{ admin: { port: 0 } }, "127.0.0.1"],
  ),
  "server.admin.port": async () => {
    const ask = look(async ({ url, pageUrl }) => [
      await send(url, "/api/status"),
      await send(pageUrl, "/api/status"),
      await send(pageUrl, "/mcp"),
    ]);
    assert.deepEqual(await ask({ admin: { port: 0 } }), [404, 401, 404]);
    assert.deepEqual(await ask({}), [401, 401, 406]);
  },
  "approvals.separate": compare(
    decideAs(OPERATOR, "read"),
    [{ separate: true }, "POLICY_DENIED"],
    [{ separate: false }, "approved"],
  ),
  "approvals.fourEyes": compare(
    decideAs(OPERATOR, "destroy"),
    [{ fourEyes: true }, "pending"],
    [{ fourEyes: false }, "approved"],
  ),
  "approvals.showArguments": compare(
    decideAs(ADA, "read"),
    [{ showArguments: "reviewers" }, "POLICY_DENIED"],
    [{ showArguments: "all" }, "approved"],
  ),
};
