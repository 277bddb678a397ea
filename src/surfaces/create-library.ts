/** The library: Glovebox inside another program. */

import { randomUUID } from "node:crypto";

import type { Principal } from "../domain/index.ts";
import { isJsonObject } from "../domain/index.ts";
import { LIBRARY, toLibraryPrincipal } from "../identity/index.ts";
import type { ExecuteInput } from "../execution/index.ts";
import type { McpHandler, OpenGateway } from "./gateway.ts";
import { createApprovals, createSecrets, createSkills } from "./library/act-for-people.ts";
import { followEvents } from "./library/follow-events.ts";
import type { Glovebox } from "./library/glovebox.ts";
import { createMcpFetch } from "./library/mcp-handler.ts";
import {
  parseLibraryDescribe,
  parseLibraryRequest,
  parseLibraryResume,
  parsePatience,
  parseSearchArguments,
} from "./parse-request.ts";

type Report = (thrown: unknown) => string;

export function createLibrary(gateway: OpenGateway, report: Report): Glovebox {
  const instance = randomUUID();
  const toPrincipal = (name: unknown, session: string): Principal => ({
    ...(name === undefined ? LIBRARY : toLibraryPrincipal(name)),
    session,
  });
  const parseOwn = (raw: unknown): ExecuteInput => {
    const { session, principal, ...request } = parseLibraryRequest(raw);
    const own = toPrincipal(principal, session === undefined ? instance : `${instance} ${session}`);
    return { ...request, principal: own, hasForms: true, hasUrls: true }; // the program around it can ask its user
  };
  const takePrincipal = (raw: unknown) => {
    if (!isJsonObject(raw)) return { principal: toPrincipal(undefined, instance), rest: raw };
    const { principal, ...rest } = raw;
    return { principal: toPrincipal(principal, instance), rest };
  };
  let mcp: Promise<McpHandler> | undefined;
  const close = async (): Promise<void> => {
    await (await mcp)?.close();
    await gateway.close();
  };
  return {
    execute: async (raw) => gateway.execute(parseOwn(raw)),
    events: (raw) =>
      followEvents(async ({ signal, onEvent }) => {
        const own = parseOwn(raw);
        return gateway.execute({
          ...own,
          signal: own.signal ? AbortSignal.any([own.signal, signal]) : signal,
          onEvent: (event) => {
            onEvent(event);
            own.onEvent?.(event);
          },
        });
      }),
    begin: async (raw) => {
      const patienceMs = parsePatience(raw) ?? gateway.patienceMs;
      return (await gateway.open(parseOwn(raw))).answer({ patienceMs });
    },
    resume: async (raw) => {
      const { principal, rest } = takePrincipal(raw);
      return gateway.view({ ...parseLibraryResume(rest), principal });
    },
    search: async (raw) => {
      const { principal, rest } = takePrincipal(raw);
      return gateway.search(principal, parseSearchArguments(rest));
    },
    describe: async (raw) => {
      const { principal, rest } = takePrincipal(raw);
      const { names, detail } = parseLibraryDescribe(rest);
      return (await gateway.describe(principal, names, detail)).declarations;
    },
    approvals: createApprovals(gateway, report),
    secrets: createSecrets(gateway),
    skills: createSkills(gateway),
    mcpHandler: (options) => createMcpFetch(() => (mcp ??= openMcp(gateway, report)), options),
    close,
    [Symbol.asyncDispose]: close,
  };
}

async function openMcp(gateway: OpenGateway, report: Report): Promise<McpHandler> {
  const { createMcpRoutes } = await import("./mcp/create-mcp-routes.ts");
  return createMcpRoutes({ gateway, report }, { now: Date.now });
}
