/** The admin page in a real browser: what it shows, what it blocks, and how a user logs in. */

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { TestContext } from "node:test";

import { chromium } from "playwright-core";
import type { Browser, Page } from "playwright-core";

import { openEgress } from "../../src/egress/index.ts";
import { startApp } from "../../src/surfaces/admin/fixtures/start-app.ts";
import { OPERATOR } from "../../src/identity/index.ts";
import type { Listener } from "../../src/surfaces/admin/listen.ts";
import { buildWeb } from "../../web/build-web.ts";

const CHROMIUM = "/usr/bin/chromium";
const FLAGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

const isMissing = !existsSync(CHROMIUM) && process.env["CI"] === undefined;
const options = {
  skip: isMissing ? `no browser at ${CHROMIUM}; install chromium to run this` : false,
  timeout: 60_000,
};

const webFolder = mkdtempSync(join(tmpdir(), "glovebox-page-"));
let browser: Browser;

before(async () => {
  await buildWeb(webFolder);
  if (!isMissing) browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
});
after(async () => {
  if (!isMissing) await browser.close();
  rmSync(webFolder, { recursive: true });
});

interface Visit {
  readonly page: Page;
  readonly listener: Listener;
  /** Everything that the console reported, including violations of the content security policy. */
  readonly complaints: string[];
}

