/** The labels that principals hold beyond a session, for operators. No program and no MCP client reaches this. */

import { GloveboxError, defined, hasRole } from "../../domain/index.ts";
import type { Instant, JsonObject, LabelSource, Principal, PrincipalId } from "../../domain/index.ts";
import type { Store } from "../../store/index.ts";
import { CLEARED_KEY, isCleared, toForgetMs } from "./open-flows.ts";

export interface HeldLabels {
  readonly principal: PrincipalId;
  readonly labels: readonly LabelSource[];
  /** The last labeled read. */
  readonly readAt: Instant;
  /** Sessions that open until then inherit the labels; absent if that time is over. */
  readonly inheritedUntil?: Instant;
}

export interface LabelDesk {
  /** Sorted by principal. */
  list(): Promise<readonly HeldLabels[]>;
  /**
   * Removes the labels of a principal and of its sessions in every gateway on this store; they poll about once a second.
   * Returns what was stored. POLICY_DENIED for anyone but an operator.
   */
  clear(principal: PrincipalId, by: Principal): Promise<readonly LabelSource[]>;
}

export interface LabelDeskOptions {
  readonly store: Pick<Store, "labels" | "meta">;
  readonly record: (entry: {
    readonly actor: string;
    readonly action: string;
    readonly subject: string;
    readonly detail: JsonObject;
  }) => Promise<unknown>;
  readonly now: () => Instant;
  readonly labelMs: number;
}

export function createLabelDesk({ store, record, now, labelMs }: LabelDeskOptions): LabelDesk {
  const listHeld = async () => (await store.labels.list(now() - toForgetMs(labelMs))).filter((row) => !isCleared(row));
  return {
    async list() {
      const rows = await listHeld();
      return rows.map(({ principal, sources, takenAt }) => {
        const until = takenAt + labelMs;
        const inheritedUntil = until > now() ? until : undefined;
        return { principal, labels: sources, readAt: takenAt, ...defined({ inheritedUntil }) };
      });
    },
    async clear(principal, by) {
      refuseUnlessOperator(by);
      const held = (await listHeld()).find((row) => row.principal === principal)?.sources ?? [];
      const detail = { labels: held.map((source) => ({ ...source })) };
      await record({ actor: by.id, action: "labels.cleared", subject: principal, detail });
      const takenAt = now();
      await store.labels.put({ principal, sources: [], takenAt });
      await store.meta.set(CLEARED_KEY, JSON.stringify([principal, takenAt]));
      return held;
    },
  };
}

function refuseUnlessOperator(by: Principal): void {
  if (hasRole(by, "operator")) return;
  throw new GloveboxError("POLICY_DENIED", `${by.id} is not an operator, and only an operator can clear labels`, {
    hint: "An operator clears them with `glovebox labels clear`",
  });
}
