/** The settings over the admin API, read-only. For operators. */

import { Hono } from "hono";

import { defined } from "../../domain/index.ts";
import { describeSettings } from "../describe-settings.ts";
import type { OperatorDoor } from "../operator-records.ts";
import { requireRole } from "./authenticate.ts";
import type { AppEnv } from "./authenticate.ts";
import type { SettingsAnswer } from "./contract/settings.ts";

/** Mounted under `/api/settings`, after the caller is known. */
export function createSettingsRoutes({ settings }: OperatorDoor): Hono<AppEnv> {
  const routes = new Hono<AppEnv>();
  routes.get("/", (c) => {
    requireRole(c.get("caller"), ["operator"]);
    const file = settings.source.kind === "file" ? settings.source.path : undefined;
    return c.json({ settings: describeSettings(settings), ...defined({ file }) } satisfies SettingsAnswer);
  });
  return routes;
}
