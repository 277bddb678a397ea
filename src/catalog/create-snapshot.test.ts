/** For any names of servers and tools, every tool has a unique address that belongs to its server. */

import assert from "node:assert/strict";
import { it } from "node:test";
import * as fc from "fast-check";

import { parseConnectorId, parseToolAddress } from "../domain/index.ts";
import { runAtOnce } from "../timing/index.ts";
import { createSnapshot } from "./create-snapshot.ts";
import { nameNamespaces } from "./name-tools.ts";
import { parseListing } from "./parse-listing.ts";
import { RESERVED_NAMESPACES } from "./reserved-names.ts";
import { createSearch } from "./search/search.ts";

const anyName = fc.oneof(
  fc.constantFrom(
    "git-hub",
    "git_hub",
    "gіthub",
    "github",
    "constructor",
    "__proto__",
    "glovebox",
    "results",
    "1a",
    "a.b",
  ),
  fc.string({ maxLength: 12 }),
  fc.constant("n".repeat(10_000)),
);
const anyServers = fc.dictionary(
  anyName.filter((name) => parseConnectorId(name) !== undefined),
  fc.array(anyName, { maxLength: 6 }),
  { maxKeys: 6, noNullPrototype: true },
);

it("prevents a server from taking another server's namespace or tool, or a global of the sandbox", () => {
  fc.assert(
    fc.property(anyServers, (servers) => {
      const namespaces = nameNamespaces(Object.keys(servers));
      const contributions = Object.entries(servers).map(([server, names]) => ({
        connector: parseConnectorId(server) ?? assert.fail(),
        namespace: namespaces.get(server) ?? assert.fail(),
        listing: runAtOnce(
          parseListing(
            names.map((name) => ({ name })),
            (text) => text,
          ),
        ),
      }));
      const { tools, namespaces: made } = createSnapshot(contributions, 0);
      const listed = Object.values(servers).reduce((sum, names) => sum + new Set(names).size, 0);
      assert.equal(tools.size, listed);
      for (const [address, { origin }] of tools) {
        assert.equal(address.slice(0, address.indexOf(".")), namespaces.get(origin.connector));
        assert.ok(parseToolAddress(address) && servers[origin.connector]?.includes(origin.remoteName));
      }
      assert.deepEqual(
        made.filter(({ name }) => RESERVED_NAMESPACES.has(name)),
        [],
      );
    }),
    { numRuns: 60 },
  );
});

it("adds labels to tools and includes them in the digest of the snapshot", () => {
  const clean = (text: string): string => text;
  const annotations = { openWorld: true, readOnly: true };
  const connector = parseConnectorId("web") ?? assert.fail();
  const other = parseConnectorId("own") ?? assert.fail();
  const contributions = [
    {
      connector,
      namespace: "web",
      listing: runAtOnce(parseListing([{ name: "fetch", annotations, synthetic: true }], clean)),
    },
    { connector: other, namespace: "own", listing: runAtOnce(parseListing([{ name: "sum" }], clean)) },
  ];
  const asked: unknown[] = [];
  const plain = createSnapshot(contributions, 0);
  const labeled = createSnapshot(contributions, 0, {
    labelsOf: (question) => {
      asked.push(question);
      return question.openWorld ? ["external"] : [];
    },
  });
  assert.deepEqual(asked, [
    { connector: other, address: "own.sum", remoteName: "sum", openWorld: false, synthetic: false, effect: "unknown" },
    { connector, address: "web.fetch", remoteName: "fetch", openWorld: true, synthetic: true, effect: "read" },
  ]);
  assert.deepEqual(
    [...labeled.tools.values()].map(({ labels }) => labels),
    [undefined, ["external"]],
  );
  assert.notEqual(labeled.digest, plain.digest);
  const [found] = createSearch(labeled)({ server: "web" }).tools;
  assert.deepEqual(found?.labels, ["external"]);
});
