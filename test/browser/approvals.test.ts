/** Approvals on the admin page in a real browser: the evidence, every scope, and what a server asks. */

import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { TestContext } from "node:test";

import { chromium } from "playwright-core";
import type { Browser } from "playwright-core";

import { OPERATOR } from "../../src/identity/index.ts";
import { createDesk } from "../../src/policy/approvals/create-desk.ts";
import { memoryRules, openQueue, requestOf } from "../../src/policy/approvals/fixtures/open-queue.ts";
import type { RequestParts } from "../../src/policy/approvals/fixtures/open-queue.ts";
import { PROFILE_RULES } from "../../src/policy/decision.ts";
import { startApp } from "../../src/surfaces/admin/fixtures/start-app.ts";
import type { StartOptions } from "../../src/surfaces/admin/fixtures/start-app.ts";
import { buildWeb } from "../../web/build-web.ts";

const CHROMIUM = "/usr/bin/chromium";
const isMissing = !existsSync(CHROMIUM) && process.env["CI"] === undefined;
const options = {
  skip: isMissing ? `no browser at ${CHROMIUM}; install chromium to run this` : false,
  timeout: 60_000,
};
const webFolder = mkdtempSync(join(tmpdir(), "glovebox-approvals-"));
let browser: Browser;

before(async () => {
  await buildWeb(webFolder);
  const args = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"];
  if (!isMissing) browser = await chromium.launch({ executablePath: CHROMIUM, args });
});
after(async () => {
  if (!isMissing) await browser.close();
  rmSync(webFolder, { recursive: true });
});

const SOURCES = [{ tool: "mail.read", seq: 3 }];
const EVIDENCE = {
  kind: "compared",
  rounds: 4,
  wanted: 4,
  made: 4,
  sources: SOURCES,
  args: [
    { name: "body", finding: "changed", cause: { sources: SOURCES, isOneOf: false }, contains: SOURCES },
    { name: "to\u202e", finding: "unchanged" },
  ],
  hadRead: false,
} as const;

/** The page with one waiting call, or one question of a server. */
async function visit(
  t: TestContext,
  asked: RequestParts & { readonly question?: "form" | "url" },
  start: StartOptions = {},
) {
  const queue = await openQueue();
  t.after(() => queue[Symbol.asyncDispose]());
  const { approvals, store } = queue;
  const { rules, written } = memoryRules();
  const findChange = async () => undefined;
  const desk = createDesk({ approvals, store, rules, hide: (text) => text, findChange });
  const { listener, identity, room } = await startApp(t, webFolder, { approvals: desk }, start);
  const call = { ...requestOf(asked), evidence: async () => EVIDENCE };
  const { server, message } = { server: "shop", message: "Who pays?" };
  const { id } = await approvals.request(
    asked.question === undefined
      ? call
      : {
          ...call,
          question:
            asked.question === "url"
              ? { mode: "url", server, message, url: "https://login.example/start" }
              : { mode: "form", server, message, schema: { type: "object", properties: { name: { type: "string" } } } },
        },
  );
  const context = await browser.newContext({ viewport: { width: 900, height: 900 } });
  t.after(() => context.close());
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(error.message));
  await page.goto(`${listener.url}/#code=${await identity.sessions.createCode(OPERATOR)}`);
  const article = page.getByRole("article");
  await article.waitFor();
  const whenDecided = () => article.waitFor({ state: "detached" });
  const find = () => approvals.find(id);
  return { page, article, id, written, complaints, whenDecided, find, listener, identity, room };
}

test("the admin page shows the evidence with its limits and approves for the chosen scope", options, async (t) => {
  const { article, find, written, complaints, whenDecided } = await visit(t, {});
  assert.deepEqual(await article.getByLabel("Evidence").getByRole("listitem").allInnerTexts(), [
    "`body` contains text of mail.read #3",
    String.raw`${"`to\\u202e`"} did not change in 4 of the replays, which does not prove that it depends on nothing`,
    "it was called in all of 4 replays, which does not prove that it always is",
    "seen in 4 replays with other data in place of mail.read #3; a rare case may be missed",
  ]);
  await article.getByLabel("Approve for").selectOption("session-tool");
  await article.getByRole("button", { name: "Approve" }).click();
  await whenDecided();
  const decided = await find();
  assert.deepEqual([decided?.state, decided?.scope, written], ["approved", "session-tool", []]);
  assert.deepEqual(complaints, []);
});

