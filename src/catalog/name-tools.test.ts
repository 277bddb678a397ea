/** The naming rule: examples, hostile names, and the properties that the rest of the product relies on. */

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { describe, it } from "node:test";
import { runInNewContext } from "node:vm";
import * as fc from "fast-check";

import { parseToolAddress } from "../domain/index.ts";
import { canBeNamespace, createCollisionTest, nameNamespaces, nameTools } from "./name-tools.ts";
import { RESERVED_NAMESPACES, RESERVED_TOOLS } from "./reserved-names.ts";

const sha = (text: string, digits: number): string => createHash("sha256").update(text).digest("hex").slice(0, digits);
const tool = (name: string): string | undefined => nameTools([name]).get(name);
const namespace = (name: string): string | undefined => nameNamespaces([name]).get(name);
const rename = (names: Record<string, string>, one: (name: string) => string | undefined): void =>
  assert.deepEqual(Object.fromEntries(Object.keys(names).map((name) => [name, one(name)])), names);

describe("one name", () => {
  it("one name becomes a camelCase identifier", () => {
    const names = {
      listIssues: "listIssues",
      list_issues: "listIssues",
      "list-issues": "listIssues",
      "issues/list.all": "issuesListAll",
      ListIssues: "listIssues",
      LIST_ISSUES: "listIssues",
      "get-URL": "getUrl",
      getURL: "getURL",
      URLFetch: "urlFetch",
      "a  b": "aB",
      _private_: "private",
      "v2.get-s3-object": "v2GetS3Object",
      "ｆｕｌｌ width": "fullWidth",
      naïve: "naVe",
    };
    rename(names, tool);
  });
  it("gets a prefix so that it starts with a letter", () => {
    rename({ "2fa_check": "t2faCheck", "42": "t42" }, tool);
    rename({ "2captcha": "ns2captcha" }, namespace);
  });
  it("gets a digest if it has no usable character", () => {
    rename({ "": `tool${sha("", 6)}`, 工具: `tool${sha("工具", 6)}`, "--": `tool${sha("--", 6)}` }, tool);
    rename({ "…": `server${sha("…", 6)}` }, namespace);
  });
  it("one name is shortened above 128 characters, not at 128", () => {
    assert.equal(tool("a".repeat(127)), "a".repeat(127));
    assert.equal(tool("a".repeat(128)), "a".repeat(128));
    assert.equal(tool("a".repeat(129)), "a".repeat(122) + sha("a".repeat(129), 6));
    assert.equal(tool("a".repeat(10_000)), "a".repeat(122) + sha("a".repeat(10_000), 6));
  });
  it("gets a digest if only a part of it was used", () => {
    const long = `x${"-".repeat(1024)}y`;
    assert.equal(tool(long), `x${sha(long, 6)}`);
  });
});

describe("a reserved name", () => {
  it("gets the suffix Tool as a tool name", () => {
    const names = {
      constructor: "constructorTool",
      to_string: "toStringTool",
      toJSON: "toJSONTool",
      prototype: "prototypeTool",
      hasOwnProperty: "hasOwnPropertyTool",
    };
    rename(names, tool);
    assert.equal(tool("then"), "thenTool");
    assert.equal(tool("__proto__"), "proto");
  });
  it("a reserved name can be a keyword as a tool name, because that is only a property", () => {
    rename({ delete: "delete", new: "new", import: "import", console: "console" }, tool);
  });
  it("gets the suffix Server as a namespace", () => {
    const own = "console input glovebox skills secrets results pick omit first last sum count groupBy sortBy unique";
    for (const name of `${own} table chunk fetch eval delete globalThis`.split(" ")) {
      assert.equal(namespace(name), `${name}Server`);
    }
  });
  it("a reserved name does not include `tools` or ordinary words", () => {
    rename({ tools: "tools", github: "github", files: "files", location: "location" }, namespace);
  });
  it("includes every lower-case global and every property of all objects and functions", () => {
    const globals: unknown = runInNewContext("Object.getOwnPropertyNames(globalThis)");
    assert.ok(Array.isArray(globals));
    const missing = [...globals].filter(
      (name) => /^[a-z]/.test(String(name)) && !RESERVED_NAMESPACES.has(String(name)),
    );
    assert.deepEqual(missing, []);
    const inherited = [Object.prototype, Object.getPrototypeOf(() => 0)].flatMap((one) =>
      Object.getOwnPropertyNames(one),
    );
    assert.deepEqual(
      inherited.filter((name) => /^[a-z]/.test(name) && !RESERVED_TOOLS.has(name)),
      [],
    );
  });
});

describe("a collision", () => {
  it("lengthens every name of the colliding group and no other", () => {
    const names = nameTools(["list_issues", "list-issues", "LISTISSUES", "read"]);
    assert.deepEqual(Object.fromEntries(names), {
      list_issues: `listIssues${sha("list_issues", 6)}`,
      "list-issues": `listIssues${sha("list-issues", 6)}`,
      LISTISSUES: `listissues${sha("LISTISSUES", 6)}`,
      read: "read",
    });
  });
  it("a collision is resolved with more digits if a name imitates a digest", () => {
    const imitation = `listIssues${sha("list_issues", 6)}`;
    const names = nameTools(["list_issues", "list-issues", imitation]);
    assert.equal(new Set(names.values()).size, 3);
    assert.equal(names.get("list_issues"), `listIssues${sha("list_issues", 16)}`);
    assert.equal(names.get("list-issues"), `listIssues${sha("list-issues", 6)}`);
    assert.equal(names.get(imitation), `${imitation}${sha(imitation, 6)}`);
  });
  it("a collision is resolved with whole digests in a chain of 2,000 imitations", () => {
    const chain = ["A".repeat(122), "a".repeat(122)];
    for (let last = chain[1] ?? ""; chain.length < 2000; chain.push(last)) {
      last = last.slice(0, 122) + sha(last, 6);
    }
    const names = nameTools(chain);
    assert.equal(new Set([...names.values()].map((name) => name.toLowerCase())).size, chain.length);
    assert.equal(names.get(chain[1999] ?? ""), "a".repeat(64) + sha(chain[1999] ?? "", 64));
  });
  it("a collision is resolved between lone surrogates with equal UTF-8", () => {
    assert.equal(new Set(nameTools(["\ud800", "\ud801", "\udc00"]).values()).size, 3);
  });
});

