/** Credentials that end while several processes check them without a pause. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as pause } from "node:timers/promises";

import { OPERATOR } from "../../../src/identity/index.ts";
import { startOauthGateway, toExchange, toRequest } from "../../fixtures/oauth-gateway.ts";

const OF_EACH = 3;
const CHECKS_BETWEEN = 60;
const WORKERS = 8;

interface Credential {
  readonly name: string;
  readonly check: (process: number) => Promise<boolean>;
  readonly end: () => Promise<unknown>;
}

test("under load an ended credential is refused at every check that begins later, and no other one ever", async (t) => {
  const { room, identity, url, mcp, openBrowser, post } = await startOauthGateway(t);
  const processes = [identity, await room.open(), await room.open()];
  const at = (index: number) => processes[index % processes.length] ?? identity;
  const credentials: Credential[] = [];
  const verify = (text: string) => async (index: number) =>
    (await at(index)
      .verify({ text, origin: "", resource: mcp })
      .catch(() => undefined)) !== undefined;
  for (let count = 0; count < OF_EACH; count += 1) {
    const names = [`first-${count}`, `second-${count}`, `third-${count}`];
    for (const name of names) await identity.people.add(name, ["agent"], OPERATOR);
    const [first = "", second = "", third = ""] = names;
    const { token, summary } = await identity.tokens.create({ name: first, scopes: ["search"] }, OPERATOR);
    credentials.push({ name: first, check: verify(token), end: () => at(count).tokens.revoke(summary.id, OPERATOR) });

    const code = (await (await openBrowser(second)).agree(toRequest(url))).searchParams.get("code");
    const access = String((await post("/oauth/token", toExchange(code))).body["access_token"]);
    const endClient = () => post("/oauth/revoke", { client_id: "by-hand", token: access });
    credentials.push({ name: second, check: verify(access), end: endClient });

    const person = await identity.resolve(`person:${third}` as typeof OPERATOR.id);
    assert.ok(person);
    const opened = await identity.sessions.open(person, "");
    const issued = await identity.sessions.createToken(opened.id);
    const check = async (index: number) => {
      const { sessions } = at(index);
      if (index % 2 === 0) return (await sessions.find(opened.secret, "")) !== undefined;
      return typeof (await sessions.findByToken(issued?.token ?? "", "")) === "object";
    };
    const ends = [
      () => at(count).sessions.end({ id: opened.id }, OPERATOR),
      () => at(count).sessions.end({ principal: person.id }, OPERATOR),
      () => at(count).people.remove(third, OPERATOR),
    ];
    credentials.push({ name: third, check, end: async () => ends[count % ends.length]?.() });
  }

  const [ending, ended] = [new Set<Credential>(), new Set<Credential>()];
  const state = { checks: 0, isOver: false };
  const over = { [Symbol.dispose]: () => void (state.isOver = true) };
  const work = async (worker: number): Promise<void> => {
    using _ = over;
    for (let turn = worker; !state.isOver; turn += 1) {
      const one = credentials[turn % credentials.length];
      assert.ok(one);
      const wasEnded = ended.has(one);
      const isValid = await one.check(turn);
      await pause(); // the checks alone would never let anything else run
      state.checks += 1;
      if (wasEnded) assert.equal(isValid, false, `${one.name} was ended before this check`);
      if (!ending.has(one)) assert.equal(isValid, true, `${one.name} is not ended`);
    }
  };
  const endAll = async (): Promise<void> => {
    using _ = over;
    for (const one of credentials) {
      const enough = state.checks + CHECKS_BETWEEN;
      while (state.checks < enough && !state.isOver) await pause();
      ending.add(one);
      await one.end();
      ended.add(one);
    }
  };
  await Promise.all([endAll(), ...Array.from({ length: WORKERS }, (_, worker) => work(worker))]);
  for (const one of credentials) for (const index of [0, 1, 2]) assert.equal(await one.check(index), false, one.name);
});
