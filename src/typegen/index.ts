/** The interface of `typegen`: TypeScript declarations for snapshots and schemas. */

export { declareApi, declareInSlices } from "./declare-api.ts";
export { declareToolFirst, signCall, signResult, toSignature } from "./declare-tool.ts";
export type { DescribeDetail } from "./declare-tool.ts";
export { describeInSlices, describeTools } from "./describe-tools.ts";
export type { Description } from "./describe-tools.ts";
export { outlineShape } from "./outline-shape.ts";
export { refOf, resolveRef } from "./types/resolve-ref.ts";
