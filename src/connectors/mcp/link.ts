/** One open connection: the handshake is done and the tools have been listed once. */

import { Client, isInputRequiredResult } from "@modelcontextprotocol/client";
import type { ProgressCallback, StandardSchemaV1 } from "@modelcontextprotocol/client";

import { defined, isJsonObject } from "../../domain/index.ts";
import type { InputRequest, JsonObject } from "../../domain/index.ts";
import { digestOf } from "../../text/index.ts";
import { mapInSlices, runInSlices } from "../../timing/index.ts";

import type { RemoteTool } from "../connector.ts";
import { answerInputs, createQuestions, refuseRequest } from "./answer-inputs.ts";
import type { QuestionOptions } from "./answer-inputs.ts";
import { CAPABILITIES, DirectCalls, InputRequired } from "./direct-calls.ts";
import type { DirectCallOptions, RepeatParams } from "./direct-calls.ts";
import type { ServerTransport } from "./transport/create-transport.ts";
import { StdioTransport } from "./transport/stdio-transport.ts";
import type { Era, Handshake } from "./era.ts";
import { followChanges } from "./follow-changes.ts";
import { listTools } from "./messages/parse-tools.ts";
import { findParamHeaders, toParamHeaders } from "./messages/param-headers.ts";
import type { ParamHeader } from "./messages/param-headers.ts";
import { SKILLS_EXTENSION, listSkills } from "./messages/skills.ts";
import { defineSynthetic } from "./messages/synthetic.ts";

const CLIENT = { name: "glovebox", version: "1" };
/** How the client finds out the revision of the protocol. */
const MODES = { ask: "auto", legacy: "legacy", modern: { pin: "2026-07-28" } } as const;
/** The longest delay of a timer, about 24 days: the only time limit of a request is its signal. */
const NO_TIMEOUT_MS = 2 ** 31 - 1;

/**
 * Accepts every result as it is. The client would otherwise check results with schemas of the server, and a hostile
 * `pattern` can block the gateway's only thread for minutes. Our own parsers check results instead.
 */
const AS_IT_CAME: StandardSchemaV1 = {
  "~standard": { version: 1, vendor: "glovebox", validate: (value) => ({ value }) },
};

export interface LinkOptions extends QuestionOptions {
  readonly handshake: Handshake;
  /** How long a server may take to answer the probe for its era. */
  readonly probeMs: number;
  /** Called when the server announces other tools. */
  readonly onToolsChanged: () => void;
  /**
   * Called when the connection has ended; requests in progress fail right after. Never called before the link is open.
   */
  readonly onEnd: (link: Link) => void;
  readonly signal: AbortSignal;
}

interface AskOptions {
  readonly signal: AbortSignal;
  readonly onProgress?: ProgressCallback | undefined;
  readonly headers?: Record<string, string> | undefined;
}

interface ToolCallOptions extends DirectCallOptions {
  readonly askInput?: InputRequest["ask"] | undefined;
}

/** Starts the transport, does the handshake and lists the tools. On failure the caller must close the transport. */
export async function openLink(transport: ServerTransport, options: LinkOptions): Promise<Link> {
  const { handshake, probeMs, signal, onEnd, onToolsChanged } = options;
  const questions = createQuestions(options);
  const versionNegotiation = { mode: MODES[handshake], probe: { timeoutMs: probeMs } };
  const client = new Client(CLIENT, { capabilities: CAPABILITIES, versionNegotiation });
  client.setNotificationHandler("notifications/tools/list_changed", () => onToolsChanged());
  // Up to 2025-11-25 a server sends a request of its own.
  client.setRequestHandler("elicitation/create", async ({ params }) => questions.answer(params));
  client.fallbackRequestHandler = refuseRequest;
  await client.connect(transport, { signal, timeout: NO_TIMEOUT_MS });
  const ended = new AbortController();
  const link = new Link(client, transport, questions);
  // Subscribes before the first listing, so that no change is missed in between.
  if (link.era === "modern" && client.getServerCapabilities()?.tools?.listChanged === true) {
    await followChanges(client, { signal: ended.signal, ackMs: probeMs, onGap: onToolsChanged });
  }
  await link.listTools(signal);
  client.onclose = () => {
    ended.abort();
    onEnd(link);
    link.failCalls();
  };
  if (!client.transport) throw new Error("The connection ended while it was opened");
  return link;
}

export class Link {
  readonly transport: ServerTransport;
  readonly era: Era;
  /** The negotiated revision of the protocol, such as `2025-11-25`. */
  readonly revision: string;
  /** As listed last. */
  tools: readonly RemoteTool[] = [];
  /** Equal for equal tools. */
  signature = "";
  readonly #client: Client;
  /** Absent for a server behind an address: there the request costs far more than the client does. */
  readonly #calls: DirectCalls | undefined;
  readonly #questions: ReturnType<typeof createQuestions>;
  readonly #headers = new Map<string, readonly ParamHeader[]>();
  readonly #requests = new Set<Promise<unknown>>();

