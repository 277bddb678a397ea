/** The pages of an operator in a real browser: who may use the gateway. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";

import { parseSecretName } from "../../src/domain/index.ts";
import { OPERATOR } from "../../src/identity/index.ts";
import { parseLedgerLine, verifyExport } from "../../src/ledger/index.ts";
import type { Gateway } from "../../src/surfaces/gateway.ts";
import { Secret } from "../../src/vault/index.ts";
import { openOperatorDoor } from "../fixtures/operator-door.ts";
import { startApp } from "../../src/surfaces/admin/fixtures/start-app.ts";
import { browserOptions, getBrowser, listenForComplaints, webFolder } from "../fixtures/browser.ts";

test(
  "an operator adds a person, makes a token and revokes it on the page, and the focus returns",
  browserOptions,
  async (t) => {
    const { listener, identity } = await startApp(t, webFolder, {}, { auth: "required" });
    await identity.people.add("root", ["operator"], OPERATOR);
    const context = await getBrowser().newContext({ viewport: { width: 1280, height: 900 } });
    t.after(() => context.close());
    const page = await context.newPage();
    const complaints = listenForComplaints(page);
    await page.goto(`${listener.url}/people#code=${await identity.sessions.createCode(OPERATOR)}`);
    const people = page.getByRole("table", { name: "People" });
    await people.getByRole("cell", { name: "root", exact: true }).waitFor();

    await page.getByRole("button", { name: "Add a person" }).click();
    const dialog = page.getByRole("dialog");
    assert.equal(await page.evaluate("document.activeElement.tagName"), "INPUT", "the first field has the focus");
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    assert.equal(await page.evaluate("document.activeElement.textContent"), "Add a person");
    await page.keyboard.press("Enter");
    await dialog.getByLabel("Name").fill("root");
    await dialog.getByRole("button", { name: "Add person" }).click();
    await dialog.getByRole("alert").waitFor();
    await dialog.getByLabel("Name").fill("bob");
    await dialog.getByLabel("reviewer").check();
    await dialog.getByRole("button", { name: "Add person" }).click();
    await dialog.getByText(/\/login#invite=/).waitFor();
    await dialog.getByRole("button", { name: "Done" }).click();
    assert.match(await people.getByRole("row", { name: /^bob/ }).innerText(), /agent\s+reviewer/);

    await page.getByRole("button", { name: "Create a token" }).click();
    await dialog.getByLabel("Name").fill("ci");
    await dialog.getByText("call every tool of every server, as far as the rules allow").waitFor();
    await dialog.getByLabel("Only tools that match").fill("github.list*");
    await dialog.getByText("call tools that match github.list* of every server").waitFor();
    await dialog.getByRole("button", { name: "Create token" }).click();
    const text = await dialog.getByText(/^gbx_/).innerText();
    assert.equal((await identity.tokens.verify(text, "test"))?.principal.id, "token:ci");
    await dialog.getByRole("button", { name: "I have stored it" }).click();
    assert.equal((await page.content()).includes(text), false, "the token is not on the page any more");
    await page.getByRole("button", { name: "Revoke ci" }).click();
    await dialog.getByRole("button", { name: "Revoke token" }).click();
    await page.getByText("token:ci is revoked").waitFor();
    assert.equal(await identity.tokens.verify(text, "test"), undefined);

    await page.getByRole("button", { name: "Remove bob" }).click();
    await dialog.getByRole("button", { name: "Keep" }).click();
    await people.getByRole("row", { name: /^bob/ }).waitFor();
    await page.getByRole("button", { name: "Remove bob" }).click();
    await dialog.getByRole("button", { name: "Remove person" }).click();
    await people.getByRole("row", { name: /^bob/ }).waitFor({ state: "detached" });
    assert.deepEqual(
      complaints.filter((complaint) => !complaint.includes("status of 409")),
      [],
    );
  },
);

test(
  "an operator sets, replaces and removes a secret on the page, and the value is not on it",
  browserOptions,
  async (t) => {
    const operator = await openOperatorDoor(t, {
      mcpServers: { crm: { url: "https://crm.example.com/mcp", headers: { Authorization: "Bearer ${secret:CRM}" } } },
    });
    const { listener, identity } = await startApp(t, webFolder, {}, { operator });
    const context = await getBrowser().newContext({ viewport: { width: 1280, height: 900 } });
    t.after(() => context.close());
    const page = await context.newPage();
    const complaints = listenForComplaints(page);
    await page.goto(`${listener.url}/secrets#code=${await identity.sessions.createCode(OPERATOR)}`);
    await page.getByText("mcpServers.crm.headers.Authorization").waitFor();
    const dialog = page.getByRole("dialog");
    await page.getByRole("button", { name: "Set CRM" }).click();
    await dialog.getByLabel("Value").fill("s3cret-value-of-crm");
    await dialog.getByRole("button", { name: "Set secret" }).click();
    await page.getByText("CRM is set").waitFor();
    await page.getByText("set, version 1").waitFor();
    const { vault } = await operator.openRecords();
    const [crm] = await vault.list();
    assert.equal(crm && (await vault.lend(crm.name, "a test")).reveal(), "s3cret-value-of-crm");
    assert.equal((await page.content()).includes("s3cret-value"), false);

    await page.getByRole("button", { name: "Replace CRM" }).click();
    if (crm) await vault.remove(crm.name, "person:another");
    await dialog.getByLabel("Value").fill("another");
    await dialog.getByRole("button", { name: "Replace secret" }).click();
    await dialog.getByText("Nothing was changed: CRM is not set any more").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("cell", { name: "not set" }).waitFor();
    assert.deepEqual(
      complaints.filter((complaint) => !complaint.includes("status of 409")),
      [],
    );
  },
);

test(
  "an operator searches, verifies and exports the ledger on the page, and damage is shown",
  browserOptions,
  async (t) => {
    const operator = await openOperatorDoor(t);
    const reader = (await operator.readRecords()).openReader();
    const { vault } = await operator.openRecords();
    const name = parseSecretName("CRM");
    assert.ok(name);
    for (let round = 0; round < 3; round += 1) await vault.set(name, new Secret(`value ${round}`), "person:ada");
    const records: Gateway["records"] = async (query) => (await reader.search(query)).map(trustLine);
    const { listener, identity } = await startApp(t, webFolder, { records }, { operator });
    const context = await getBrowser().newContext({ viewport: { width: 1280, height: 900 } });
    t.after(() => context.close());
    const page = await context.newPage();
    const complaints = listenForComplaints(page);
    await page.goto(`${listener.url}/ledger#code=${await identity.sessions.createCode(OPERATOR)}`);
    const table = page.getByRole("table", { name: "Records" });
    await table.getByText("secret.set").first().waitFor();
    await page.getByLabel("Action").selectOption("secret");
    await page.waitForURL("**/ledger?action=secret");
    await page.getByLabel("Subject").fill("NONE");
    await page.getByText("No record matches").waitFor();
    await page.getByRole("link", { name: "Clear filters" }).click();
    await table.getByRole("button", { name: "secret.set" }).last().click();
    await page.waitForURL(/record=\d+$/);
    await page
      .getByRole("complementary", { name: /^Record / })
      .getByText('"version": 1')
      .waitFor();

    const download = page.waitForEvent("download");
    await page.getByRole("link", { name: "Export" }).click();
    const lines = readFileSync(await (await download).path(), "utf8")
      .trim()
      .split("\n");
    assert.deepEqual((await verifyExport(toAsync(lines.map(parseLedgerLine)))).ok, true);
    await page.getByRole("button", { name: "Verify" }).click();
    await page.getByText(/^\d+ records intact/).waitFor();

    const { path } = operator.settings.store;
    using database = new DatabaseSync(path);
    database.exec("DROP TRIGGER ledger_is_not_edited; UPDATE ledger SET actor = 'another' WHERE seq = 2");
    await page.getByRole("button", { name: "Verify" }).click();
    await page.getByRole("alert").getByText("Record 2: the record was changed").waitFor();
    assert.deepEqual(complaints, []);
  },
);

function trustLine(record: object) {
  return record as Awaited<ReturnType<Gateway["records"]>>[number];
}

async function* toAsync<Item>(items: readonly Item[]): AsyncIterable<Item> {
  yield* items;
}
