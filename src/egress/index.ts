/** The front door of `egress`: the only way out to the network. */

export { openEgress } from "./egress.ts";
export type { Egress, EgressOptions, FetchLike, FetchLimits } from "./egress.ts";
export type { GuestAnswer, GuestLimits, GuestRequest } from "./fetch-for-guest.ts";
export { createNetwork } from "./network.ts";
export type { Connected, Network } from "./network.ts";
export { openMessageLine } from "./open-message-line.ts";
export type { MessageAddress, MessageLine } from "./open-message-line.ts";
