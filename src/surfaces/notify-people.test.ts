/** What a real receiver and a real program of the desktop get when a call waits, and that failures stay outside. */

import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { after, describe, it } from "node:test";
import { setTimeout as wait } from "node:timers/promises";

import type { Settings } from "../config/index.ts";
import { GloveboxError, parseApprovalId } from "../domain/index.ts";
import type { ApprovalId } from "../domain/index.ts";
import { openEgress } from "../egress/index.ts";
import type { ApprovalHead } from "../store/index.ts";
import { startReceiver } from "../telemetry/fixtures/receiver.ts";
import type { Receiver } from "../telemetry/fixtures/receiver.ts";
import { name, setUp } from "../vault/fixtures/set-up.ts";
import { Secret } from "../vault/index.ts";
import { APPROVAL } from "./mcp/fixtures/approval.ts";
import { notifyPeople } from "./notify-people.ts";
import type { NotifyOptions } from "./notify-people.ts";

type Notify = Settings["approvals"]["notify"];

const folder = mkdtempSync(join(tmpdir(), "glovebox-notify-"));
after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));

const { args: _, ...HEAD } = APPROVAL;
const LINK = "http://127.0.0.1:4747/approvals/x?a&b";

function idOf(number: number, kind = "ap"): ApprovalId {
  return parseApprovalId(`${kind}_${String(number).padStart(24, "0")}`) ?? assert.fail();
}

/** `request` is what a gateway calls when a call starts to wait. */
async function open(notify: Notify, more: Partial<NotifyOptions> = {}) {
  const kept = await setUp();
  await kept.vault.set(name("HOOK"), new Secret("key"), "operator");
  const decided = new Set<ApprovalId>();
  const warnings: unknown[] = [];
  const firstWarning = Promise.withResolvers<unknown>();
  const waiting: ApprovalHead[] = [];
  let listener: ((head: ApprovalHead) => void) | undefined;
  const notices = notifyPeople(notify, {
    approvals: {
      onRequestedHere: (added) => {
        listener = added;
        return () => (listener = undefined);
      },
      waiting: async () => waiting.filter(({ id }) => !decided.has(id)),
    },
    people: {
      commands: (id) => ({ show: `show ${id} <x>`, approve: `approve ${id}`, reject: `reject ${id}` }),
      link: async () => LINK,
    },
    egress: openEgress(),
    vault: kept.vault,
    mask: { hide: (text) => text.replaceAll("hunter2", "[secret]") },
    environment: {},
    now: () => HEAD.createdAt + 1_000,
    warn: (thrown) => {
      warnings.push(thrown);
      firstWarning.resolve(thrown);
    },
    firstPauseMs: 20,
    ...more,
  });
  const request = (changes: Partial<ApprovalHead> = {}): void => {
    const head: ApprovalHead = { ...HEAD, ...changes };
    waiting.push(head);
    listener?.(head);
  };
  const close = async (): Promise<void> => {
    await notices[Symbol.asyncDispose]();
    await kept[Symbol.asyncDispose]();
  };
  return { request, decided, warnings, firstWarning: firstWarning.promise, [Symbol.asyncDispose]: close };
}

const hook = ({ url }: Pick<Receiver, "url">, more: object = {}): Notify => ({
  desktop: false,
  webhook: { url: `${url}/hook`, format: "json", ...more },
});
const idsOf = ({ received }: Receiver) => received.map(({ headers }) => headers["webhook-id"]);

