/** Hosts and secrets: what a skill can ask for, who decides about each, and what takes them away. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { ADA, BOB, NAME, SKILL_TS, openSkills } from "./fixtures/open-skills.ts";
import type { SkillPower } from "./powers.ts";
import { findMissing, parsePowers, toPowerId, toSkillPowers } from "./powers.ts";

const HOST = "api.example.com";
const withNeeds = (needs: string) => ({ "skill.ts": SKILL_TS.replace('["shop.list"]', `["shop.list"], ${needs}`) });
const BOTH = `hosts: ["${HOST}"], secrets: [{ name: "KEY", hosts: ["${HOST}"], reason: "to log in" }]`;

describe("a skill that asks for hosts and secrets", () => {
  const good = [`hosts: ["${HOST}", "*.example.org", "api.example.com:8443", "127.0.0.1:80"]`, BOTH];
  const bad = {
    "a URL": 'hosts: ["https://api.example.com"]',
    "another script": 'hosts: ["аpi.example.com"]',
    everything: 'hosts: ["*"]',
    "a top level": 'hosts: ["*.com/"]',
    "a local name without a port": 'hosts: ["localhost"]',
    "an address without a port": 'hosts: ["10.0.0.1"]',
    "a port that does not exist": 'hosts: ["a.example.com:65536"]',
    "a host twice": `hosts: ["${HOST}", "${HOST}"]`,
    "a secret without a host": 'secrets: [{ name: "KEY", hosts: [] }]',
    "a secret for a host that is not listed": `hosts: ["b.example.com"], secrets: [{ name: "KEY", hosts: ["${HOST}"] }]`,
    "a secret that is not a name": `hosts: ["${HOST}"], secrets: [{ name: "a b", hosts: ["${HOST}"] }]`,
  };
  it("is stored, and refused as a whole if one of them has another form", async (context) => {
    const { submit, desk } = await openSkills(context);
    for (const [what, needs] of Object.entries(bad))
      await assert.rejects(submit(withNeeds(needs)), { code: "REQUEST_INVALID" }, what);
    assert.deepEqual(await desk.list(), []);
    for (const needs of good) assert.equal((await submit(withNeeds(needs))).state, "pending_review");
  });
  it("gets none of them by default: a reviewer decides about each", async (context) => {
    const { submit, desk, store } = await openSkills(context);
    await submit(withNeeds(BOTH));
    const { grants } = await desk.show({ name: NAME });
    assert.deepEqual(
      grants.slice(1).map(({ id, kind, name, reason, decision }) => [id, kind, name, reason, decision]),
      [
        [`host:${HOST}`, "host", HOST, "", "open"],
        ["secret:KEY", "secret", `KEY to ${HOST} (header)`, "to log in", "open"],
      ],
    );
    const undecided = { code: "REQUEST_INVALID", message: /is not decided/ };
    await assert.rejects(desk.approve({ name: NAME }, BOB), undecided);
    await assert.rejects(desk.approve({ name: NAME, grant: [`host:${HOST}`] }, BOB), undecided);
    await assert.rejects(
      desk.approve({ name: NAME, grants: { "tool:shop.list": true, "secret:KEY": true } }, BOB),
      undecided,
    );
    await desk.approve({ name: NAME, grant: [`host:${HOST}`], without: ["secret:KEY"] }, BOB);
    const [row] = await store.skills.list();
    assert.deepEqual(parsePowers(row?.grants ?? "").map(toPowerId), [`host:${HOST}`]);
    const decided = (await desk.show({ name: NAME })).grants.map(({ id, decision }) => [id, decision]);
    assert.deepEqual(decided, [
      ["tool:shop.list", "granted"],
      [`host:${HOST}`, "granted"],
      ["secret:KEY", "refused"],
    ]);
  });
  it("says at each use what goes beyond its caller, and is frozen while a secret is not set", async (context) => {
    const { submit, desk, open, takeSnapshot, secrets } = await openSkills(context);
    await submit(withNeeds(BOTH));
    await desk.approve({ name: NAME, grant: [`host:${HOST}`, "secret:KEY"] }, BOB);
    const tool = [...(await takeSnapshot()).tools.values()].find(({ origin }) => origin.kind === "skill");
    assert.match(tool?.description ?? "", /granted it beyond its caller: host api\.example\.com; secret KEY to api/);
    assert.equal(tool?.effect, "write");
    await assert.rejects(open(), { code: "SKILL_FROZEN", message: /the secret KEY is not set/ });
    secrets.push({ name: "KEY" });
    assert.deepEqual([...((await open()).powers?.secrets.keys() ?? [])], ["KEY"]);
  });
  it("asks again when it asks for more, or sends a secret elsewhere", async (context) => {
    const { submit, desk } = await openSkills(context);
    await submit(withNeeds(`hosts: ["${HOST}"]`));
    await desk.approve({ name: NAME, grant: [`host:${HOST}`] }, BOB);
    await submit(withNeeds(BOTH), ADA);
    const { grants, changes } = await desk.show({ name: NAME });
    assert.deepEqual(
      grants.map(({ id, change }) => [id, change]),
      [
        ["tool:shop.list", "same"],
        [`host:${HOST}`, "same"],
        ["secret:KEY", "new"],
      ],
    );
    assert.deepEqual(changes.removedGrants, []);
    await submit();
    assert.deepEqual((await desk.show({ name: NAME })).changes.removedGrants, [`host:${HOST}`]);
  });
});

const host = (name: string): SkillPower => ({ kind: "host", host: name });

describe("granted powers", () => {
  it("open exactly the granted hosts, and a secret only to those of them", () => {
    const secret = { kind: "secret", name: "KEY", hosts: [HOST, "b.example.com"], places: ["header"] };
    const granted = [...parsePowers(JSON.stringify([host(HOST), host("127.0.0.1:80"), secret]))];
    const powers = toSkillPowers(granted);
    assert.ok(powers?.network.mode === "allowed");
    assert.deepEqual(powers.network.hosts, [{ name: HOST, isBelow: false, port: null }]);
    assert.deepEqual(powers.network.grants, [{ host: "127.0.0.1", port: 80 }]);
    const [bound] = [...powers.secrets.values()];
    assert.deepEqual(
      bound?.hosts.map(({ written }) => written),
      [HOST],
    );
    assert.equal(toSkillPowers([]), undefined);
  });
  it("are missing outside of the policy of the whole gateway", async () => {
    const listSecrets = async () => [];
    const open = { name: "example.com", isBelow: true, port: null };
    const ceiling = { mode: "allowed", hosts: [open], grants: [{ host: "127.0.0.1", port: 80 }] } as const;
    const find = (name: string) => findMissing([host(name)], { listSecrets, ceiling });
    for (const name of [HOST, "*.example.com", "127.0.0.1:80"]) assert.equal(await find(name), undefined, name);
    for (const name of ["example.com", "api.example.org", "api.example.com:8443", "127.0.0.1:81"])
      assert.match((await find(name)) ?? "", /is not within egress\.networkPolicy/, name);
    assert.equal(await findMissing([host("b.org")], { listSecrets }), undefined);
    assert.match(
      (await findMissing([host("b.org")], { listSecrets, ceiling: { mode: "blocked" } })) ?? "",
      /not within/,
    );
  });
});
