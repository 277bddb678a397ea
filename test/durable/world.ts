/** Whole gateways on one store and one shop, in this process; some end well, and some are left as a kill leaves them. */

import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as wait } from "node:timers/promises";

import { parseSettings } from "../../src/config/index.ts";
import type { Settings } from "../../src/config/index.ts";
import type { Approval, ExecutionId, ExecutionView, Json } from "../../src/domain/index.ts";
import { openJournals } from "../../src/execution/index.ts";
import type { Journals } from "../../src/execution/index.ts";
import { createPrincipal } from "../../src/host-powers.ts";
import { openGateway } from "../../src/open-gateway.ts";
import { openQueue, openRecords } from "../../src/open-records.ts";
import { nameProcess } from "../../src/processes/index.ts";
import type { Approvals } from "../../src/policy/index.ts";
import { openStore } from "../../src/store/index.ts";
import type { Gateway } from "../../src/surfaces/index.ts";
import { describeShop, openShop } from "./shop.ts";
import type { Shop, ShopView } from "./shop.ts";

export const AGENT = createPrincipal("local", "agent");
export const OPERATOR = createPrincipal("operator", "operator");
const PATIENCE_MS = 50_000;

/** A folder, its configuration, and what is opened on it; all of it is closed and gone afterwards. */
export interface World extends AsyncDisposable {
  readonly folder: string;
  readonly shop: ShopView;
  readonly settings: Settings;
  /** Another gateway on the same store, with these rules beside those of the world. */
  open(rules?: readonly object[]): Promise<Gateway>;
  /** The questions, as another process has them. */
  approvals(): Promise<Approvals>;
  /** What programs were given, as another process reads it. */
  journals(): Promise<Journals>;
  /**
   * The same folder as it is at this moment, with a shop of its own: whatever is under way was left there by a process that
   * is dead. The ends of `cut` never reached the store. To be closed before this world.
   */
  fork(cut?: readonly ExecutionId[]): World;
  /** What the ledger has of an execution itself, in order: `opened`, `closed` and what is between. */
  said(execution: ExecutionId): Promise<readonly string[]>;
  /** Another version of the shop's document, for gateways that open later. */
  describe(version: string): void;
}

export interface WorldOptions {
  /** Parts of the configuration; its rules ask about `pay` and `peek`. */
  readonly config?: Readonly<Record<string, unknown>>;
}

export async function openWorld(options: WorldOptions = {}): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), "glovebox-durable-"));
  const shop = await openShop();
  const rules = [{ id: "people", decision: "ask", tools: ["shop.pay", "shop.peek"] }];
  const config = {
    approvals: { graceMs: 30 },
    analysis: { types: "off" },
    quotas: { executionsPerMinute: 100_000 },
    ...options.config,
    mcpServers: {},
    policy: { flows: "allow", rules },
  };
  const stack = new AsyncDisposableStack();
  const world = createWorld({ folder, shop, config, stack });
  stack.use(shop);
  return world;
}

interface Place {
  readonly folder: string;
  readonly shop: Shop;
  readonly config: { readonly policy: { readonly rules: readonly object[] } };
  readonly stack: AsyncDisposableStack;
}

function createWorld({ folder, shop, config, stack }: Place): World {
  const parse = (rules: readonly object[]): Settings => {
    const policy = { ...config.policy, rules: [...config.policy.rules, ...rules] };
    const openapi = { shop: { document: "shop.json", baseUrl: shop.origin, headers: { "X-World": folder } } };
    return parseSettings({ ...config, openapi, policy }, { folder }, {});
  };
  const settings = parse([]);
  const describe = (version: string): void =>
    writeFileSync(join(folder, "shop.json"), JSON.stringify(describeShop(version)));
  describe("first");
  stack.defer(() => rmSync(folder, { recursive: true, force: true }));
  return {
    folder,
    shop: shop.of(folder),
    settings,
    describe,
    open: async (rules = []) => stack.use(await openGateway(parse(rules), { lasting: true })),
    async approvals() {
      return stack.use(await openQueue(settings, stack.use(await openRecords(settings))));
    },
    async journals() {
      const { store, vault } = stack.use(await openRecords(settings));
      const seal = await vault.openSeal();
      return openJournals({ store: store.journals, seal, now: Date.now, ...settings.journal });
    },
    async said(execution) {
      await using store = await openStore({ path: settings.store.path, now: Date.now });
      const found = await store.ledger.search({ subject: execution, limit: 99 });
      return found.map(({ action }) => action.replace("execution.", "")).toReversed();
    },
    fork(cut = []) {
      const copy = mkdtempSync(join(tmpdir(), "glovebox-durable-"));
      cpSync(folder, copy, { recursive: true });
      const forked = createWorld({ folder: copy, shop, config, stack: new AsyncDisposableStack() });
      leaveDead(forked.settings, cut);
      return forked;
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

/** As after a restart of the machine: whatever ran then has ended. */
function leaveDead({ store }: Settings, cut: readonly ExecutionId[]): void {
  const database = new DatabaseSync(store.path);
  const dead = nameProcess().split("/").with(1, "another").join("/");
  const reopen = database.prepare("UPDATE executions SET state = NULL, ended_at = NULL, result = NULL WHERE id = ?");
  for (const id of cut) reopen.run(id);
  database.prepare("UPDATE executions SET owner = ? WHERE state IS NULL").run(dead);
  database.close();
}

/** Polls, as a client does, until the execution is in one of these states. */
export async function until(
  gateway: Gateway,
  execution: string,
  ...states: readonly ExecutionView["state"][]
): Promise<ExecutionView> {
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    const view = await gateway.view({ principal: AGENT, execution, waitMs: 100 });
    if (states.includes(view.state)) return view;
    if (performance.now() > deadline) throw new Error(`It stays ${view.state}: ${JSON.stringify(view)}`);
    await wait(20);
  }
}

/** Waits until as many questions wait. */
export async function pending(approvals: Approvals, count: number): Promise<readonly Approval[]> {
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    const found = await approvals.list({ isPending: true });
    if (found.length >= count) return found;
    if (performance.now() > deadline) throw new Error(`Only ${found.length} questions came`);
    await wait(20);
  }
}

export function run(gateway: Gateway, code: string, input?: Json) {
  return gateway.execute({ principal: AGENT, code, ...(input !== undefined && { input }) });
}