describe("the webhook for approvals", () => {
  it("gets who asks for what, why, and how to decide, signed and without arguments", async () => {
    await using receiver = await startReceiver();
    await using people = await open(hook(receiver, { secret: [{ secret: name("HOOK") }] }));
    people.request({ reason: "look at hunter2\u202e" });
    await receiver.until(1);
    const { body = "", headers = {} } = receiver.received[0] ?? {};
    const { id, execution, principal, tool, effect, rule, createdAt, expiresAt } = HEAD;
    assert.deepEqual(JSON.parse(body), {
      type: "approval.requested",
      timestamp: new Date(createdAt).toISOString(),
      data: {
        approval: id,
        execution,
        principal,
        tool,
        effect,
        rule,
        reason: "look at [secret]",
        expiresAt: new Date(expiresAt).toISOString(),
        link: LINK,
        commands: { show: `show ${id} <x>`, approve: `approve ${id}`, reject: `reject ${id}` },
      },
    });
    assert.equal(headers["webhook-id"], id);
    assert.match(String(headers["webhook-signature"]), /^v1,.{44}$/);
  });

  it("is not signed without a secret, and names an input request as such", async () => {
    await using receiver = await startReceiver();
    await using people = await open(hook(receiver));
    people.request({ id: idOf(1, "ir") });
    await receiver.until(1);
    const { body = "", headers = {} } = receiver.received[0] ?? {};
    assert.match(body, /^\{"type":"input\.requested"/);
    assert.equal(headers["webhook-signature"], undefined);
  });

  it("gets one escaped text in the format of Slack", async () => {
    await using receiver = await startReceiver();
    await using people = await open(hook(receiver, { format: "slack" }));
    people.request({ reason: "<!channel> a & b\n> quoted\u001b[31m" });
    await receiver.until(1);
    const { id, execution, principal, tool, effect, rule } = HEAD;
    assert.deepEqual(JSON.parse(receiver.received[0]?.body ?? ""), {
      text: [
        `Approval ${id}: ${tool} (${effect}) waits for a person`,
        `Asked by ${principal} in ${execution}`,
        `Reason: &lt;!channel&gt; a &amp; b &gt; quoted (${rule})`,
        "Open http://127.0.0.1:4747/approvals/x?a&amp;b",
        `Run show ${id} &lt;x&gt;`,
        `Run approve ${id}`,
        `Run reject ${id}`,
      ].join("\n"),
    });
  });

  it("is tried again after a status 500, with one warning", async () => {
    await using receiver = await startReceiver();
    await using people = await open(hook(receiver));
    receiver.status = 500;
    people.request();
    await receiver.until(2);
    receiver.status = 200;
    const tried = receiver.received.length;
    await receiver.until(tried + 1);
    assert.deepEqual(new Set(idsOf(receiver)), new Set([HEAD.id]));
    assert.equal(people.warnings.length, 1);
    const [warning] = people.warnings;
    assert.ok(warning instanceof GloveboxError);
    assert.equal(warning.message, "The webhook for approvals responded with status 500");
  });

  it("gets nothing more about a call that was decided, and the next one", async () => {
    await using receiver = await startReceiver();
    const [first, second] = [idOf(1), idOf(2)];
    const decide = Promise.withResolvers<void>();
    const people = await open(hook(receiver), {
      warn: () => {
        people.decided.add(first);
        receiver.status = 200;
        people.request({ id: second });
        decide.resolve();
      },
    });
    receiver.status = 500;
    people.request({ id: first });
    await decide.promise;
    await receiver.until(2);
    await people[Symbol.asyncDispose]();
    assert.deepEqual(idsOf(receiver), [first, second]);
  });

  it("gets nothing about a call that has waited for an hour, and a younger one", async () => {
    await using receiver = await startReceiver();
    await using people = await open(hook(receiver), { now: () => HEAD.createdAt + 3_600_000 });
    people.request({ id: idOf(1) });
    people.request({ id: idOf(2), createdAt: HEAD.createdAt + 1 });
    await receiver.until(1);
    assert.deepEqual(idsOf(receiver), [idOf(2)]);
  });

  it("leaves out the oldest of too many", async () => {
    await using receiver = await startReceiver();
    await using people = await open(hook(receiver));
    for (let number = 0; number < 150; number += 1) people.request({ id: idOf(number) });
    await receiver.until(101);
    const expected = [0, ...Array.from({ length: 100 }, (_each, index) => index + 50)].map((number) => idOf(number));
    assert.deepEqual(idsOf(receiver), expected);
  });

  it("may never answer: the request returns at once, and closing ends", { timeout: 60_000 }, async () => {
    await using receiver = await startReceiver();
    receiver.status = undefined;
    const people = await open(hook(receiver));
    people.request();
    await receiver.until(1);
    people.request({ id: idOf(2) });
    await people[Symbol.asyncDispose]();
    assert.deepEqual([receiver.received.length, people.warnings], [1, []]);
  });

  it("may redirect: the notice goes nowhere else, with one warning", async () => {
    await using elsewhere = await startReceiver();
    await using receiver = await startReceiver();
    receiver.status = 307;
    receiver.location = `${elsewhere.url}/hook`;
    await using people = await open(hook(receiver));
    people.request();
    const warning = await people.firstWarning;
    assert.ok(warning instanceof GloveboxError);
    assert.match(warning.message, /webhook for approvals|redirect/);
    await receiver.until(2);
    assert.deepEqual([elsewhere.received.length, people.warnings.length], [0, 1]);
  });

  it("may be unreachable: one warning", async () => {
    const { url, ...receiver } = await startReceiver();
    await receiver[Symbol.asyncDispose]();
    await using people = await open(hook({ url }));
    people.request();
    const warning = await people.firstWarning;
    assert.ok(warning instanceof GloveboxError);
    assert.equal(warning.message, "The webhook for approvals did not respond");
  });
});

describe("the desktop", () => {
  /** A program that writes its arguments and its environment to a file, once. */
  const fake = (name: string) => {
    const place = mkdtempSync(join(folder, "bin-"));
    const seen = join(place, "seen");
    writeFileSync(
      join(place, name),
      `#!/bin/sh\n{ for one in "$@"; do printf '[%s]\\n' "$one"; done; env; } > "${seen}.part"\nmv "${seen}.part" "${seen}"\n`,
    );
    chmodSync(join(place, name), 0o700);
    return {
      environment: { PATH: `${place}${delimiter}${process.env["PATH"] ?? ""}`, GLOVEBOX_ENCRYPTION_KEY: "canary" },
      read: async (): Promise<string> => {
        while (!existsSync(seen)) await wait(10);
        return readFileSync(seen, "utf8");
      },
    };
  };
  const show: Notify = { desktop: true };
  const title = `${HEAD.tool} waits for you`;
  const cases = [
    ["linux", "notify-send", `[--app-name=Glovebox]\n[--]\n[${title}]\n[${LINK.replace("&", "&amp;")}]\n`],
    [
      "darwin",
      "osascript",
      `[-e]\n[on run argv\ndisplay notification (item 2 of argv) with title (item 1 of argv)\nend run]\n[${title}]\n[${LINK}]\n`,
    ],
  ] as const;
  for (const [platform, program, expected] of cases)
    it(`gets the tool and the link on ${platform}, and no secret of the environment`, async () => {
      const { environment, read } = fake(program);
      await using people = await open(show, { environment, platform });
      people.request({ reason: "private $(touch x)" });
      const seen = await read();
      assert.equal(seen.slice(0, expected.length), expected);
      assert.match(seen, /^PATH=/m);
      assert.doesNotMatch(seen, /canary|private/);
      assert.deepEqual(people.warnings, []);
    });

  it("gets the command when no page is served", async () => {
    const { environment, read } = fake("notify-send");
    const guide = { commands: () => ({ show: "a <b>", approve: "", reject: "" }), link: async () => undefined };
    await using people = await open(show, { environment, platform: "linux", people: guide });
    people.request();
    assert.match(await read(), /^\[a &lt;b&gt;\]$/m);
  });

  it("may have no such program: one warning that names it", async () => {
    await using people = await open(show, { environment: { PATH: folder }, platform: "linux" });
    people.request();
    people.request({ id: idOf(2) });
    const warning = await people.firstWarning;
    assert.ok(warning instanceof GloveboxError);
    assert.equal(warning.message, "No desktop notification can be shown: notify-send could not be started");
    assert.equal(people.warnings.length, 1);
  });
});
