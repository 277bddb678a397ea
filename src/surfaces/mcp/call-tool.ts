/** Answers one `tools/call`: parses the arguments, calls the gateway and renders the result. Failures are results, too. */

import { randomUUID } from "node:crypto";

import { ProtocolError, ProtocolErrorCode, isInputRequiredResult } from "@modelcontextprotocol/server";
import type { CallToolResult, InputRequiredResult } from "@modelcontextprotocol/server";

import { digestOf } from "../../text/index.ts";
import { defined, isJsonObject, parseExecutionId, toPublicError } from "../../domain/index.ts";
import type { Principal, TraceContext } from "../../domain/index.ts";
import { NEVER } from "../../timing/index.ts";
import type { Gateway, McpDoor } from "../gateway.ts";
import {
  parseDescribeArguments,
  parseExecuteArguments,
  parseResumeArguments,
  parseSearchArguments,
} from "../parse-request.ts";
import type { ResultDetail } from "../parse-request.ts";
import { guideQuestions } from "../reach-people.ts";
import { RESUME } from "./definitions.ts";
import { toBlock } from "./files.ts";
import { followWithPerson } from "./elicitation/follow-execution.ts";
import type { AnswerProblems } from "./elicitation/approval-form.ts";
import type { PolledExecution } from "./elicitation/follow-execution.ts";
import { takeAnswers } from "./elicitation/person.ts";
import type { Person, Retry } from "./elicitation/person.ts";
import { toLeanResult } from "./lean-result.ts";
import { callPlainTool, isPlainName } from "./plain-tools.ts";
import { reportWaiting } from "./report-progress.ts";
import type { ReportedEvent } from "./report-progress.ts";
import { renderError, renderExecution, renderPart, toText } from "./render.ts";
import { CHARACTERS_PER_TOKEN, createSearchAnswer } from "../render-search.ts";
import { showResult } from "./show-text.ts";

/** The door of one session of a client: what it reads counts for this session, and for later ones if it passes labels. */
export function toSessionDoor(door: McpDoor, more: Pick<Principal, "passesLabels"> = {}): McpDoor {
  return { ...door, principal: { ...door.principal, ...more, session: randomUUID() } };
}

/** One request of a client, still unchecked. */
export interface ToolRequest {
  readonly name: string;
  readonly rawArguments: unknown;
  /** Aborted when the client cancels or goes away. */
  readonly signal: AbortSignal;
  /** Called with events of the execution; present when the client asked for progress. */
  readonly onEvent?: (event: ReportedEvent) => void;
  readonly trace?: TraceContext;
  /** Present when the person behind the client can be asked. */
  readonly person?: Person;
  /** Present when the request is repeated with the answers of the person. */
  readonly retry?: Retry;
}

export type ToolAnswer = CallToolResult | InputRequiredResult;

type Answer = (door: McpDoor, request: ToolRequest) => Promise<ToolAnswer>;

const ANSWERS: ReadonlyMap<string, Answer> = new Map<string, Answer>([
  ["search", answerSearch],
  ["describe", answerDescribe],
  ["execute", answerExecute],
  ["resume", answerResume],
]);

/** Rejects for a tool that does not exist (a protocol error); everything else that goes wrong is `isError` (SEP-1303). */
export async function callTool(door: McpDoor, request: ToolRequest): Promise<ToolAnswer> {
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

/** A client may call the tools that it is shown. */
function findAnswer({ expose }: Gateway, name: string): Answer | undefined {
  const own = expose === "tools" && name !== RESUME.name ? undefined : ANSWERS.get(name);
  return own ?? (expose !== "code" && isPlainName(name) ? callPlainTool : undefined);
}

async function answerSearch({ gateway, principal }: McpDoor, { rawArguments }: ToolRequest): Promise<CallToolResult> {
  const request = parseSearchArguments(rawArguments);
  const answer = createSearchAnswer(gateway.answerTokens.searchTokens, (request.query ?? "").trim() === "");
  return answer.render(await gateway.search(principal, request, answer.roomFor));
}

async function answerDescribe({ gateway, principal }: McpDoor, { rawArguments }: ToolRequest): Promise<CallToolResult> {
  const { names, detail } = parseDescribeArguments(rawArguments);
  const maxCharacters = gateway.answerTokens.describeTokens * CHARACTERS_PER_TOKEN;
  const { declarations } = await gateway.describe(principal, names, detail, { maxCharacters });
  return { ...toText(declarations), structuredContent: { declarations } };
}

async function answerExecute(door: McpDoor, request: ToolRequest): Promise<ToolAnswer> {
  const { gateway, principal } = door;
  const { detail, ...program } = parseExecuteArguments(request.rawArguments);
  const { signal, onEvent, trace } = request;
  const person = gateway.clientApprovals && request.person;
  return follow(door, request, detail, async () => {
    const opened = await gateway.open({
      ...program,
      parsesInput: true,
      principal,
      signal,
      ...defined({ onEvent, trace, hasForms: person && true, hasUrls: person?.hasUrls }),
    });
    return {
      get id() {
        return opened.id;
      },
      poll: (until) => opened.answer({ patienceMs: gateway.patienceMs, until }),
    };
  });
}

async function answerResume(door: McpDoor, request: ToolRequest): Promise<ToolAnswer> {
  const { gateway, principal } = door;
  const target = parseResumeArguments(request.rawArguments);
  if ("handle" in target) return renderPart(await gateway.readResult(principal, target.handle, target.query));
  return follow(door, request, target.detail, async () => findOpened(door, request, target.execution));
}

/** An execution that an earlier request opened. */
function findOpened({ gateway, principal }: McpDoor, { signal }: ToolRequest, execution: string): PolledExecution {
  const poll = (until: AbortSignal) => gateway.view({ principal, execution, signal: AbortSignal.any([signal, until]) });
  return { id: parseExecutionId(execution), poll };
}

/** A request that is repeated with answers is about the execution that asked; no second one is opened. */
async function follow(
  door: McpDoor,
  request: ToolRequest,
  detail: ResultDetail | undefined,
  open: () => Promise<PolledExecution>,
): Promise<ToolAnswer> {
  const { gateway, principal } = door;
  const { clientApprovals } = gateway;
  const { person, retry, signal, name, rawArguments } = request;
  const identify = () => ({ principal, request: digestOf([name, isJsonObject(rawArguments) ? rawArguments : null]) });
  const problems: AnswerProblems = new Map();
  const round = retry && (await takeAnswers(retry, { clientApprovals, problems, ...identify() }));
  const polled = round ? findOpened(door, request, round.execution) : await open();
  const left = round?.left ?? new Set<string>();
  using _ = request.onEvent && reportWaiting(request.onEvent);
  const found =
    clientApprovals && person
      ? await followWithPerson({ gateway, clientApprovals, person, signal, left, problems, ...identify() }, polled)
      : await polled.poll(NEVER);
  if (isInputRequiredResult(found)) return found;
  const view = { ...found, ...(await guideQuestions(found, gateway.people)) };
  const media = await gateway.findMedia(principal, view.value);
  const content = [...toText(renderExecution(view)).content, ...media.map(toBlock)];
  const structuredContent = { ...(detail === "full" ? view : toLeanResult(view)) };
  return { content, structuredContent, isError: view.state === "failed" };
}
