/** Long sources are mostly data, which should come from `input` or a tool. The hard limit is `sourceBytes`. */

import type { AnalysisRule } from "./rule.ts";

/** The share of the limit above which the rule objects. */
const SHARE = 4;

export const maxSourceSize: AnalysisRule = {
  name: "max-source-size",
  severity: "warn",
  check: ({ source, sourceBytes }) => {
    const most = Math.floor(sourceBytes / SHARE);
    if (Buffer.byteLength(source, "utf8") <= most) return [];
    const message = `the source is larger than ${most} bytes, a quarter of what can run`;
    return [{ offset: 0, message, fix: "give data as `input` or let a tool fetch it" }];
  },
};
