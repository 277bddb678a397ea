/** Answers the input requests of one server, in both protocol eras. */

import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/client";
import type { ElicitResult } from "@modelcontextprotocol/client";

import { defined, isJsonObject } from "../../domain/index.ts";
import type { ConnectorId, InputRequest, JsonObject } from "../../domain/index.ts";

import type { TextCleaner } from "../shown-text.ts";
import { UpstreamError } from "../upstream-error.ts";
import { InputRequired } from "./direct-calls.ts";
import type { RepeatParams } from "./direct-calls.ts";
import { parseQuestion } from "./messages/parse-question.ts";

export interface QuestionOptions {
  readonly id: ConnectorId;
  readonly clean: TextCleaner;
}

/** How often one call may be answered with an input request. */
export const MAX_ROUNDS = 10;
/** Questions in one answer of a server. */
const MAX_AT_ONCE = 8;

/**
 * Up to 2025-11-25 a server asks by a request that does not name the call it belongs to. It is passed on only while a
 * single call of the connection is open: otherwise the question could reach the person behind another client.
 */
export function createQuestions({ id, clean }: QuestionOptions) {
  const open = new Set<InputRequest["ask"]>();
  const parse = (raw: unknown): InputRequest["question"] | undefined => parseQuestion(raw, id, clean);
  return {
    id,
    parse,
    during: async <Value>(ask: InputRequest["ask"], call: () => Promise<Value>): Promise<Value> => {
      const own: InputRequest["ask"] = (question, canRepeat) => ask(question, canRepeat);
      open.add(own);
      try {
        return await call();
      } finally {
        open.delete(own);
      }
    },
    answer: async (raw: unknown): Promise<ElicitResult> => {
      const question = parse(raw);
      if (!question) throw new ProtocolError(ProtocolErrorCode.InvalidParams, "Glovebox does not show this form");
      const [ask] = open;
      return ask && open.size === 1 ? toElicitResult(await ask(question, false)) : { action: "cancel" };
    },
  };
}

/** Since 2026-07-28: the call is repeated with the answers and the state that the server sent. */
export async function answerInputs(
  call: (repeat?: RepeatParams) => Promise<unknown>,
  ask: InputRequest["ask"],
  { id, parse }: Pick<ReturnType<typeof createQuestions>, "id" | "parse">,
): Promise<unknown> {
  let repeat: RepeatParams | undefined;
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    try {
      return await call(repeat);
    } catch (thrown) {
      if (!(thrown instanceof InputRequired)) throw thrown;
      repeat = await answerRound(thrown, ask, { id, parse });
    }
  }
  throw new UpstreamError(toFailure(`it asked for input ${MAX_ROUNDS} times in one call`), id);
}

async function answerRound(
  { rawRequests, rawState }: InputRequired,
  ask: InputRequest["ask"],
  { id, parse }: Pick<ReturnType<typeof createQuestions>, "id" | "parse">,
): Promise<RepeatParams> {
  const entries = Object.entries(isJsonObject(rawRequests) ? rawRequests : {});
  if (entries.length > MAX_AT_ONCE)
    throw new UpstreamError(
      toFailure(`it asks ${entries.length} questions at once; at most ${MAX_AT_ONCE} are shown`),
      id,
    );
  const questions = entries.map(([key, raw]) => {
    const { method, params } = isJsonObject(raw) ? raw : {};
    if (method === "sampling/createMessage") throw new UpstreamError(NO_SAMPLING, id);
    const question = method === "elicitation/create" ? parse(params) : undefined;
    if (!question) throw new UpstreamError(toFailure("it asks for input that Glovebox does not pass on"), id);
    return [key, question] as const;
  });
  const answers = new Map<string, JsonObject>();
  for (const [key, question] of questions) answers.set(key, toResponse(await ask(question, true)));
  return {
    ...(answers.size > 0 && { inputResponses: Object.fromEntries(answers) }),
    ...defined({ requestState: typeof rawState === "string" ? rawState : undefined }),
  };
}

function toElicitResult({ action, content }: InputRequest["answer"]): ElicitResult {
  if (action !== "accept" || !content) return { action };
  const copied = Object.entries(content).map(([name, value]) => [name, typeof value === "object" ? [...value] : value]);
  return { action, content: Object.fromEntries(copied) };
}

function toResponse({ action, content }: InputRequest["answer"]): JsonObject {
  return { action, ...(action === "accept" && content && { content }) };
}

/** Refuses other requests of a server up to 2025-11-25, in words that it can pass on as the error of its tool. */
export async function refuseRequest({ method }: { readonly method: string }): Promise<never> {
  throw new ProtocolError(ProtocolErrorCode.MethodNotFound, REFUSALS.get(method) ?? "Method not found");
}

const REFUSALS: ReadonlyMap<string, string> = new Map([
  [
    "sampling/createMessage",
    "Glovebox does not offer text of a language model (sampling): give the tool all that it needs, or use another tool",
  ],
  ["roots/list", "Glovebox does not offer roots: name the folder in the arguments, or use another tool"],
]);

function toFailure(cause: string) {
  const hint = "Use another tool of this server, or tell its author";
  return { code: "UPSTREAM_FAILED", cause, hint } as const;
}

const NO_SAMPLING = {
  code: "UPSTREAM_FAILED",
  cause: "it asks for text of a language model (sampling), which Glovebox does not offer",
  hint: "Call the tool with everything that it needs, or use another tool",
} as const;
