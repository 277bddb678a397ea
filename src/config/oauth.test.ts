/** What the settings of a login may be. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { parseConnectorId } from "../domain/index.ts";
import { parseSettings } from "./parse-settings.ts";

const read = (oauth: unknown, server: object = { url: "https://notes.example/mcp" }): unknown => {
  const id = parseConnectorId("notes");
  const settings = parseSettings({ mcpServers: { notes: { ...server, oauth } } }, { folder: "/tmp" }, { ID: "x" });
  const upstream = id && settings.upstreams.get(id);
  return upstream && "oauth" in upstream ? upstream.oauth : undefined;
};

test("a login needs no settings", () => {
  assert.deepEqual(read(undefined), { scopes: [], grants: [] });
});

test("every setting of a login is read, and the secret stays a reference", () => {
  const url = "https://operator.example/glovebox.json";
  const written = { clientId: "${ID}", clientSecret: "${secret:S}", clientMetadataUrl: url, scopes: ["a:b"] };
  assert.deepEqual(read({ ...written, grants: ["10.0.0.5:443"] }), {
    clientId: "x",
    clientSecret: [{ secret: "S" }],
    clientMetadataUrl: url,
    scopes: ["a:b"],
    grants: [{ host: "10.0.0.5", port: 443 }],
  });
});

test("what cannot be meant is refused where it stands", () => {
  const refused: readonly (readonly [unknown, RegExp])[] = [
    [{ clientSecret: "s" }, /oauth\.clientSecret.*only together with clientId/s],
    [{ clientId: "${secret:S}" }, /oauth\.clientId.*is allowed only in/s],
    [{ clientMetadataUrl: "http://operator.example/a" }, /expected an https URL with a path/],
    [{ clientMetadataUrl: "https://operator.example/" }, /expected an https URL with a path/],
    [{ scopes: ["two words"] }, /expected a scope/],
    [{ grants: ["10.0.0.5"] }, /"host:port"/],
    [{ clientID: "x" }, /clientId/],
  ];
  for (const [oauth, message] of refused) assert.throws(() => read(oauth), message, JSON.stringify(oauth));
  assert.throws(() => read({ clientId: "x" }, { command: "true" }), /only together with url/);
});
