/** What an entry of `server.oidc` becomes, and which are refused. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { parse, refusal } from "./fixtures/parse.ts";

const ISSUER = "https://login.example.com/realms/team";
const PROVIDER = { issuer: ISSUER, clientId: "gloves", roles: { staff: ["agent"] } } as const;
const toConfig = (changed: object, name = "company") => ({ server: { oidc: { [name]: { ...PROVIDER, ...changed } } } });

test("a login provider has defaults, and its secret is a reference", () => {
  const { server } = parse(toConfig({ clientSecret: "${secret:COMPANY}", title: "${TITLE}" }), { TITLE: "Company" });
  const defaults = { scopes: ["profile", "email"], nameClaim: "preferred_username", groupsClaim: "groups" };
  const expected = { ...PROVIDER, ...defaults, title: "Company", clientSecret: [{ secret: "COMPANY" }] };
  assert.deepEqual([...server.oidc], [["company", expected]]);
});

test("a login provider without TLS, with a name that cannot be in an address, or without roles is refused", () => {
  for (const [config, problem] of [
    [toConfig({ issuer: "http://login.example.com" }), /issuer: expected an https URL/],
    [toConfig({ issuer: "https://login.example.com/?a" }), /issuer: expected an https URL/],
    [toConfig({ roles: {} }), /roles: expected at least one group/],
    [toConfig({ roles: { staff: ["root"] } }), /roles\.staff/],
    [toConfig({ scopes: ["a b"] }), /scopes/],
    [toConfig({}, "a/b"), /oidc/],
    [toConfig({}, "Company"), /oidc/],
  ] as const)
    assert.match(refusal(config) ?? "accepted", problem);
  for (const name of ["company", "a-2"]) assert.equal(parse(toConfig({}, name)).server.oidc.size, 1);
  assert.equal(parse(toConfig({ issuer: "http://127.0.0.1:8080" })).server.oidc.size, 1);
});
