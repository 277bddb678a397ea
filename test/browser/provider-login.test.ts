/** A person in a real browser logs in at a real OpenID Connect provider in another process, and again for a change. */

import assert from "node:assert/strict";
import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";

import type { Page } from "playwright-core";

import { openEgress } from "../../src/egress/index.ts";
import { OPERATOR } from "../../src/identity/index.ts";
import { startApp } from "../../src/surfaces/admin/fixtures/start-app.ts";
import { browserOptions, getBrowser, webFolder } from "../fixtures/browser.ts";

const options = { ...browserOptions, timeout: 90_000 };

const STEP_UP_MS = 15 * 60_000;
const SECRET = "secret of the gateway";

/** A provider that knows the gateway which `register` names. */
async function startProvider(t: TestContext) {
  const child = fork(join(import.meta.dirname, "../fixtures/servers/oidc-provider.ts"), {
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  t.after(() => child.kill());
  const [{ issuer }] = (await once(child, "message")) as [{ issuer: string }];
  const register = async (redirectUri: string): Promise<void> => {
    child.send({ redirectUri, secret: SECRET });
    await once(child, "message");
  };
  return { issuer, register };
}

async function signIn(page: Page): Promise<void> {
  await page.getByRole("heading", { name: "The provider" }).waitFor();
  await page.getByLabel("Your name").fill("ada");
  await page.getByRole("button", { name: "Sign in" }).click();
}

test("a person logs in at a provider in the browser, and again in another tab for a change", options, async (t) => {
  const { issuer, register } = await startProvider(t);
  await using egress = openEgress();
  const settings = { issuer, clientId: "gloves", clientSecret: [SECRET], title: "Company", scopes: ["profile"] };
  const claims = { nameClaim: "preferred_username", groupsClaim: "groups", roles: { admins: ["operator"] } } as const;
  const providers = new Map([["company", { ...settings, ...claims }]]);
  const started = { auth: "required", stepUpMs: STEP_UP_MS, oauth: { egress }, providers } as const;
  const { listener, identity, room } = await startApp(t, webFolder, {}, started);
  await register(`${listener.url}/login/callback/company`);
  const context = await getBrowser().newContext();
  t.after(() => context.close());
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("console", (message) => {
    if (/Content Security Policy|Cross-Origin/.test(message.text())) complaints.push(message.text());
  });

  room.clock.now = Date.now() - STEP_UP_MS - 60_000;
  await page.goto(`${listener.url}/approvals`);
  await page.getByRole("button", { name: "Log in with Company" }).click();
  await signIn(page);
  await page.getByRole("heading", { name: "Approvals" }).waitFor();
  assert.equal(page.url(), `${listener.url}/approvals`);
  assert.deepEqual(
    (await identity.people.list()).map(({ name, roles, issuer: at }) => [name, roles, at]),
    [["ada", ["operator"], issuer]],
  );

  room.clock.now = Date.now();
  await page.goto(`${listener.url}/sessions`);
  const { id } = await identity.sessions.open(OPERATOR, "192.0.2.1");
  await page.reload();
  await page.getByRole("button", { name: `End session ${id}` }).click();
  const opened = context.waitForEvent("page");
  await page.getByRole("button", { name: "Log in in a new tab" }).click();
  const tab = await opened;
  await signIn(tab);
  await tab.getByText("You are logged in again").waitFor();
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByRole("button", { name: `End session ${id}` }).waitFor({ state: "detached" });
  const own = (await identity.sessions.list()).filter(({ principal }) => principal === "person:ada");
  assert.equal(own.length, 1, "the new session replaced the former one");
  assert.deepEqual(complaints, []);
});
