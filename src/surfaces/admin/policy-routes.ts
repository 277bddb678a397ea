/** The rules over the admin API: what is in force, why, and what a change would do. For operators. */

import { Hono } from "hono";
import * as z from "zod";

import { openRuleBook, parseRules } from "../../config/index.ts";
import { GloveboxError, defined, isJsonObject, parseJson, parsePrincipalId } from "../../domain/index.ts";
import type { PolicyRule, Principal } from "../../domain/index.ts";
import { compilePolicy, describeCondition, simulate } from "../../policy/index.ts";
import { DAY_MS, HOUR_MS } from "../../timing/index.ts";
import type { HttpDoor } from "../gateway.ts";
import { noStore } from "../operator-records.ts";
import { explainCall, lintRules, listTools, loadPolicy, readPastCalls } from "../review-policy.ts";
import { parseRequest, readBody } from "./api-routes.ts";
import { requireRole } from "./authenticate.ts";
import type { AppEnv } from "./authenticate.ts";
import type {
  ExplanationAnswer,
  LintAnswer,
  PolicyAnswer,
  PolicyChangedAnswer,
  SimulationAnswer,
} from "./contract/policy.ts";

/** Calls of a day that are counted by rule. */
const MAX_COUNTED = 50_000;
const MAX_CHARS = 8_000;
const RULE_BYTES = 1024 * 1024;
/** The principal of MCP clients of this machine. */
const CLIENTS = "local";

const EXPLAIN = z.strictObject({
  tool: z.string().min(1).max(MAX_CHARS),
  args: z.string().max(MAX_CHARS).default("{}"),
  principal: z.string().default(CLIENTS),
  groups: z.string().max(MAX_CHARS).default(""),
});
const SIMULATE = z.strictObject({
  rules: z.string(),
  since: z.int().min(0).default(0),
  profile: z.enum(["balanced", "strict", "open"]).optional(),
});

interface PolicyDoor extends Pick<HttpDoor, "gateway" | "operator"> {
  readonly now: () => number;
  /** Whose tools are shown. */
  readonly agent: () => Promise<Principal>;
}

/** Mounted under `/api/policy`, after the caller is known. */
export function createPolicyRoutes(door: PolicyDoor): Hono<AppEnv> {
  const { gateway, operator, now, agent } = door;
  const { settings, openRecords = noStore, readRecords = noStore } = operator;
  const routes = new Hono<AppEnv>();
  routes.use(async (c, next) => {
    requireRole(c.get("caller"), ["operator"]);
    await next();
  });
  routes.get("/", async (c) => c.json((await describePolicy(door, now())) satisfies PolicyAnswer));
  routes.get("/explain", async (c) => {
    const { tool: name, args: text, principal: who, groups } = parseRequest(EXPLAIN, c.req.query(), "query");
    const [args, id] = [parseJson(text), parsePrincipalId(who)];
    if (!isJsonObject(args)) throw invalid("The arguments are one JSON object", 'Write {"amount": 5}');
    if (!id) throw invalid("A principal has 1 to 256 characters", "Use one that the list of executions shows");
    const principal = { id, kind: "agent", groups: groups.split(",").filter((group) => group !== "") } as const;
    return c.json((await explainCall({ name, args, principal }, settings, gateway)) satisfies ExplanationAnswer);
  });
  routes.post("/simulate", async (c) => {
    const { rules, since, profile } = parseRequest(SIMULATE, await readBody(c.req.raw, RULE_BYTES), "body");
    const { policy: own } = settings;
    const proposed = parseProposed(rules, new Set(own.rules.map(({ id }) => id)));
    const policy = compilePolicy({ ...own, profile: profile ?? own.profile, rules: [...own.rules, ...proposed] });
    const past = await readPastCalls((await readRecords()).openReader(), since);
    return c.json(simulate(policy, past) satisfies SimulationAnswer);
  });
  routes.get("/lint", async (c) => c.json((await lintRules(settings, gateway, await agent())) satisfies LintAnswer));
  routes.delete("/rules/:id", async (c) => {
    const id = c.req.param("id");
    await (await openRecords()).rules.revoke(id, c.get("caller").principal);
    return c.json({ removed: id } satisfies PolicyChangedAnswer);
  });
  routes.delete("/labels/:principal", async (c) => {
    const id = parsePrincipalId(c.req.param("principal"));
    if (!id) throw invalid("This is not the name of a principal", "Use one of the list");
    await (await openRecords()).labels.clear(id, c.get("caller").principal);
    return c.json({ removed: id } satisfies PolicyChangedAnswer);
  });
  return routes;
}

/** A mistake in the request, and not in the configuration. */
function parseProposed(text: string, taken: ReadonlySet<string>): readonly PolicyRule[] {
  try {
    return parseRules(text, "the proposed rules", taken);
  } catch (cause) {
    if (!(cause instanceof GloveboxError)) throw cause;
    throw new GloveboxError("REQUEST_INVALID", cause.message, { cause, hint: "Correct the rules" });
  }
}

function invalid(message: string, hint: string): GloveboxError {
  return new GloveboxError("REQUEST_INVALID", message, { hint });
}

async function describePolicy({ gateway, operator, agent }: PolicyDoor, now: number): Promise<PolicyAnswer> {
  const { settings } = operator;
  const policy = await loadPolicy(settings);
  // A store in memory has neither lasting rules nor records of its own here.
  const records = await operator.openRecords?.();
  // One file may have two roles.
  const written = new Map((await openRuleBook(settings).list()).map((rule) => [JSON.stringify(rule), rule]));
  const lasting = new Set(((await records?.rules.list()) ?? []).map(({ id }) => id));
  const own = new Set<string>(settings.policy.rules.map(({ id }) => id));
  const sourceOf = (id: string) => (own.has(id) ? "configuration" : lasting.has(id) ? "decision" : "file");
  const counts = await countDecisions(gateway, now);
  const snapshot = await gateway.takeSnapshot(await agent(), []);
  const labeled = listTools(snapshot).filter(({ labels = [] }) => labels.length > 0);
  const { source } = settings;
  return {
    profile: policy.profile,
    flows: settings.policy.flows,
    rules: compilePolicy(policy).rules.map(({ rule }) => ({
      ...toShown(rule),
      source: sourceOf(rule.id),
      decided: counts.get(rule.id) ?? 0,
    })),
    groups: Object.fromEntries(policy.groups),
    effects: Object.fromEntries(policy.effects),
    labels: settings.policy.labels,
    labelHours: settings.policy.labelMs / HOUR_MS,
    labeled: labeled.map(({ address: tool, effect, labels = [] }) => ({ tool, effect, labels })),
    held: (await records?.labels.list()) ?? [],
    written: [...written.values()],
    quotas: (await records?.listQuotas()) ?? [],
    ...defined({ config: source.kind === "file" ? source.path : undefined, file: records?.rules.file }),
  };
}

/** Conditions in words, because paths and patterns are parsed. */
function toShown({ when, ...rule }: PolicyRule) {
  return { ...rule, ...defined({ when: when?.map(describeCondition) }) };
}

async function countDecisions(gateway: PolicyDoor["gateway"], now: number): Promise<ReadonlyMap<string, number>> {
  const found = await gateway.records({ action: "call.intended", since: now - DAY_MS, limit: MAX_COUNTED });
  const counts = new Map<string, number>();
  for (const { detail } of found) {
    const rule = detail["rule"];
    if (typeof rule === "string" && detail["approval"] === undefined) counts.set(rule, (counts.get(rule) ?? 0) + 1);
  }
  return counts;
}
