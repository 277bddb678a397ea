/** The front door of `connectors`: speaks each upstream's protocol and presents tools and calls. */

export { defineAdapter } from "./adapter/define-adapter.ts";
export type { Connector, RemoteTool } from "./connector.ts";
export { createUpstreams } from "./create-upstreams.ts";
export { createLogins } from "./login/create-logins.ts";
export type { DroppedLogin, Logins } from "./login/create-logins.ts";
export { createLease } from "./login/hold-lease.ts";
export type { Lease } from "./login/hold-lease.ts";
export { createLoginStore } from "./login/login-store.ts";
export { createUpdatePackage } from "./update-package.ts";
export type { PackageUpdate } from "./update-package.ts";
export { resolveProxyLogin, resolveTemplates } from "./resolve-templates.ts";
export { requestRestart, watchRestarts } from "./restart/watch-restarts.ts";
export { watchSecrets } from "./restart/watch-secrets.ts";