/** `#code` is replaced by a valid one-time code. */
async function visit(t: TestContext, fragment: string, colorScheme: "light" | "dark" = "light"): Promise<Visit> {
  const context = await browser.newContext({ colorScheme, viewport: { width: 1100, height: 800 } });
  t.after(() => context.close());
  const { listener, identity } = await startApp(t, webFolder);
  const code = await identity.sessions.createCode(OPERATOR);
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("dialog", (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  await page.goto(`${listener.url}/${fragment === "#code" ? `#code=${code}` : fragment}`);
  return { page, listener, complaints };
}

const section = (page: Page, name: string): Promise<string> => page.getByRole("region", { name }).innerText();

test("the admin page shows version, isolation, servers, tools and executions", options, async (t) => {
  const { page, complaints } = await visit(t, "#code");
  await page.getByText("github.createIssue").waitFor();
  await page.getByText("LIMIT_TIME").waitFor();

  const header = await page.getByRole("banner").innerText();
  assert.deepEqual(header.split(/\s*\n\s*/), ["Glovebox", "v9.9.9", "isolation: process", "engine: isolate"]);
  assert.match(
    await page.getByRole("note").innerText(),
    /^Reduced isolation\. .*does not confine.*\n.*No namespaces: /s,
  );

  const servers = await section(page, "Servers");
  assert.match(servers, /github\s+2 tools · stdio\s+ready/);
  assert.match(servers, /billing\s+0 tools · http\s+failed\s+connection refused\s+Start the server/);
  assert.match(await section(page, "Recent executions"), /completed.*250 ms.*failed.*100 ms.*LIMIT_TIME.*running.*…/s);
  assert.deepEqual(complaints, []);
});

test(
  "typing in the admin page searches, and a refresh changes neither the search box nor opened entries",
  options,
  async (t) => {
    const { page, complaints } = await visit(t, "#code");
    await page.getByText("github.createIssue").waitFor();
    await page.getByLabel("Search tools").fill("list");
    await page.getByText("github.createIssue").waitFor({ state: "detached" });
    assert.match(await section(page, "Tools"), /github\.listIssues\s+read\s+Lists issues/);
    await page.getByText("Last lines of its error output").click();
    await page.getByLabel("Search tools").focus();
    for (const _ of [1, 2]) await page.waitForResponse((response) => response.url().endsWith("/api/status"));
    assert.equal(await page.getByText("line one").isVisible(), true);
    assert.equal(await page.getByLabel("Search tools").inputValue(), "list");
    assert.equal(await page.evaluate("document.activeElement.id"), "query");

    await page.getByLabel("Search tools").fill("no such thing");
    await page.getByText("No tool matches.").waitFor();
    assert.deepEqual(complaints, []);
  },
);

test("markup in the text of a server is shown as text on the admin page", options, async (t) => {
  const { page, complaints } = await visit(t, "#code");
  await page.getByText("Creates an issue <img src=x onerror=alert(1)>", { exact: true }).waitFor();
  assert.equal(await page.locator("img").count(), 0);
  assert.deepEqual(complaints, []);
});

test(
  "the content security policy blocks markup and code that would slip through the admin page",
  options,
  async (t) => {
    const { page } = await visit(t, "#code");
    const attempt = "try { document.body.innerHTML = '<b>x</b>'; 'done' } catch (error) { error.name }";
    assert.equal(await page.evaluate(attempt), "TypeError");
  },
);

test("the admin page removes the code from the address bar and keeps its session over a reload", options, async (t) => {
  const { page, listener, complaints } = await visit(t, "#code");
  await page.getByText("github.createIssue").waitFor();
  assert.equal(page.url(), `${listener.url}/`);
  await page.reload();
  await page.getByText("github.createIssue").waitFor();
  assert.deepEqual(complaints, []);
  const [cookie, ...others] = await page.context().cookies();
  assert.deepEqual([cookie?.httpOnly, cookie?.sameSite, others], [true, "Strict", []]);
  assert.equal(await page.evaluate("document.cookie"), "");
});

test("the admin page without a session explains how to get one", options, async (t) => {
  const { page } = await visit(t, "");
  await page.getByText("This page needs a session").waitFor();
  assert.match(await page.getByRole("main").innerText(), /glovebox open/);
});

test("the admin page with an unknown code opens no session", options, async (t) => {
  const { page } = await visit(t, `#code=${"x".repeat(43)}`);
  await page.getByText("This page needs a session").waitFor();
  assert.deepEqual(await page.context().cookies(), []);
});

test("a person sets a password on the admin page, logs out, and returns by logging in", options, async (t) => {
  const context = await browser.newContext();
  t.after(() => context.close());
  const { listener, identity } = await startApp(t, webFolder, {}, { auth: "required" });
  await identity.people.add("ada", ["operator"], OPERATOR);
  const { code } = await identity.logins.invite("ada", OPERATOR);
  const page = await context.newPage();
  const faults: string[] = [];
  page.on("pageerror", (error) => faults.push(error.message));
  await page.goto(`${listener.url}/login#invite=${code}`);
  await page.getByLabel("New password").fill("correct horse battery");
  assert.equal(page.url(), `${listener.url}/login`);
  await page.getByLabel("The same again").fill("correct horse batter");
  await page.getByRole("button", { name: "Set password and log in" }).click();
  await page.getByText("The two passwords differ.").waitFor();
  await page.getByLabel("The same again").fill("correct horse battery");
  await page.getByRole("button", { name: "Set password and log in" }).click();
  await page.getByText("github.createIssue").waitFor();

  await page.getByRole("button", { name: "Log out", exact: true }).click();
  await page.getByRole("heading", { name: "Log in" }).waitFor();
  await page.goto(`${listener.url}/approvals`);
  await page.getByText("You will return to /approvals").waitFor();
  await page.getByLabel("Name").fill("ada");
  await page.getByLabel("Password").fill("correct horse batter");
  await page.getByRole("button", { name: "Log in" }).click();
  await page.getByRole("alert").getByText("The name or the password is wrong").waitFor();
  await page.getByLabel("Password").fill("correct horse battery");
  await page.getByRole("button", { name: "Log in" }).click();
  await page.getByText("github.createIssue").waitFor();
  assert.deepEqual([page.url(), faults], [`${listener.url}/approvals`, []]);

  const elsewhere = await identity.sessions.open(OPERATOR, "192.0.2.1");
  await page.getByRole("button", { name: `End session ${elsewhere.id}` }).click();
  await page.getByRole("button", { name: `End session ${elsewhere.id}` }).waitFor({ state: "detached" });
  assert.equal(await identity.sessions.find(elsewhere.secret, ""), undefined);
  await page.getByRole("button", { name: "Log out everywhere" }).click();
  await page.getByRole("heading", { name: "Log in" }).waitFor();
});

test("the admin page is dark on a dark system and fits a phone", options, async (t) => {
  const { page } = await visit(t, "#code", "dark");
  await page.setViewportSize({ width: 380, height: 800 });
  await page.getByText("LIMIT_TIME").waitFor();
  assert.equal(await page.evaluate("getComputedStyle(document.body).backgroundColor"), "rgb(16, 19, 22)");
  assert.equal(await page.evaluate("document.documentElement.scrollWidth <= innerWidth"), true);
});

test("a person who comes from another site lets a client in on a page without scripts", options, async (t) => {
  const arrived: string[] = [];
  const client = createServer((request, response) => {
    // The browser asks for an icon whenever it likes.
    if (request.url !== "/favicon.ico") arrived.push(request.url ?? "");
    response.setHeader("content-type", "text/html").end(`<a href="${start.replaceAll("&", "&amp;")}">Log in</a>`);
  });
  await new Promise<void>((ready) => client.listen(0, "127.0.0.1", ready));
  t.after(() => client.close().closeAllConnections());
  // Another site than the gateway: its links come without the cookie of the session.
  const other = `http://localhost:${(client.address() as AddressInfo).port}`;
  await using egress = openEgress();
  const oauth = { egress, clients: { editor: { redirectUris: ["http://localhost/callback"] } } };
  const { listener, identity } = await startApp(t, webFolder, {}, { auth: "required", oauth });
  await identity.people.add("ada", ["agent"], OPERATOR);
  const code_challenge = createHash("sha256").update("v".repeat(43)).digest("base64url");
  const request = { client_id: "editor", redirect_uri: `${other}/callback`, response_type: "code", code_challenge };
  const query = new URLSearchParams({ ...request, code_challenge_method: "S256" });
  const start = `${listener.url}/oauth/authorize?${query.toString()}`;

  const context = await browser.newContext({ viewport: { width: 700, height: 800 } });
  t.after(() => context.close());
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("console", (message) => void complaints.push(message.text()));
  await page.goto(`${listener.url}/#code=${await identity.sessions.createCode(OPERATOR)}`);
  await page.getByText("github.createIssue").waitFor();
  await page.goto(other);
  complaints.length = 0;
  await page.getByRole("link", { name: "Log in" }).click();
  await page.getByRole("heading", { name: "Let editor act for you?" }).waitFor();
  const shown = await page.getByRole("main").innerText();
  for (const text of [`${other}/callback (this computer)`, `${listener.url}/mcp`, "operator"])
    assert.ok(shown.includes(text));
  await page.getByLabel("execute").uncheck();
  await page.getByRole("button", { name: "Allow" }).click();
  await page.waitForURL(`${other}/callback?**`);
  assert.match(arrived.at(-1) ?? "", /^\/callback\?code=[A-Za-z0-9_-]{43}&iss=/);
  assert.deepEqual(complaints, []);
});
