/** Reports a rejected promise without a handler: the engine has an event for it, at the end of a turn. */

import { apply } from "../intrinsics.ts";

interface RejectionEvent {
  readonly reason: unknown;
}

declare const addEventListener: (type: "unhandledrejection", listener: (event: RejectionEvent) => void) => void;
declare const Event: { readonly prototype: { preventDefault(): void } };

/** `reason` is a property of each event itself; the method is taken now, before a program could change it. */
export function onLostRejection(tell: (reason: unknown) => void): void {
  const { preventDefault } = Event.prototype;
  addEventListener("unhandledrejection", (event) => {
    apply(preventDefault, event, []);
    tell(event.reason);
  });
}
