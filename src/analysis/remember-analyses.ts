/**
 * Keeps what became of the last sources: agents run the same program again and again, and the same text against the
 * same tools comes to the same program. Nothing in one is ever changed, so executions may share it.
 */

import { analyze } from "./analyze.ts";
import type { AnalysisOptions, Analyzed } from "./analyze.ts";

const MOST_KEPT = 32;
/** A longer text is rarely sent twice, and would be kept for nothing. */
const MOST_CHARS = 8_192;

type Surface = Parameters<typeof analyze>[1];

/** As `analyze`, with options that are the same each time but for these. Refusals are made anew. */
export function rememberAnalyses(
  options: Omit<AnalysisOptions, "limits" | "enabled">,
): (source: string, surface: Surface, varying: Pick<AnalysisOptions, "limits" | "enabled">) => Analyzed {
  const kept = new WeakMap<Surface, Map<string, Analyzed>>();
  return (source, surface, varying) => {
    const key = `${varying.enabled} ${varying.limits.sourceBytes} ${source}`;
    const known = kept.get(surface) ?? new Map<string, Analyzed>();
    const analyzed = known.get(key) ?? analyze(source, surface, { ...options, ...varying });
    if (!analyzed.ok || source.length > MOST_CHARS) return analyzed;
    known.delete(key);
    known.set(key, analyzed);
    const [oldest] = known.keys();
    if (known.size > MOST_KEPT && oldest !== undefined) known.delete(oldest);
    kept.set(surface, known);
    return analyzed;
  };
}
