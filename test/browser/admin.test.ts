/** The admin page in a real browser: what it shows, what it blocks, and how a user logs in. */

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import type { TestContext } from "node:test";

import type { Page } from "playwright-core";

import { openEgress } from "../../src/egress/index.ts";
import { startApp } from "../../src/surfaces/admin/fixtures/start-app.ts";
import type { StartedApp } from "../../src/surfaces/admin/fixtures/start-app.ts";
import { OPERATOR } from "../../src/identity/index.ts";
import { EXECUTION, createMemoryGateway } from "../../src/surfaces/mcp/fixtures/memory-gateway.ts";
import type { MemoryGateway } from "../../src/surfaces/mcp/fixtures/memory-gateway.ts";
import { browserOptions, getBrowser, listenForComplaints, webFolder } from "../fixtures/browser.ts";

const options = browserOptions;

interface Visit extends StartedApp {
  readonly page: Page;
  readonly complaints: string[];
}

/** `#code` is replaced by a valid one-time code. */
async function visit(t: TestContext, address: string, known: Partial<MemoryGateway> = {}): Promise<Visit> {
  const context = await getBrowser().newContext({ viewport: { width: 1100, height: 800 } });
  t.after(() => context.close());
  const app = await startApp(t, webFolder, known);
  const code = await app.identity.sessions.createCode(OPERATOR);
  const page = await context.newPage();
  const complaints = listenForComplaints(page);
  await page.goto(`${app.listener.url}/${address.replace(/#code$/, `#code=${code}`)}`);
  return { ...app, page, complaints };
}

const section = (page: Page, name: string): Promise<string> => page.getByRole("region", { name }).innerText();
const open = (page: Page, name: string): Promise<void> =>
  page.getByRole("navigation", { name: "Pages", exact: true }).getByRole("link", { name }).click();

test("the admin page shows version, isolation, servers, tools and executions", options, async (t) => {
  const { page, complaints } = await visit(t, "executions#code");
  const table = page.getByRole("table", { name: "Executions" });
  await table.getByText("LIMIT_TIME").waitFor();
  assert.match(await table.innerText(), /completed.*250 ms.*failed.*LIMIT_TIME.*100 ms.*running/s);
  assert.match(
    await page.getByRole("complementary", { name: "Glovebox" }).innerText(),
    /v9\.9\.9, isolation: process, engine: isolate/,
  );
  await open(page, "Servers");
  await page.getByText("connection refused").waitFor();
  const servers = await section(page, "Servers");
  assert.match(servers, /billing\s+http\s+failed\s.*connection refused\s+Start the server.*github\s+stdio\s+ready/s);
  await open(page, "Setup");
  await page.getByText(/Level process: .*namespaces: This user may not make namespaces/).waitFor();
  assert.deepEqual(complaints, []);
});

test("typing in the admin page searches tools", options, async (t) => {
  const { page, complaints } = await visit(t, "tools#code");
  await page.getByText("github.createIssue").waitFor();
  await page.getByLabel("Search tools").fill("list");
  await page.getByText("github.createIssue").waitFor({ state: "detached" });
  await page.getByText("Lists issues").first().waitFor();
  assert.match(await section(page, "Tools"), /github\.listIssues\s+read\s.*Lists issues/s);
  await page.waitForURL("**/tools?query=list");
  await page.getByLabel("Search tools").fill("no such thing");
  await page.getByText("No tool matches.").waitFor();
  assert.deepEqual(complaints, []);
});

test("a change keeps opened entries, the search box and the focus of the admin page", options, async (t) => {
  const memory = createMemoryGateway();
  let health = memory.health();
  const { page } = await visit(t, "servers#code", { health: () => health });
  await page.getByRole("button", { name: "Error output of billing" }).click();
  await page.getByRole("link", { name: "Tools" }).first().focus();
  health = { ...health, upstreams: health.upstreams.map((one) => ({ ...one, tools: 7 })) };
  await page.getByText("2 servers, 14 tools, 1 need attention").waitFor();
  assert.equal(await page.getByText("line one").isVisible(), true);
  assert.equal(await page.evaluate("document.activeElement.textContent"), "Tools");
});

test("the admin page shows an execution that starts while it is open, and one execution whole", options, async (t) => {
  const memory = createMemoryGateway();
  let lines = await memory.history.list({ limit: 50 });
  const history = { ...memory.history, list: async () => lines, page: async () => ({ executions: lines }) };
  const { page, complaints } = await visit(t, "executions#code", { history });
  await page.getByText("Live").first().waitFor();
  await page.getByText("LIMIT_TIME").waitFor();
  const [one, ...rest] = lines;
  if (one) lines = [{ ...one, id: EXECUTION, state: "failed", errorCode: "LIMIT_CALLS" }, ...rest];
  await page.getByText("LIMIT_CALLS").waitFor();
  await page.getByRole("link", { name: "return (await github.listIssues({})).length;" }).first().click();
  await page.waitForURL(`**/executions/${EXECUTION}`);
  await page.getByText("two issues").waitFor();
  const shown = await page.getByRole("main").innerText();
  for (const text of ["return (await github.listIssues({})).length;", "no-tool-in-loop", "One call each"])
    assert.ok(shown.includes(text), text);
  assert.equal(await page.getByLabel("Value", { exact: true }).innerText(), "2");
  assert.deepEqual(complaints, []);
});

test("markup in the text of a server is shown as text on the admin page", options, async (t) => {
  const { page, complaints } = await visit(t, "tools#code");
  await page.getByText("Creates an issue <img src=x onerror=alert(1)>", { exact: true }).waitFor();
  assert.equal(await page.locator("img[src=x]").count(), 0);
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
  const { page, listener, complaints } = await visit(t, "tools#code");
  await page.getByText("github.createIssue").waitFor();
  assert.equal(page.url(), `${listener.url}/tools`);
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
  const context = await getBrowser().newContext();
  t.after(() => context.close());
  const { listener, identity } = await startApp(t, webFolder, {}, { auth: "required" });
  await identity.people.add("ada", ["operator"], OPERATOR);
  const { code } = await identity.logins.invite("ada", OPERATOR);
  const page = await context.newPage();
  const faults: string[] = [];
  page.on("pageerror", (error) => faults.push(error.message));
  await page.goto(`${listener.url}/login?next=/sessions#invite=${code}`);
  await page.getByLabel("New password").fill("correct horse battery");
  assert.equal(page.url(), `${listener.url}/login?next=/sessions`);
  await page.getByLabel("The same again").fill("correct horse batter");
  await page.getByRole("button", { name: "Set password and log in" }).click();
  await page.getByText("The two passwords differ.").waitFor();
  await page.getByLabel("The same again").fill("correct horse battery");
  await page.getByRole("button", { name: "Set password and log in" }).click();
  await page.getByText("(this browser)").waitFor();

  await page.getByRole("button", { name: "Log out", exact: true }).click();
  await page.getByRole("heading", { name: "Log in" }).waitFor();
  await page.goto(`${listener.url}/sessions`);
  await page.getByText("You will return to /sessions").waitFor();
  await page.getByLabel("Name").fill("ada");
  await page.getByLabel("Password").fill("correct horse batter");
  await page.getByRole("button", { name: "Log in" }).click();
  await page.getByRole("alert").getByText("The name or the password is wrong").waitFor();
  await page.getByLabel("Password").fill("correct horse battery");
  await page.getByRole("button", { name: "Log in" }).click();
  await page.getByText("(this browser)").waitFor();
  assert.deepEqual([page.url(), faults], [`${listener.url}/sessions`, []]);

  const elsewhere = await identity.sessions.open(OPERATOR, "192.0.2.1");
  await page.reload();
  await page.getByRole("button", { name: `End session ${elsewhere.id}` }).click();
  await page.getByRole("button", { name: `End session ${elsewhere.id}` }).waitFor({ state: "detached" });
  assert.equal(await identity.sessions.find(elsewhere.secret, ""), undefined);
  await page.getByRole("button", { name: "Log out everywhere" }).click();
  await page.getByRole("heading", { name: "Log in" }).waitFor();
});

test("the admin page is dark on a dark system and fits a phone", options, async (t) => {
  const { page } = await visit(t, "executions#code");
  await page.emulateMedia({ colorScheme: "dark" });
  await page.getByText("LIMIT_TIME").waitFor();
  const brightness = "parseInt(getComputedStyle(document.body).backgroundColor.slice(4))";
  assert.ok(Number(await page.evaluate(brightness)) < 40);
  await page.setViewportSize({ width: 380, height: 800 });
  for (const name of ["executions", "servers", "tools", "setup", "ledger", "sessions", "approvals"]) {
    await page.goto(new URL(name, page.url()).href);
    await page.getByRole("heading", { level: 1 }).waitFor();
    assert.equal(await page.evaluate("document.documentElement.scrollWidth <= innerWidth"), true, name);
  }
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

  const context = await getBrowser().newContext({ viewport: { width: 700, height: 800 } });
  t.after(() => context.close());
  const page = await context.newPage();
  const complaints = listenForComplaints(page);
  await page.goto(`${listener.url}/tools#code=${await identity.sessions.createCode(OPERATOR)}`);
  await page.getByText("github.createIssue").waitFor();
  await page.goto(other);
  complaints.length = 0;
  await page.getByRole("link", { name: "Log in" }).click();
  await page.getByRole("heading", { name: "Let “editor” act for you?" }).waitFor();
  const shown = await page.getByRole("main").innerText();
  for (const text of [`${other}/callback (this computer)`, `${listener.url}/mcp`, "operator"])
    assert.ok(shown.includes(text));
  await page.getByLabel("execute").uncheck();
  await page.getByRole("button", { name: "Allow" }).click();
  await page.waitForURL(`${other}/callback?**`);
  assert.match(arrived.at(-1) ?? "", /^\/callback\?code=[A-Za-z0-9_-]{43}&iss=/);
  assert.deepEqual(complaints, []);
});
