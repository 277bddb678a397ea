/** Approvals on the admin page in a real browser: the evidence, every scope, and what a server asks. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { TestContext } from "node:test";

import { OPERATOR } from "../../src/identity/index.ts";
import { createDesk } from "../../src/policy/approvals/create-desk.ts";
import { memoryRules, openQueue, requestOf } from "../../src/policy/approvals/fixtures/open-queue.ts";
import type { RequestParts } from "../../src/policy/approvals/fixtures/open-queue.ts";
import { PROFILE_RULES } from "../../src/policy/decision.ts";
import { startApp } from "../../src/surfaces/admin/fixtures/start-app.ts";
import type { StartOptions } from "../../src/surfaces/admin/fixtures/start-app.ts";
import { browserOptions, getBrowser, listenForComplaints, webFolder } from "../fixtures/browser.ts";

const options = browserOptions;

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
  const context = await getBrowser().newContext({ viewport: { width: 1200, height: 900 } });
  t.after(() => context.close());
  const page = await context.newPage();
  const complaints = listenForComplaints(page);
  await page.goto(`${listener.url}/approvals/${id}#code=${await identity.sessions.createCode(OPERATOR)}`);
  const article = page.getByRole("article");
  const decision = page.getByRole("complementary", { name: "Decision" });
  await article.waitFor();
  const whenDecided = () => decision.waitFor({ state: "detached" });
  const find = () => approvals.find(id);
  return { page, article, decision, id, written, complaints, whenDecided, find, listener, identity, room };
}

test("the admin page shows the evidence with its limits and approves for the chosen scope", options, async (t) => {
  const { article, decision, find, written, complaints, whenDecided } = await visit(t, {});
  assert.deepEqual(await article.getByLabel("Evidence").getByRole("listitem").allInnerTexts(), [
    "`body` contains text of mail.read #3",
    "`toU+202E` did not change in 4 of the replays, which does not prove that it depends on nothing",
    "it was called in all of 4 replays, which does not prove that it always is",
    "seen in 4 replays with other data in place of mail.read #3; a rare case may be missed",
  ]);
  await decision.getByLabel("This tool, this session").check();
  await decision.getByRole("button", { name: "Approve" }).click();
  await whenDecided();
  const decided = await find();
  assert.deepEqual([decided?.state, decided?.scope, written], ["approved", "session-tool", []]);
  assert.deepEqual(complaints, []);
});

test("the admin page shows the rule of a lasting decision before it can be made", options, async (t) => {
  const { page, decision, find, written, whenDecided } = await visit(t, { rule: PROFILE_RULES.balanced });
  const held = Promise.withResolvers<void>();
  await page.route("**/rule?scope=*", async (route) => {
    await held.promise;
    await route.continue();
  });
  await decision.getByLabel("These arguments, always").check();
  const approve = decision.getByRole("button", { name: "Approve and add this rule" });
  assert.equal(await approve.isDisabled(), true);
  held.resolve();
  await decision.getByText("This rule is added to /state/rules.json:").waitFor();
  const rule = JSON.parse(await decision.getByLabel("Rule", { exact: true }).innerText()) as object;
  await approve.click();
  await whenDecided();
  assert.deepEqual([(await find())?.state, written], ["approved", [rule]]);
});

test("the admin page names the rule that a lasting decision cannot loosen", options, async (t) => {
  const { decision, find, written, whenDecided } = await visit(t, {});
  await decision.getByLabel("This tool, always").check();
  await decision.getByText(/rules\[0\] asks about shop\.pay, and an allow rule cannot loosen it\. Change or/).waitFor();
  assert.equal(await decision.getByRole("button", { name: "Approve" }).isDisabled(), true);
  assert.deepEqual([(await find())?.state, written], ["pending", []]);
  await decision.getByLabel("This call").check();
  await decision.getByRole("button", { name: "Approve" }).click();
  await whenDecided();
  assert.equal((await find())?.scope, "call");
});

test("the admin page names the command that answers the form of a server, and can decline it", options, async (t) => {
  const { decision, id, find, whenDecided } = await visit(t, { question: "form" });
  await decision.getByText(`glovebox answer ${id}`).waitFor();
  const buttons = await decision.getByRole("button").allInnerTexts();
  assert.deepEqual(buttons, ["Copy", "Decline"]);
  await decision.getByRole("button", { name: "Decline" }).click();
  await whenDecided();
  assert.equal((await find())?.state, "rejected");
});

test("the admin page answers a server that asks to open an address", options, async (t) => {
  const { article, decision, find, whenDecided } = await visit(t, { question: "url" });
  await article.getByText("https://login.example/start").waitFor();
  await decision.getByRole("button", { name: "I have opened the address" }).click();
  await whenDecided();
  assert.equal((await find())?.state, "approved");
});

test("the admin page asks for a new login before a decision, and then repeats it", options, async (t) => {
  const start = { auth: "required", stepUpMs: 60_000 } as const;
  const { page, article, decision, find, whenDecided, listener, identity, room, complaints, id } = await visit(
    t,
    {},
    start,
  );
  const approve = decision.getByRole("button", { name: "Approve" });
  const dialog = page.getByRole("dialog", { name: "Log in again" });
  room.clock.now += 60_001;
  await approve.click();
  await dialog.getByText("glovebox open").waitFor();
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await page.getByText("Nothing was changed: this needs a new login.").waitFor();
  assert.equal((await find())?.state, "pending");

  await identity.people.add("ada", ["operator"], OPERATOR);
  const { code } = await identity.logins.invite("ada", OPERATOR);
  await page.goto(`${listener.url}/login?next=/approvals/${id}#invite=${code}`);
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
  const others = complaints.filter((complaint) => !complaint.includes("status of 401"));
  assert.deepEqual([decided?.state, decided?.decidedBy, others], ["approved", "person:ada", []]);
});
