/** Measures what the check of a bearer token adds to a request, with the store and the vault on disk. */

import { createHmac, createSecretKey, randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { parseSettings } from "../src/config/index.ts";
import { openEgress } from "../src/egress/index.ts";
import { openTestIssuer, RESOURCE } from "../src/identity/fixtures/test-issuer.ts";
import { OPERATOR, openIdentity } from "../src/identity/index.ts";
import type { Identity } from "../src/identity/index.ts";
import { createOauthRecords } from "../src/identity/oauth/oauth-records.ts";
import { openRecords } from "../src/open-records.ts";
import { print } from "./measure.ts";

const CHECKS = 4_000;
const AIM = "aim: 100 µs";

export async function benchIdentity(): Promise<void> {
  console.log("\nBearer tokens (store on disk, one check after the other)");
  const folder = mkdtempSync(join(tmpdir(), "glovebox-bench-"));
  try {
    const settings = parseSettings({ store: { url: `sqlite:${folder}/bench.db` } }, { folder }, {});
    await using egress = openEgress();
    await using issuer = await openTestIssuer(Date.now);
    await using records = await openRecords(settings);
    const { store, ledger, vault } = records;
    const common = { store, ledger, vault, now: Date.now, random: randomBytes };
    const identity = await openIdentity({ ...common, oauth: { egress } });
    await identity.people.add("ada", ["agent"], OPERATOR);
    const person = (await identity.resolve("person:ada" as typeof OPERATOR.id))?.id;
    if (!person) throw new Error("the person is not stored");
    const { token } = await identity.tokens.create({ name: "ci", scopes: ["execute"], person }, OPERATOR);
    await measure("access token of an agent", identity, token);

    const seal = await vault.openSeal();
    const digestFor = (purpose: string) => {
      const key = createSecretKey(seal.derive(purpose));
      return (text: string) => createHmac("sha256", key).update(text).digest();
    };
    const oauth = createOauthRecords({ store: store.identity, now: Date.now, digestFor }, seal);
    const [own, grantId] = ["t".repeat(43), "g".repeat(43)];
    await oauth.put("Grant", grantId, { accountId: "ada", clientId: "cli" }, 600);
    const payload = { accountId: "ada", clientId: "cli", grantId, aud: RESOURCE, scope: "execute search" };
    await oauth.put("AccessToken", own, payload, 600);
    await measure("token of the built-in authorization server", identity, own);

    const external = { issuer: issuer.issuer, algorithm: "ES256", personClaim: "sub", clockToleranceSeconds: 30 };
    const outside = await openIdentity({ ...common, oauth: { egress, external } });
    await measure("JWT of an external authorization server (ES256)", outside, await issuer.sign());
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Time and CPU time of one check; the CPU time is what other requests lose. */
async function measure(name: string, identity: Identity, text: string): Promise<void> {
  const check = async (): Promise<void> => {
    if (!(await identity.verify({ text, origin: "", resource: RESOURCE }))) throw new Error(`${name} was refused`);
  };
  for (let warm = 0; warm < CHECKS / 4; warm += 1) await check();
  const [startedAt, cpu] = [performance.now(), process.cpuUsage()];
  for (let run = 0; run < CHECKS; run += 1) await check();
  const { user, system } = process.cpuUsage(cpu);
  const micros = (value: number): string => `${(value / CHECKS).toFixed(0)} µs`;
  const figure = `${micros((performance.now() - startedAt) * 1000)} / ${micros(user + system)} CPU`;
  print(name, figure, AIM);
}
