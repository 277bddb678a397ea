/**
 * Secrets that programs use without reading them: programs that try to get the value, a host that echoes what it
 * receives, and a search through everything that a program or another reader could see. The host's own records prove
 * that it received the value each time.
 */

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before, describe, it } from "node:test";

import type { ExecutionResult } from "../../src/main.ts";
import { probeWith } from "../fixtures/observe-settings.ts";
import { runGlovebox } from "../fixtures/product.ts";
import { findCanaries } from "./canaries.ts";
import { ENCODERS } from "../fixtures/echo-host.ts";
import { readFiles } from "../fixtures/read-files.ts";
import { openSecretGateway } from "../fixtures/secret-gateway.ts";
import type { SecretGateway, SecretRecord } from "../fixtures/secret-gateway.ts";
import { HOSTILE } from "./secret-programs.ts";

const PATIENCE = { timeout: 300_000 };
const random = (): string => randomBytes(10).toString("hex");
const VALUES = { KEY: `Canary21${random()}`, ODD: `c22/+"q<&'>=~ ${random()}` } as const;
const reversed = (text: string): string => Array.from(text).toReversed().join("");
/** Other spellings that a program could reverse. */
const NEEDLES: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(VALUES).flatMap(([name, value]) => [
    [name, value],
    [`${name} reversed`, reversed(value)],
    [`${name} upper`, value.toUpperCase()],
    [`${name} lower`, value.toLowerCase()],
  ]),
);

/** A gateway that has not lent anything yet must mask what another one lent. */
const LATER = "ask for what it kept";

let gateway: SecretGateway;
let results: ReadonlyMap<string, ExecutionResult>;
let records: readonly SecretRecord[];
let printed: string;
let files: Buffer;

async function play(): Promise<void> {
  const grant = { hosts: [gateway.boundHost.hostAndPort], in: ["header", "body"] };
  const input = { bound: `http://${gateway.boundHost.hostAndPort}`, other: `http://${gateway.otherHost.hostAndPort}` };
  const open = () => gateway.open("isolate", { secrets: { KEY: grant, ODD: grant } });
  const played = new Map<string, ExecutionResult>();
  let glovebox = await open();
  for (const [what, code] of Object.entries(HOSTILE)) {
    if (what === LATER) {
      await glovebox.close();
      glovebox = await open();
    }
    played.set(what, await glovebox.execute({ code, input }));
  }
  await glovebox.close();
  results = played;
  const code = `const input = ${JSON.stringify(input)};${HOSTILE["read its echo: json"] ?? ""}`;
  const ran = await runGlovebox(["run", "-", "--json"], { folder: gateway.folder, input: code });
  const audit = await runGlovebox(["audit", "--json", "--limit", "1000"], { folder: gateway.folder });
  printed = [ran, audit].map(({ stdout, stderr }) => stdout + stderr).join("\n");
}

describe("a secret that programs use", PATIENCE, () => {
  before(async () => {
    const analysis = { rules: { "no-prototype-pollution": "off" } };
    gateway = await openSecretGateway({}, { mcpServers: { probe: probeWith() }, audit: { previews: true }, analysis });
    for (const [name, value] of Object.entries(VALUES)) await gateway.setSecret(name, value);
    await play();
    records = await gateway.records();
    files = Buffer.concat([...readFiles(gateway.folder).values()]);
  }, PATIENCE);
  after(() => gateway[Symbol.asyncDispose]());

  it("a granted secret reaches its host in header and body for every program that sends it there", () => {
    for (const path of Object.keys(ENCODERS)) {
      const here = gateway.boundHost.requests.filter((request) => request.path === `/${path}`);
      for (const value of Object.values(VALUES)) {
        assert.ok(
          here.some(({ headers }) => headers["x-key"] === value),
          `${path}: header`,
        );
        assert.ok(
          here.some(({ body }) => body === value),
          `${path}: body`,
        );
      }
    }
    assert.ok(gateway.boundHost.requests.some(({ path, body }) => path === "/keep" && body === VALUES.KEY));
  });

  for (const what of Object.keys(HOSTILE)) {
    it(`a program cannot read a granted secret when it tries to ${what}`, () => {
      const result = results.get(what);
      assert.ok(result);
      assert.deepEqual(findCanaries(JSON.stringify(result), NEEDLES), []);
      const ended = what === "throw it" ? "failed" : "completed";
      assert.equal(result.state, ended, JSON.stringify(result.error));
    });
  }

  it("a granted secret is in no request to another host, although programs forwarded all they had", () => {
    const seen = JSON.stringify(gateway.otherHost.requests);
    assert.deepEqual(findCanaries(seen, NEEDLES), []);
    assert.ok(seen.includes("[secret]"), "answers of the bound host were passed on");
    assert.ok(seen.includes("glovebox-secret-"), "and tokens");
  });

  it("a granted secret is in nothing that was printed or stored", () => {
    assert.deepEqual(findCanaries(printed, NEEDLES), []);
    assert.match(printed, /secret\.lent/);
    assert.match(printed, /\[secret\]/);
    assert.deepEqual(findCanaries(files, NEEDLES), []);
    assert.ok(files.includes("secret.refused"));
  });

  it("the ledger records every loan of a secret, and every refused attempt with its place", () => {
    const lent = records.filter(({ action }) => action === "secret.lent");
    assert.ok(lent.length >= Object.keys(ENCODERS).length * 4);
    assert.deepEqual([...new Set(lent.map(({ detail }) => detail["host"]))], [gateway.boundHost.hostAndPort]);
    const places = new Set(
      records.filter(({ action }) => action === "secret.refused").map(({ detail }) => detail["place"]),
    );
    const tools = records.flatMap(({ detail }) => (detail["place"] === "argument" ? [detail["tool"]] : []));
    assert.deepEqual([...new Set(tools)], ["probe.echo"]);
    assert.deepEqual([...places].map(String).toSorted(), [
      "argument",
      "body",
      "error",
      "header",
      "header name",
      "log",
      "result",
      "url",
    ]);
  });
});
