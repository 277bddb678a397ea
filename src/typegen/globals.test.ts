/** The declaration of secrets: their names, hosts and places. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { parseSecretName } from "../domain/index.ts";
import type { SecretGrant, SecretGrants } from "../domain/index.ts";
import { declareSecrets } from "./globals.ts";
import { readSecretHost } from "../config/schema/values/host-pattern.ts";

function grantsOf(
  grants: Readonly<Record<string, readonly [hosts: readonly string[], places: SecretGrant["places"]]>>,
) {
  const made: [NonNullable<ReturnType<typeof parseSecretName>>, SecretGrant][] = [];
  for (const [text, [hosts, places]] of Object.entries(grants)) {
    const name = parseSecretName(text);
    const read = hosts.flatMap((host) => {
      const result = readSecretHost(host);
      return result.ok ? [result.value] : [];
    });
    if (name) made.push([name, { hosts: read, places, principals: [] }]);
  }
  const result: SecretGrants = new Map(made);
  return result;
}

test("declareSecrets declares each secret with its hosts and places, or an empty object", () => {
  const grants = grantsOf({
    KEY: [["api.example.com", "http://nas.local:80"], ["header"]],
    TOKEN: [["*.example.org"], ["header", "body"]],
  });
  assert.deepEqual(declareSecrets(grants).split("\n").slice(1), [
    "declare const secrets: {",
    "  /** For the headers of a request to api.example.com, http://nas.local:80. */",
    "  readonly KEY: string;",
    "  /** For the headers or the body of a request to *.example.org. */",
    "  readonly TOKEN: string;",
    "};",
  ]);
  assert.equal(declareSecrets(new Map()), "declare const secrets: {};");
});
