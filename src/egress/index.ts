/** The front door of `egress`: the only way out to the network. */

export { openEgress } from "./egress.ts";
export type { Egress, EgressOptions, FetchLike, FetchLimits } from "./egress.ts";
