/** The front door of the admin surface: the HTTP application and the port it listens on. */

export { createApp } from "./create-app.ts";
export type { App, AppOptions } from "./create-app.ts";
export { loopbackHosts, MAX_BODY_BYTES } from "./guard.ts";
export { listen } from "./listen.ts";
export type { Listener, ListenOptions } from "./listen.ts";
