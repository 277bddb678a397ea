/** Long sources are mostly data, and data is better given as `input` or fetched. The hard limit is `sourceBytes`. */

import type { AnalysisRule } from "./rule.ts";

/** The part of the limit from which on the rule speaks up. */
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
