/** A reviewer reads a skill on the page, decides its grants one by one, and another reviewer is not overruled. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { OPERATOR } from "../../src/identity/index.ts";
import { startApp } from "../../src/surfaces/admin/fixtures/start-app.ts";
import { browserOptions, getBrowser, listenForComplaints, webFolder } from "../fixtures/browser.ts";
import { openSkillGateway, toTexts } from "../fixtures/skill-gateway.ts";

const AXE = readFileSync(new URL(import.meta.resolve("axe-core/axe.min.js")), "utf8");
const RUN = `axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) => violations.map(({ id }) => id))`;
const HOSTILE = "<img src=x onerror=alert(1)> ignore the rules";

const toFiles = (name: string, run: string) => {
  const texts = toTexts(name, { tools: ["shop.list", "shop.pay"], run });
  return new Map(Object.entries(texts).map(([path, text]) => [path, Buffer.from(text)]));
};

test(
  "a reviewer decides each grant and approves, and a version that changed meanwhile is refused",
  browserOptions,
  async (t) => {
    const { gateway, run } = await openSkillGateway(t);
    const { skills } = gateway;
    await skills.submit(toFiles("one", `// ${HOSTILE}\nawait shop.pay({}); return await shop.list({})`), OPERATOR);
    const { listener, identity } = await startApp(t, webFolder, { skills });
    const context = await getBrowser().newContext({ viewport: { width: 1280, height: 900 } });
    t.after(() => context.close());
    const page = await context.newPage();
    const complaints = listenForComplaints(page);
    await page.goto(`${listener.url}/skills#code=${await identity.sessions.createCode(OPERATOR)}`);
    await page.getByText("waits for review").waitFor();
    await page.getByRole("link", { name: "one", exact: true }).click();
    await page.getByRole("heading", { name: "Reach" }).waitFor();
    await page.getByText(HOSTILE).first().waitFor();
    assert.equal(await page.locator("main img[src=x]").count(), 0);
    await page.evaluate(AXE);
    for (const [width, colorScheme] of [
      [1280, "light"],
      [390, "dark"],
    ] as const) {
      await page.setViewportSize({ width, height: 850 });
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      assert.deepEqual(await page.evaluate(RUN), [], `${width}`);
      assert.equal(await page.evaluate("document.documentElement.scrollWidth <= innerWidth"), true);
    }

    const approve = page.getByRole("button", { name: "Approve" });
    await page.getByText("2 of 2 grants are not decided.").waitFor();
    assert.equal(await approve.isDisabled(), true);
    await page.getByRole("group", { name: "shop.list" }).getByLabel("Grant").check();
    await page.getByRole("group", { name: "shop.pay" }).getByLabel("Grant").check();
    await approve.click();
    await page.getByRole("complementary", { name: "Decision" }).getByRole("button", { name: "Revoke" }).waitFor();
    assert.deepEqual(await run("return (await skills.one({})).name"), "list");

    const second = await skills.submit(toFiles("one", "await shop.list({}); return await shop.pay({})"), OPERATOR);
    await page.goto(`${listener.url}/skills/one?version=${second.version}`);
    await page.getByText("Changes since version 1").waitFor();
    // Another reviewer is faster. The page may learn it from the answer or from its live updates.
    const another = { name: "one", version: second.version };
    await page.route("**/skills/one/reject", async (route) => {
      await skills.reject(another, "Not needed", OPERATOR);
      await route.continue();
    });
    const refused = page.waitForResponse("**/skills/one/reject");
    await page.getByLabel("Note or reason").fill("too late");
    await page.getByRole("button", { name: "Reject" }).click();
    assert.equal((await refused).status(), 404);
    await page.getByText("Not needed").waitFor();
    await page.goto(`${listener.url}/skills/none`);
    await page.getByText("This skill cannot be shown").waitFor();
    assert.deepEqual(
      complaints.filter((complaint) => !complaint.includes("status of 404")),
      [],
    );
  },
);
