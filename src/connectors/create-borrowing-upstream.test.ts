/** What an upstream was lent is masked in what it returns, and its states are recorded. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { parseConnectorId } from "../domain/index.ts";
import type { UpstreamStatus } from "../domain/index.ts";
import { Secret, createMask } from "../vault/index.ts";
import { name, setUp } from "../vault/fixtures/set-up.ts";
import type { Connector } from "./connector.ts";
import { createBorrowingUpstream } from "./create-borrowing-upstream.ts";
import type { SecretLender, UpstreamEntry } from "./create-borrowing-upstream.ts";

const id = parseConnectorId("up");
assert.ok(id);

interface Rig {
  readonly lender: SecretLender;
  readonly enter: (state: UpstreamStatus["state"]) => void;
  readonly say: (text: string) => Promise<unknown>;
  readonly entries: readonly UpstreamEntry[];
  readonly mask: ReturnType<typeof createMask>;
}

function rig(vault: Parameters<typeof createBorrowingUpstream>[0]["vault"], credentials: readonly string[] = []): Rig {
  const mask = createMask();
  const entries: UpstreamEntry[] = [];
  let parts: { readonly lender: SecretLender; readonly enter: (state: UpstreamStatus["state"]) => void } | undefined;
  const options = {
    vault,
    mask,
    record: (entry: UpstreamEntry) => entries.push(entry),
    cleanCause: (text: string) => `<${text}>`,
  };
  const { connector } = createBorrowingUpstream(options, credentials, (lender, enter) => {
    parts = { lender, enter };
    return create();
  });
  assert.ok(parts);
  const { signal } = new AbortController();
  return {
    ...parts,
    entries,
    mask,
    say: async (text) => (await connector.call("echo", { text }, { signal })).value,
  };
}

/** Answers with its argument. */
function create(): Connector {
  assert.ok(id);
  const status: UpstreamStatus = { name: id, state: "failed", transport: "stdio", tools: 0, since: 0, cause: "why" };
  return {
    id,
    status: () => status,
    tools: async () => [],
    call: async (_, { text = null }) => ({ value: text, attachments: [] }),
    onToolsChanged: () => () => undefined,
    close: async () => undefined,
    [Symbol.asyncDispose]: async () => undefined,
  };
}

test("masks a lent secret in results, and in those of the whole gateway if it is long enough", async () => {
  await using fixture = await setUp();
  await fixture.vault.set(name("TOKEN"), new Secret("lent-secret"), "operator");
  const { lender, say, mask } = rig(fixture.vault);
  assert.equal(await say("lent-secret"), "lent-secret");
  await lender.lend(name("TOKEN"), "upstream up");
  assert.equal(await say("lent-secret"), "[secret]");
  assert.equal(mask.hide("lent-secret"), "[secret]");
});

test("masks plain credentials of its settings, and short ones in its own results only", async () => {
  await using fixture = await setUp();
  const { say, mask } = rig(fixture.vault, ["plaintext", "four"]);
  assert.equal(await say("plaintext and four"), "[secret] and [secret]");
  assert.equal(mask.hide("plaintext and four"), "[secret] and four");
});

test("masks in its results what another upstream was lent", async () => {
  await using fixture = await setUp();
  const { say, mask } = rig(fixture.vault);
  mask.add("of-another");
  assert.equal(await say("of-another"), "[secret]");
});

test("records that an upstream is ready, failed or suspended, with a cleaned cause, and no other state", async () => {
  await using fixture = await setUp();
  const { enter, entries } = rig(fixture.vault);
  for (const state of ["connecting", "ready", "failed", "suspended", "closed"] as const) enter(state);
  assert.deepEqual(
    entries.map(({ action, subject, detail }) => ({ action, subject, detail })),
    (["ready", "failed", "suspended"] as const).map((state) => ({
      action: { ready: "upstream.connected", failed: "upstream.failed", suspended: "upstream.suspended" }[state],
      subject: "up",
      detail: { state, transport: "stdio", cause: "<why>" },
    })),
  );
});
