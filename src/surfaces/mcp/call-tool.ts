/** Answers one `tools/call`: arguments in, the gateway asked once, a result out. Failures are results too. */

import { randomUUID } from "node:crypto";

import { ProtocolError, ProtocolErrorCode, isInputRequiredResult } from "@modelcontextprotocol/server";
import type { CallToolResult, InputRequiredResult } from "@modelcontextprotocol/server";

import { digestOf } from "../../text/index.ts";
import { isJsonObject, parseExecutionId, toPublicError } from "../../domain/index.ts";
import type { ExecutionEvent, ExecutionView, Principal, TraceContext } from "../../domain/index.ts";
import type { Media } from "../../execution/index.ts";
import type { Gateway } from "../gateway.ts";
import { callPlainTool, isPlainName } from "./call-plain-tool.ts";
import { RESUME } from "./definitions.ts";
import { followWithPerson } from "./elicitation/follow-execution.ts";
import type { ExecutionPoll } from "./elicitation/follow-execution.ts";
import type { Person, Retry } from "./elicitation/person.ts";
import { takeAnswers } from "./elicitation/take-answers.ts";
import {
  parseDescribeArguments,
  parseExecuteArguments,
  parseResumeArguments,
  parseSearchArguments,
} from "./parse-arguments.ts";
import { renderPart } from "./render-part.ts";
import { renderError, renderExecution } from "./render-execution.ts";
import { toBlock } from "./render-media.ts";
import { renderSearch, toServerLine } from "./render-search.ts";
import { showResult } from "./show-text.ts";

/** Everything that the MCP surface needs from the rest of the product. */
export interface McpDoor {
  readonly gateway: Gateway;
  /** Who is on the other side; every request of this door is made in this name. */
  readonly principal: Principal;
  /** Writes an internal fault to the log and returns the incident's id, which is all that a client reads of it. */
  readonly report: (thrown: unknown) => string;
}

/** The same door for one session of a client: what it reads counts for it alone. */
export function toSessionDoor(door: McpDoor): McpDoor {
  return { ...door, principal: { ...door.principal, session: randomUUID() } };
}

/** One request of a client, still unchecked. */
export interface ToolRequest {
  readonly name: string;
  readonly rawArguments: unknown;
  /** Aborted when the client cancels or goes away. */
  readonly signal: AbortSignal;
  /** Hears what goes on; present when the client asked for progress. */
  readonly onEvent?: (event: ExecutionEvent) => void;
  readonly trace?: TraceContext;
  /** Present when the person there can be asked. */
  readonly person?: Person;
  /** Present when the request comes again, with what the person answered. */
  readonly retry?: Retry;
}

type Answered = CallToolResult | InputRequiredResult;

type Answer = (door: McpDoor, request: ToolRequest) => Promise<Answered>;

const ANSWERS: ReadonlyMap<string, Answer> = new Map<string, Answer>([
  ["search", answerSearch],
  ["describe", answerDescribe],
  ["execute", answerExecute],
  ["resume", answerResume],
]);

/** Rejects for a tool that does not exist (a protocol error); everything else that goes wrong is `isError` (SEP-1303). */
export async function callTool(door: McpDoor, request: ToolRequest): Promise<Answered> {
  const answer = findAnswer(door.gateway, request.name);
  if (!answer) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${request.name}`);
  try {
    const answered = await answer(door, request);
    return isInputRequiredResult(answered) ? answered : showResult(answered, door.gateway);
  } catch (thrown) {
    if (thrown instanceof ProtocolError) throw thrown;
    const error = toPublicError(thrown, door.report);
    const result = { ...toText(renderError(error)), structuredContent: { error }, isError: true };
    return showResult(result, door.gateway);
  }
}

/** What a client may call is what it is shown. */
function findAnswer({ expose }: Gateway, name: string): Answer | undefined {
  const own = expose === "tools" && name !== RESUME.name ? undefined : ANSWERS.get(name);
  return own ?? (expose !== "code" && isPlainName(name) ? callPlainTool : undefined);
}

async function answerSearch({ gateway, principal }: McpDoor, { rawArguments }: ToolRequest): Promise<CallToolResult> {
  const found = await gateway.search(principal, parseSearchArguments(rawArguments));
  const { tools, cursor, servers } = found;
  const structuredContent = {
    tools,
    servers: servers.map((server) => toServerLine(server)),
    ...(cursor !== undefined && { cursor }),
  };
  return { ...toText(renderSearch(found)), structuredContent };
}

async function answerDescribe({ gateway, principal }: McpDoor, { rawArguments }: ToolRequest): Promise<CallToolResult> {
  const { names, detail } = parseDescribeArguments(rawArguments);
  const { declarations } = await gateway.describe(principal, names, detail);
  return { ...toText(declarations), structuredContent: { declarations } };
}

async function answerExecute(door: McpDoor, request: ToolRequest): Promise<Answered> {
  const { gateway, principal } = door;
  const program = parseExecuteArguments(request.rawArguments);
  const { signal, onEvent, trace } = request;
  const { patienceMs } = gateway;
  return follow(door, request, (until, opened) => {
    const hear = (event: ExecutionEvent): void => {
      if (event.kind === "opened") opened(event.execution);
      onEvent?.(event);
    };
    const watched = { onEvent: hear, ...(trace && { trace }) };
    return gateway.begin({ ...program, principal, signal, patienceMs, until, ...watched });
  });
}

async function answerResume(door: McpDoor, request: ToolRequest): Promise<Answered> {
  const { gateway, principal } = door;
  const asked = parseResumeArguments(request.rawArguments);
  if (asked.kind === "handle") return renderPart(await gateway.readResult(principal, asked.handle, asked.query));
  return follow(door, request, pollAgain(door, request, asked.execution));
}

function pollAgain({ gateway, principal }: McpDoor, { signal }: ToolRequest, execution: string): ExecutionPoll {
  return (until, opened) => {
    const id = parseExecutionId(execution);
    if (id) opened(id);
    return gateway.view({ principal, execution, signal: AbortSignal.any([signal, until]) });
  };
}

/** A request that comes again with answers is about the execution that asked; nothing begins a second time. */
async function follow(door: McpDoor, request: ToolRequest, first: ExecutionPoll): Promise<Answered> {
  const { gateway, principal } = door;
  const { clientApprovals } = gateway;
  const { person, retry, signal, name, rawArguments } = request;
  const digest = digestOf([name, isJsonObject(rawArguments) ? rawArguments : null]);
  const round = retry && (await takeAnswers(retry, { clientApprovals, principal, request: digest }));
  const look = round ? pollAgain(door, request, round.execution) : first;
  const left = round?.left ?? NOBODY;
  const talk = clientApprovals &&
    person && { gateway, clientApprovals, principal, person, request: digest, signal, left };
  const view = talk ? await followWithPerson(talk, look) : await look(NEVER, () => undefined);
  if (isInputRequiredResult(view)) return view;
  return toResult(view, await gateway.findMedia(principal, view.value));
}

const NOBODY: ReadonlySet<string> = new Set();
const NEVER = new AbortController().signal;

function toResult(view: ExecutionView, media: readonly Media[]): CallToolResult {
  const content = [...toText(renderExecution(view)).content, ...media.map(toBlock)];
  return { content, structuredContent: { ...view }, isError: view.state === "failed" };
}

function toText(text: string): Pick<CallToolResult, "content"> {
  return { content: [{ type: "text", text }] };
}