describe("a kept name", () => {
  const kept = new Map([["transfer_funds", "transferFunds"]]);
  it("does not change when a tool with the same name comes; only the new one gets digits", () => {
    const names = nameTools(["transferFunds", "transfer_funds", "TransferFunds", "read"], kept);
    assert.deepEqual(Object.fromEntries(names), {
      transferFunds: `transferFunds${sha("transferFunds", 6)}`,
      transfer_funds: "transferFunds",
      TransferFunds: `transferFunds${sha("TransferFunds", 6)}`,
      read: "read",
    });
  });
  it("keeps its digits, and no new tool gets its plain name", () => {
    const digits = new Map([["transfer_funds", `transferFunds${sha("transfer_funds", 6)}`]]);
    const names = nameTools(["transfer_funds", "transferFunds"], digits);
    assert.equal(names.get("transfer_funds"), digits.get("transfer_funds"));
    assert.equal(names.get("transferFunds"), `transferFunds${sha("transferFunds", 6)}`);
    assert.ok(createCollisionTest(digits)("TransferFunds"));
  });
  it("a kept name that imitates every digest of a new tool does not become its name", () => {
    const imitations = [6, 16, 64].map((digits) => `transferFunds${sha("transferFunds", digits)}`);
    const all = new Map([...kept, ...imitations.map((name): [string, string] => [name, name])]);
    const name = nameTools(["transferFunds"], all).get("transferFunds") ?? "";
    assert.match(name, /^transferFunds[0-9a-f]{64}$/);
    assert.ok(![...all.values()].includes(name));
  });
  it("collides with names that differ from it only in case and separators", () => {
    const collides = createCollisionTest(kept);
    for (const name of ["transferFunds", "TRANSFER_FUNDS", "transfer-funds", "TransferFunds", "transferfunds"])
      assert.ok(collides(name), name);
    for (const name of ["transfer", "transferFund", "transferFunds2"]) assert.ok(!collides(name), name);
  });
});

describe("names of all kinds", () => {
  const part = fc.oneof(
    fc.constantFrom("list", "List", "LIST", "-", "_", ".", "/", "then", "constructor", "__proto__", "2", "é", "ｌ", ""),
    fc.string({ unit: "binary", maxLength: 4 }),
  );
  const anyName = fc.oneof(
    fc.array(part, { maxLength: 5 }).map((parts) => parts.join("")),
    fc.string({ maxLength: 300 }),
    fc.constantFrom("x".repeat(130), "X".repeat(130), "a".repeat(2000), "\ud800"),
  );
  const anyNames = fc.array(anyName, { maxLength: 30 });

  it("get identifiers that differ even without case", () => {
    fc.assert(
      fc.property(anyNames, (names) => {
        for (const named of [nameTools(names), nameNamespaces(names)]) {
          assert.equal(named.size, new Set(names).size);
          assert.equal(new Set([...named.values()].map((name) => name.toLowerCase())).size, named.size);
        }
      }),
    );
  });
  it("get the same identifiers in any order", () => {
    const shuffled = anyNames.chain((names) =>
      fc.tuple(fc.constant(names), fc.shuffledSubarray(names, { minLength: names.length })),
    );
    fc.assert(
      fc.property(shuffled, ([names, other]) => {
        const [named, again] = [nameTools(names), nameTools(other)];
        assert.deepEqual(
          names.map((name) => named.get(name)),
          names.map((name) => again.get(name)),
        );
      }),
    );
  });
  it("names of all kinds are accepted by canBeNamespace for their own namespace, and not for another", () => {
    fc.assert(
      fc.property(anyNames, (names) => {
        for (const [original, name] of nameNamespaces(names)) assert.ok(canBeNamespace(original, name), name);
      }),
    );
    for (const name of ["shop", "shops", "sho", "server"]) assert.equal(canBeNamespace("Shop", name), name === "shop");
  });
  it("get identifiers that are valid in an address and not reserved", () => {
    fc.assert(
      fc.property(anyNames, (names) => {
        for (const name of nameTools(names).values()) {
          assert.ok(parseToolAddress(`a.${name}`) !== undefined && !RESERVED_TOOLS.has(name), name);
        }
        for (const name of nameNamespaces(names).values()) {
          assert.ok(parseToolAddress(`${name}.a`) !== undefined && !RESERVED_NAMESPACES.has(name), name);
        }
      }),
    );
  });
  it("stay unchanged if they are valid identifiers", () => {
    const good = fc.stringMatching(/^[a-z][A-Za-z0-9]{0,127}$/).filter((name) => !RESERVED_NAMESPACES.has(name));
    fc.assert(fc.property(good, (name) => assert.deepEqual([tool(name), namespace(name)], [name, name])));
    fc.assert(
      fc.property(anyNames, (names) => {
        const named = [...nameTools(names).values()];
        assert.deepEqual([...nameTools(named).values()], named);
      }),
    );
  });
});
