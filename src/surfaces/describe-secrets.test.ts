/** What an operator sees of secrets. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { parseSecretName } from "../domain/index.ts";
import { describeSecrets, findSecretUses } from "./describe-secrets.ts";

function nameOf(text: string) {
  const name = parseSecretName(text);
  assert.ok(name);
  return name;
}

test("a secret that the settings refer to and that is not set is listed without a version", async () => {
  const settings = {
    upstreams: new Map([["crm", { headers: { Authorization: ["Bearer ", { secret: nameOf("CRM_TOKEN") }] } }]]),
    sandbox: {
      secrets: new Map([
        [
          nameOf("MAIL"),
          {
            hosts: [
              {
                written: "mail.example.com",
                pattern: { name: "mail.example.com", isBelow: false, port: null },
                isPlain: false,
              },
            ],
            places: ["header"],
            principals: ["ada"],
          },
        ],
      ] as const),
    },
  };
  const vault = { list: async () => [{ name: nameOf("MAIL"), version: 2, setAt: 7 }] };
  const lent = { at: 9, actor: "agent:ci", action: "secret.lent", subject: "MAIL", detail: { purpose: "fetch" } };
  assert.deepEqual(await describeSecrets(settings, vault, { search: async () => [lent] }), [
    { name: "CRM_TOKEN", usedBy: ["mcpServers.crm.headers.Authorization"] },
    {
      name: "MAIL",
      usedBy: [],
      version: 2,
      setAt: 7,
      boundTo: { hosts: ["mail.example.com"], places: ["header"], principals: ["ada"] },
      lastUse: { at: 9, by: "agent:ci", purpose: "fetch" },
    },
  ]);
});

test("a reference is found once for each setting, and an object with more keys is not one", () => {
  const secret = nameOf("A");
  const uses = findSecretUses({
    url: [{ secret }, "/", { secret }],
    other: { secret, more: 1 },
    list: [{ token: [{ secret }] }],
  });
  assert.deepEqual([...uses], [["A", ["url", "list.0.token"]]]);
});
