"use strict";
/**
 * Loaded by Node before a confined server, whose only way to the network is the proxy in its environment. With
 * NODE_USE_ENV_PROXY, Node would load its support of proxies at every start, which takes longer than the rest of the start
 * of a small server. Here it is loaded when the server first imports `http` or `https`, or sends a request with `fetch`, a
 * WebSocket or undici.
 */
const { registerHooks } = require("node:module");

const CLIENTS = new Set(["http", "https", "node:http", "node:https"]);
/** Where each copy of undici, also that of Node, finds what sends its requests. */
const DISPATCHER = Symbol.for("undici.globalDispatcher.1");

let isLoaded = false;

function load() {
  if (isLoaded) return;
  isLoaded = true;
  hooks.deregister();
  require("node:http").setGlobalProxyFromEnv();
}

const hooks = registerHooks({
  resolve(specifier, context, next) {
    if (CLIENTS.has(specifier)) load();
    return next(specifier, context);
  },
});

/** Its first use replaces it by the one of Node that knows the proxy, and is passed on to that. */
const placeholder = new Proxy(
  {},
  {
    get(_, name) {
      load();
      const dispatcher = globalThis[DISPATCHER];
      const value = dispatcher[name];
      return typeof value === "function" ? value.bind(dispatcher) : value;
    },
  },
);
Object.defineProperty(globalThis, DISPATCHER, { value: placeholder, writable: true, configurable: true });
