/** How clients are connected, over the admin API, with the proof that one works: a real call. */

import { Hono } from "hono";

import { defined } from "../../domain/index.ts";
import { describeEntries } from "../../onboarding/index.ts";
import type { Gateway } from "../gateway.ts";
import type { OperatorDoor } from "../operator-records.ts";
import { requireRole } from "./authenticate.ts";
import type { AppEnv } from "./authenticate.ts";
import type { SetupAnswer } from "./contract/setup.ts";

/** People, and programs that embed Glovebox, are not clients. */
const NOT_CLIENTS = /^(?:operator$|library$|person:)/;
/** Builtins prove nothing about a server. */
const BUILTIN = /^glovebox\./;
const LOOKED_AT = 200;
/** Executions that are opened to find a call: each has its whole result. */
const OPENED = 10;

type ClientCall = NonNullable<SetupAnswer["call"]>;

interface SetupDoor {
  readonly gateway: Pick<Gateway, "history">;
  readonly operator: Pick<OperatorDoor, "start">;
  readonly url: string;
  readonly auth: "local" | "required";
}

/** Mounted under `/api/setup`, after the caller is known. */
export function createSetupRoutes({ gateway: { history }, operator, url, auth }: SetupDoor): Hono<AppEnv> {
  const routes = new Hono<AppEnv>();
  const clients = describeEntries(operator.start);
  // Once proved, it is not looked for again by this gateway.
  let proof: ClientCall | undefined;
  routes.get("/", async (c) => {
    requireRole(c.get("caller"), ["operator", "reviewer"]);
    const latest = (await history.list({ limit: LOOKED_AT })).filter(({ principal }) => !NOT_CLIENTS.test(principal));
    proof ??= await findCall(latest, history);
    const answer = { mcp: `${url}/mcp`, needsLogin: auth === "required", clients, agents: countAgents(latest) };
    return c.json({ ...answer, ...defined({ call: proof }) } satisfies SetupAnswer);
  });
  return routes;
}

type Listed = Awaited<ReturnType<Gateway["history"]["list"]>>;

async function findCall(latest: Listed, history: Pick<Gateway["history"], "show">): Promise<ClientCall | undefined> {
  const candidates = latest.filter(
    ({ tools, endedAt }) => endedAt !== null && tools.some((tool) => !BUILTIN.test(tool)),
  );
  for (const { id, principal, startedAt } of candidates.slice(0, OPENED)) {
    // Retention may have dropped it meanwhile.
    const details = await history.show(id).catch(() => undefined);
    const made = details?.result.calls.find(
      ({ tool, outcome, dryRun }) => outcome === "ok" && dryRun !== true && !BUILTIN.test(tool),
    );
    if (made) return { execution: id, principal, tool: made.tool, at: startedAt };
  }
  return undefined;
}

function countAgents(latest: Listed): SetupAnswer["agents"] {
  const byAgent = Map.groupBy(latest, ({ principal }) => principal);
  return [...byAgent].map(([principal, executions]) => ({
    principal,
    executions: executions.length,
    latestAt: Math.max(...executions.map(({ startedAt }) => startedAt)),
  }));
}
