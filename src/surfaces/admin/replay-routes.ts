/** Replays and exports of executions over the admin API, for operators who may see programs. */

import { Hono } from "hono";
import * as z from "zod";

import { GloveboxError, defined, parseExecutionId } from "../../domain/index.ts";
import type { ExecutionId, JsonObject, Principal } from "../../domain/index.ts";
import type { KeptExecution } from "../../execution/index.ts";
import type { Gateway } from "../gateway.ts";
import type { OperatorDoor } from "../operator-records.ts";
import { parseRequest, readBody } from "./api-routes.ts";
import { requireRole } from "./authenticate.ts";
import type { AppEnv } from "./authenticate.ts";
import { REPLAY_ENGINES } from "./contract/executions.ts";
import type { ReplayAnswer } from "./contract/executions.ts";
import { openRecords } from "./server-routes.ts";

const REPLAY = z.strictObject({ engine: z.enum(REPLAY_ENGINES).optional() });

interface ReplayDoor {
  readonly gateway: { readonly approvals: Pick<Gateway["approvals"], "showsArguments"> };
  readonly operator: Pick<OperatorDoor, "openRecords" | "showReplay" | "toRecordingFile">;
}

/** Mounted under `/api/executions`, after the caller is known. One replay runs at a time: each has a sandbox of its own. */
export function createReplayRoutes({ gateway, operator }: ReplayDoor): Hono<AppEnv> {
  const routes = new Hono<AppEnv>();
  let isBusy = false;
  const find = async (raw: string, by: Principal, action: "execution.replayed" | "execution.exported") => {
    if (!gateway.approvals.showsArguments(by)) throw hidden(by);
    return (await openRecords(operator)).findRecording(parseId(raw), { actor: by.id, action });
  };
  const run = async (
    kept: KeptExecution,
    request: Parameters<OperatorDoor["showReplay"]>[1],
  ): Promise<ReplayAnswer> => {
    if (isBusy) {
      throw new GloveboxError("LIMIT_BUSY", "Another replay is running on this gateway", {
        hint: "Try again when it has ended",
      });
    }
    isBusy = true;
    try {
      const { result, difference } = await operator.showReplay(kept, request);
      return { result, ...defined({ difference }) };
    } finally {
      isBusy = false;
    }
  };
  routes.post("/:id/replay", async (c) => {
    requireRole(c.get("caller"), ["operator"]);
    const { engine } = parseRequest(REPLAY, await readBody(c.req.raw), "body");
    const kept = await find(c.req.param("id"), c.get("caller").principal, "execution.replayed");
    return c.json(await run(kept, { signal: c.req.raw.signal, ...defined({ engine }) }));
  });
  routes.post("/:id/export", async (c) => {
    requireRole(c.get("caller"), ["operator"]);
    const kept = await find(c.req.param("id"), c.get("caller").principal, "execution.exported");
    return c.json(operator.toRecordingFile(kept) satisfies JsonObject);
  });
  return routes;
}

function parseId(raw: string): ExecutionId {
  const id = parseExecutionId(raw);
  if (id) return id;
  throw new GloveboxError("REQUEST_NOT_FOUND", `${JSON.stringify(raw.slice(0, 60))} is not an execution`, {
    hint: "Use an id of the list: ex_ and 24 hex digits",
  });
}

function hidden(by: Principal): GloveboxError {
  return new GloveboxError("POLICY_DENIED", `${by.id} does not see programs and results, so it cannot replay them`, {
    hint: "approvals.showArguments is `reviewers`: a person with the role reviewer can",
  });
}