test("the admin page shows the rule of a lasting decision before it can be made", options, async (t) => {
  const { page, article, find, written, whenDecided } = await visit(t, { rule: PROFILE_RULES.balanced });
  const held = Promise.withResolvers<void>();
  await page.route("**/rule?scope=*", async (route) => {
    await held.promise;
    await route.continue();
  });
  await article.getByLabel("Approve for").selectOption("always-arguments");
  const approve = article.getByRole("button", { name: "Approve and add this rule" });
  assert.equal(await approve.isDisabled(), true);
  held.resolve();
  await article.getByText("This rule is added to /state/rules.json:").waitFor();
  const rule = JSON.parse(await article.getByLabel("Rule", { exact: true }).innerText()) as object;
  await approve.click();
  await whenDecided();
  assert.deepEqual([(await find())?.state, written], ["approved", [rule]]);
});

test("the admin page names the rule that a lasting decision cannot loosen", options, async (t) => {
  const { article, find, written, whenDecided } = await visit(t, {});
  await article.getByLabel("Approve for").selectOption("always-tool");
  await article.getByText(/rules\[0\] asks about shop\.pay, and an allow rule cannot loosen it\. Change or/).waitFor();
  assert.equal(await article.getByRole("button", { name: "Approve" }).isDisabled(), true);
  assert.deepEqual([(await find())?.state, written], ["pending", []]);
  await article.getByLabel("Approve for").selectOption("call");
  await article.getByRole("button", { name: "Approve" }).click();
  await whenDecided();
  assert.equal((await find())?.scope, "call");
});

test("the admin page names the command that answers the form of a server, and can decline it", options, async (t) => {
  const { article, id, find, whenDecided } = await visit(t, { question: "form" });
  await article.getByText(`glovebox answer ${id}`).waitFor();
  assert.deepEqual(await article.getByRole("button").allInnerTexts(), ["Decline"]);
  await article.getByRole("button").click();
  await whenDecided();
  assert.equal((await find())?.state, "rejected");
});

test("the admin page answers a server that asks to open an address", options, async (t) => {
  const { article, find, whenDecided } = await visit(t, { question: "url" });
  await article.getByText("https://login.example/start").waitFor();
  await article.getByRole("button", { name: "I have opened the address" }).click();
  await whenDecided();
  assert.equal((await find())?.state, "approved");
});

test("the admin page asks for a new login before a decision, and then repeats it", options, async (t) => {
  const start = { auth: "required", stepUpMs: 60_000 } as const;
  const { page, article, find, whenDecided, listener, identity, room, complaints } = await visit(t, {}, start);
  const approve = article.getByRole("button", { name: "Approve" });
  const dialog = page.getByRole("dialog", { name: "Log in again" });
  room.clock.now += 60_001;
  await approve.click();
  await dialog.getByText("glovebox open").waitFor();
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await page.getByText("Nothing was changed: this needs a new login.").waitFor();
  assert.equal((await find())?.state, "pending");

  await identity.people.add("ada", ["operator"], OPERATOR);
  const { code } = await identity.logins.invite("ada", OPERATOR);
  await page.goto(`${listener.url}/login#invite=${code}`);
  for (const label of ["New password", "The same again"]) await page.getByLabel(label).fill("correct horse battery");
  await page.getByRole("button", { name: "Set password and log in" }).click();
  await article.waitFor();
  room.clock.now += 60_001;
  await approve.click();
  assert.equal(await dialog.getByLabel("Name").inputValue(), "ada");
  await dialog.getByLabel("Password").fill("correct horse batter");
  await dialog.getByRole("button", { name: "Log in and continue" }).click();
  await dialog.getByText("The name or the password is wrong").waitFor();
  assert.equal((await find())?.state, "pending");
  await dialog.getByLabel("Password").fill("correct horse battery");
  await dialog.getByRole("button", { name: "Log in and continue" }).click();
  await whenDecided();
  const decided = await find();
  assert.deepEqual([decided?.state, decided?.decidedBy, complaints], ["approved", "person:ada", []]);
});
