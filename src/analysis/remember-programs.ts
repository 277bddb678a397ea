/**
 * Keeps the results of the last sources: agents often run the same program again, and the same source against the same
 * tools gives the same program. Programs are immutable, so executions can share one.
 */

import { createRecent } from "../timing/index.ts";
import type { Recent } from "../timing/index.ts";
import { analyze } from "./analyze.ts";
import type { AnalysisOptions, AnalysisResult } from "./analyze.ts";

const MOST_KEPT = 32;
/** Longer sources are rarely sent twice. */
const MOST_CHARS = 8_192;

type Surface = Parameters<typeof analyze>[1];

/** Like `analyze`, with fixed options except `varying`. Refusals are not kept. */
export function rememberAnalyses(
  options: Omit<AnalysisOptions, "limits" | "enabled">,
): (source: string, surface: Surface, varying: Pick<AnalysisOptions, "limits" | "enabled">) => AnalysisResult {
  const kept = new WeakMap<Surface, Recent<string, AnalysisResult>>();
  return (source, surface, varying) => {
    const key = `${varying.enabled} ${varying.limits.sourceBytes} ${source}`;
    const recent = kept.get(surface) ?? createRecent<string, AnalysisResult>(MOST_KEPT);
    const known = recent.get(key);
    if (known) return known;
    const analyzed = analyze(source, surface, { ...options, ...varying });
    if (!analyzed.ok || source.length > MOST_CHARS) return analyzed;
    recent.set(key, analyzed);
    kept.set(surface, recent);
    return analyzed;
  };
}
