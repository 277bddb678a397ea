/** The front door of `typegen`: snapshots and schemas as TypeScript declarations. */

export { declareApi } from "./declare-api.ts";
export { declareTool, declareToolFirst, toSignature } from "./declare-tool.ts";
export type { Detail } from "./declare-tool.ts";
export { describeTools } from "./describe-tools.ts";
export type { Description, DescribeOptions, UnknownName } from "./describe-tools.ts";
export { outlineShape } from "./outline-shape.ts";
export { refOf, resolveRef } from "./resolve-ref.ts";
export { schemaToType } from "./schema-to-type.ts";
export type { TypeOptions } from "./scope.ts";