  constructor(client: Client, transport: ServerTransport, questions: ReturnType<typeof createQuestions>) {
    this.#client = client;
    this.#questions = questions;
    this.transport = transport;
    this.era = client.getProtocolEra() ?? "legacy";
    this.revision = client.getNegotiatedProtocolVersion() ?? "";
    const { era, revision } = this;
    const isChild = transport instanceof StdioTransport;
    this.#calls = isChild ? new DirectCalls(transport, { era, revision, client: CLIENT }) : undefined;
  }

  /** A server without the tools capability has none; listing would be an error. */
  async listTools(signal: AbortSignal): Promise<void> {
    const offered = this.#client.getServerCapabilities();
    const offers = { resources: isJsonObject(offered?.resources), prompts: isJsonObject(offered?.prompts) };
    const hasTools = isJsonObject(offered?.tools);
    const listed = hasTools ? await listTools((params) => this.#send("tools/list", params, { signal })) : [];
    const synthetic = [...defineSynthetic(offers, listed), ...(await this.#listSkills(signal))];
    const tools = [...listed.filter((tool) => this.#learnHeaders(tool)), ...synthetic];
    const digests = await runInSlices(mapInSlices(tools, (tool) => digestOf(JSON.stringify(tool))));
    this.tools = tools;
    this.signature = digestOf(digests.join(" "));
  }

  /** A server whose skills cannot be listed still has its tools. */
  async #listSkills(signal: AbortSignal): Promise<readonly RemoteTool[]> {
    const { extensions } = this.#client.getServerCapabilities() ?? {};
    if (!isJsonObject(extensions?.[SKILLS_EXTENSION])) return [];
    return listSkills((method, params) => this.#send(method, params, { signal })).catch((thrown: unknown) => {
      if (signal.aborted) throw thrown;
      return [];
    });
  }

  /** Resolves with the result as the server sent it. Rejects with `InputRequired` if that is an input request. */
  ask(method: string, params: JsonObject, options: AskOptions): Promise<unknown> {
    const request = this.#send(method, params, options);
    const settled = request.catch(() => undefined).finally(() => this.#requests.delete(settled));
    this.#requests.add(settled);
    return request;
  }

  /** As `ask`. The trace is sent in `_meta`. Input requests are answered, and the call is repeated with the answers. */
  async callTool(name: string, args: JsonObject, { askInput, ...options }: ToolCallOptions): Promise<unknown> {
    if (!askInput) return this.#callOnce(name, args, options);
    if (this.era === "legacy") return this.#questions.during(askInput, () => this.#callOnce(name, args, options));
    return answerInputs((repeat) => this.#callOnce(name, args, options, repeat), askInput, this.#questions);
  }

  #callOnce(name: string, args: JsonObject, options: DirectCallOptions, repeat?: RepeatParams): Promise<unknown> {
    if (this.#calls) return this.#calls.call(name, args, options, repeat);
    const { trace, ...rest } = options;
    const marks = this.#headers.get(name);
    const headers = marks && toParamHeaders(marks, args);
    const params = { name, arguments: args, ...repeat, ...defined({ _meta: trace && { ...trace } }) };
    return this.ask("tools/call", params, { ...rest, headers });
  }

  /** Called after the connection has ended; the client fails its own requests. */
  failCalls(): void {
    this.#calls?.end();
  }

  /** Resolves when no call is in progress. */
  async untilIdle(): Promise<void> {
    await Promise.all([...this.#requests, this.#calls?.untilIdle()]);
  }

  /** False for a tool that must not be offered over HTTP, because its header marks are invalid (2026-07-28). */
  #learnHeaders({ name, input }: RemoteTool): boolean {
    if (this.era !== "modern" || this.transport.hasPerRequestStream !== true) return true;
    const found = findParamHeaders(input);
    this.#headers.set(name, found ?? []);
    return found !== undefined;
  }

  /** Cancels by the means of the protocol when the signal fires. The reason of the signal stays in the gateway. */
  async #send(method: string, params: JsonObject, { signal, onProgress, headers }: AskOptions): Promise<unknown> {
    const cancelling = new AbortController();
    const cancel = (): void => cancelling.abort("cancelled");
    signal.throwIfAborted();
    signal.addEventListener("abort", cancel, { once: true });
    try {
      const result = await this.#client.request({ method, params: { ...params } }, AS_IT_CAME, {
        signal: cancelling.signal,
        timeout: NO_TIMEOUT_MS,
        allowInputRequired: true,
        ...defined({ onprogress: onProgress, headers }),
      });
      if (isInputRequiredResult(result)) throw new InputRequired(result.inputRequests, result.requestState);
      return result;
    } finally {
      signal.removeEventListener("abort", cancel);
    }
  }
}
