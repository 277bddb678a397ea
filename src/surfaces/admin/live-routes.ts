/**
 * Tells open pages what to ask for again, as server-sent events. An event names topics and has no content, so it needs no
 * right of its own; its id is the revision of every topic, so a page that was away gets what it missed.
 */

import { createHash } from "node:crypto";

import { Hono } from "hono";
import { streamSSE } from "hono/streaming";
import type { SSEStreamingApi } from "hono/streaming";

import { pollEvery } from "../../timing/index.ts";
import type { Gateway } from "../gateway.ts";
import { requireRole } from "./authenticate.ts";
import type { AppEnv, Caller } from "./authenticate.ts";
import type { ClientAddress } from "./client-address.ts";
import { TOPICS } from "./contract.ts";
import type { Topic } from "./contract.ts";

/** Lists are compared by their newest entries. */
const COMPARED = 50;
const DIGEST_CHARS = 12;
/** Keeps proxies from closing a silent connection. */
const KEEP_ALIVE_POLLS = 15;

type Revisions = Readonly<Record<Topic, string>>;

export interface LiveDoor {
  readonly gateway: Pick<Gateway, "approvals" | "history" | "held" | "health" | "skills">;
  /** Rejects when the caller may no longer use the API, such as after a logout. */
  readonly identify: (headers: Headers, client: ClientAddress) => Promise<Caller>;
  readonly everyMs: number;
}

/** The store is read once per poll for all pages together, and only while one is open. */
export function createLive({ gateway, identify, everyMs }: LiveDoor) {
  const pages = new Set<Page>();
  let polling: AsyncDisposable | undefined;
  const poll = async (): Promise<void> => {
    const now = await readRevisions(gateway);
    for (const { notify } of pages) notify(now);
  };
  const remove = (page: Page): void => {
    pages.delete(page);
    if (pages.size > 0) return;
    void polling?.[Symbol.asyncDispose]();
    polling = undefined;
  };
  const routes = new Hono<AppEnv>();
  routes.get("/", (c) => {
    requireRole(c.get("caller"), ["operator", "reviewer"]);
    c.header("x-accel-buffering", "no"); // a proxy must not collect events
    return streamSSE(c, (stream) => follow(stream, c.req.raw.headers, c.get("client")));
  });

  const follow = async (stream: SSEStreamingApi, headers: Headers, client: ClientAddress): Promise<void> => {
    const ended = Promise.withResolvers<void>();
    const end = (): void => ended.resolve();
    const send = createSender(stream, parseRevisions(headers.get("last-event-id")));
    let isBusy = false;
    // A page that reads slowly misses polls, and holds up no other page.
    const notify = (now: Revisions): void => {
      if (isBusy) return;
      isBusy = true;
      void identify(headers, client)
        .then(() => send(now))
        .catch(end)
        .finally(() => (isBusy = false));
    };
    const page = { notify, end };
    pages.add(page);
    stream.onAbort(end);
    polling ??= pollEvery(everyMs, poll);
    try {
      notify(await readRevisions(gateway));
      await ended.promise;
    } finally {
      remove(page);
    }
  };

  return {
    routes,
    /** Ends all streams. */
    close: (): void => {
      for (const { end } of pages) end();
    },
  };
}

interface Page {
  readonly notify: (now: Revisions) => void;
  readonly end: () => void;
}

function createSender(stream: SSEStreamingApi, known: Revisions | undefined): (now: Revisions) => Promise<void> {
  let last = known;
  let silentPolls = 0;
  return async (now) => {
    const topics = TOPICS.filter((topic) => now[topic] !== last?.[topic]);
    const isSilent = topics.length === 0 && last !== undefined && silentPolls < KEEP_ALIVE_POLLS;
    silentPolls = isSilent ? silentPolls + 1 : 0;
    last = now;
    if (!isSilent) await stream.writeSSE({ event: "changed", data: topics.join(" "), id: formatRevisions(now) });
  };
}

async function readRevisions({ approvals, history, held, health, skills }: LiveDoor["gateway"]): Promise<Revisions> {
  const [pending, executions, withheld, revision] = await Promise.all([
    approvals.list({ limit: COMPARED, isPending: true }),
    history.list({ limit: COMPARED }),
    held.list(),
    skills.revision(),
  ]);
  return {
    approvals: digest(pending.map(({ id, state, decidedBy }) => [id, state, decidedBy])),
    executions: digest(executions.map(({ id, state }) => [id, state])),
    servers: digest([health().upstreams, withheld.map((one) => [one.digest, one.rejectedBy])]),
    skills: digest(revision),
  };
}

function digest(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("hex").slice(0, DIGEST_CHARS);
}

function formatRevisions(revisions: Revisions): string {
  return TOPICS.map((topic) => revisions[topic]).join(".");
}

/** `undefined` for anything that is not an id of this stream. */
function parseRevisions(raw: string | null): Revisions | undefined {
  const [approvals, executions, servers, skills, ...rest] = raw?.split(".") ?? [];
  if (approvals === undefined || executions === undefined || servers === undefined) return undefined;
  return skills === undefined || rest.length > 0 ? undefined : { approvals, executions, servers, skills };
}
