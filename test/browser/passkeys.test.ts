/** Passkeys in a real browser, with a virtual device: a person adds one, logs in with it, and uses it for a change. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { OPERATOR } from "../../src/identity/index.ts";
import { startApp } from "../../src/surfaces/admin/fixtures/start-app.ts";
import { browserOptions, getBrowser, webFolder } from "../fixtures/browser.ts";

const options = { ...browserOptions, timeout: 90_000 };

const STEP_UP_MS = 15 * 60_000;
const DEVICE = {
  protocol: "ctap2",
  transport: "internal",
  hasResidentKey: true,
  hasUserVerification: true,
  isUserVerified: true,
  automaticPresenceSimulation: true,
} as const;

test("a person adds a passkey in the browser, logs in with it, and confirms a change with it", options, async (t) => {
  const started = { auth: "required", stepUpMs: STEP_UP_MS } as const;
  const { listener, identity, room } = await startApp(t, webFolder, {}, started);
  const { people, logins } = identity;
  await people.add("ada", ["operator"], OPERATOR);
  const { code } = await logins.invite("ada", OPERATOR);
  const url = `http://localhost:${listener.port}`;
  const context = await getBrowser().newContext();
  t.after(() => context.close());
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(error.message));
  const devices = await page.context().newCDPSession(page);
  await devices.send("WebAuthn.enable");
  const { authenticatorId } = await devices.send("WebAuthn.addVirtualAuthenticator", { options: DEVICE });

  await page.goto(`${url}/login?next=/sessions#invite=${code}`);
  await page.getByLabel("New password").fill("correct horse battery");
  await page.getByLabel("The same again").fill("correct horse battery");
  await page.getByRole("button", { name: "Set password and log in" }).click();
  await page.getByRole("button", { name: "Add a passkey" }).click();
  await page.getByRole("button", { name: "Remove passkey" }).waitFor();
  await page.getByRole("button", { name: "Log out everywhere" }).click();
  await page.goto(`${url}/sessions`);

  await devices.send("WebAuthn.setUserVerified", { authenticatorId, isUserVerified: false });
  await page.getByRole("button", { name: "Log in with a passkey" }).click();
  await page.getByRole("alert").getByText("did not verify you").waitFor();
  await devices.send("WebAuthn.setUserVerified", { authenticatorId, isUserVerified: true });
  await page.getByRole("button", { name: "Log in with a passkey" }).click();
  await page.getByText("(this browser)").waitFor();

  room.clock.now += STEP_UP_MS + 1;
  const { id } = await identity.sessions.open(OPERATOR, "192.0.2.1");
  await page.reload();
  await page.getByRole("button", { name: `End session ${id}` }).click();
  await page.getByRole("button", { name: "Use a passkey" }).click();
  await page.getByRole("button", { name: `End session ${id}` }).waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Remove passkey" }).click();
  await page.getByRole("button", { name: "Remove passkey" }).waitFor({ state: "detached" });
  assert.deepEqual([await identity.passkeys.list(), complaints], [[], []]);
});
