/** Secrets over the admin API: names and uses go out, values only come in. For operators. */

import { Hono } from "hono";
import * as z from "zod";

import { GloveboxError, defined, parseSecretName } from "../../domain/index.ts";
import type { SecretName } from "../../domain/index.ts";
import { Secret } from "../../vault/index.ts";
import type { Vault } from "../../vault/index.ts";
import { describeSecrets } from "../describe-secrets.ts";
import { noStore } from "../operator-records.ts";
import type { OperatorDoor } from "../operator-records.ts";
import { parseRequest, readBody } from "./api-routes.ts";
import { requireRole } from "./authenticate.ts";
import type { AppEnv } from "./authenticate.ts";
import type { SecretChangedAnswer, SecretsAnswer } from "./contract/secrets.ts";

/** A value has at most 64 KiB, and JSON may write each of its bytes as six. */
const BODY_BYTES = 512 * 1024;

const VALUE = z.strictObject({ value: z.string(), version: z.int().min(0) });
const REMOVAL = z.strictObject({ version: z.coerce.number().int().min(1) });

/** Mounted under `/api/secrets`, after the caller is known. */
export function createSecretRoutes({
  settings,
  openRecords = noStore,
  readRecords = noStore,
}: OperatorDoor): Hono<AppEnv> {
  const routes = new Hono<AppEnv>();
  routes.use(async (c, next) => {
    requireRole(c.get("caller"), ["operator"]);
    await next();
  });
  routes.get("/", async (c) => {
    const { vault } = await openRecords();
    const secrets = await describeSecrets(settings, vault, (await readRecords()).openReader());
    const file = settings.source.kind === "file" ? settings.source.path : undefined;
    return c.json({ secrets, ...defined({ file }) } satisfies SecretsAnswer);
  });
  routes.put("/:name", async (c) => {
    const name = parseName(c.req.param("name"));
    const { value, version } = parseRequest(VALUE, await readBody(c.req.raw, BODY_BYTES), "body");
    const { vault } = await openRecords();
    await requireVersion(vault, name, version);
    // A lone surrogate would be stored as another value.
    if (!value.isWellFormed()) throw new GloveboxError("REQUEST_INVALID", "The value is not valid Unicode");
    await vault.set(name, new Secret(value), c.get("caller").principal.id);
    return c.json({ name, version: await versionOf(vault, name) } satisfies SecretChangedAnswer);
  });
  routes.delete("/:name", async (c) => {
    const name = parseName(c.req.param("name"));
    const { version } = parseRequest(REMOVAL, c.req.query(), "query");
    const { vault } = await openRecords();
    await requireVersion(vault, name, version);
    await vault.remove(name, c.get("caller").principal.id);
    return c.json({ name, version: 0 } satisfies SecretChangedAnswer);
  });
  return routes;
}

async function versionOf(vault: Pick<Vault, "list">, name: SecretName): Promise<number> {
  return (await vault.list()).find((one) => one.name === name)?.version ?? 0;
}

/** Another person may have replaced it since this one looked. */
async function requireVersion(vault: Pick<Vault, "list">, name: SecretName, seen: number): Promise<void> {
  const version = await versionOf(vault, name);
  if (version === seen) return;
  const now = version === 0 ? "is not set any more" : `has version ${version} now`;
  throw new GloveboxError("REQUEST_CONFLICT", `Nothing was changed: ${name} ${now}`, { hint: "Look at it again" });
}

function parseName(raw: string): SecretName {
  const name = parseSecretName(raw);
  if (name) return name;
  throw new GloveboxError("REQUEST_INVALID", `${JSON.stringify(raw.slice(0, 80))} is not a valid secret name`, {
    hint: "Use letters, digits and underscores, a letter first",
  });
}
