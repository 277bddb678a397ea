/** How a person reaches what waits for a decision: the commands of this installation, and the page of a running server. */

import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";

import type { Settings } from "../config/index.ts";
import { defined, isInputRequest, isJsonObject, parseJson } from "../domain/index.ts";
import type { ApprovalId, ExecutionView } from "../domain/index.ts";
import type { RequestedApproval } from "./gateway.ts";

export interface PeopleGuide {
  /** Command lines that show and decide an approval of this store, or answer an input request (`approve`). */
  commands(id: ApprovalId): Readonly<Record<"show" | "approve" | "reject", string>>;
  /** The address of an approval on the page of a server that runs on this store; `undefined` if none runs. */
  link(id: ApprovalId): Promise<string | undefined>;
  /** Records that this process serves the page, until the result is disposed. */
  announcePage(url: string): Promise<AsyncDisposable>;
}

export interface PeopleGuideOptions {
  /** Where the settings come from: the commands are given the same file. */
  readonly source: Settings["source"];
  /** Tells how this process was started. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly values: {
    get(key: string): Promise<string | undefined>;
    set(key: string, value: string): Promise<void>;
    erase(key: string): Promise<void>;
  };
  /** The name of this process. */
  readonly owner: string;
  /** True when the process of this name has certainly ended. */
  readonly hasEnded: (owner: string) => boolean;
}

/** Where servers on this store record the address of their page. The last one that started counts. */
const PAGE_KEY = "page";

export function createPeopleGuide(options: PeopleGuideOptions): PeopleGuide {
  const { source, values, owner, hasEnded } = options;
  const program = findProgram(options.environment);
  const config = source.kind === "file" ? ` --config ${quote(source.path)}` : "";
  const write = (command: string, id: ApprovalId): string => `${program} ${command} ${id}${config}`;
  const readPage = async () => parsePage(await values.get(PAGE_KEY));
  const findOpen = () => findPage({ values, hasEnded });
  return {
    commands: (id) => ({
      show: write("approvals show", id),
      approve: write(isInputRequest(id) ? "answer" : "approve", id),
      reject: write("reject", id),
    }),
    async link(id) {
      const url = await findOpen();
      return url === undefined ? undefined : `${url}/approvals/${id}`;
    },
    async announcePage(url) {
      await values.set(PAGE_KEY, JSON.stringify({ url, owner }));
      return {
        async [Symbol.asyncDispose]() {
          if ((await readPage())?.owner === owner) await values.erase(PAGE_KEY);
        },
      };
    },
  };
}

/** The address of the page of a server that runs on this store. */
export async function findPage({
  values,
  hasEnded,
}: Pick<PeopleGuideOptions, "values" | "hasEnded">): Promise<string | undefined> {
  const page = parsePage(await values.get(PAGE_KEY));
  return page && !hasEnded(page.owner) ? page.url : undefined;
}

/** Adds to each waiting approval what the person can run or open. */
export async function guideQuestions(
  { questions: waiting }: Pick<ExecutionView, "questions">,
  guide: Pick<PeopleGuide, "commands" | "link">,
): Promise<Pick<ExecutionView, "questions">> {
  if (!waiting) return {};
  const questions = waiting.map(async (question) => ({
    ...question,
    commands: guide.commands(question.approval),
    ...defined({ link: await guide.link(question.approval) }),
  }));
  return { questions: await Promise.all(questions) };
}

function parsePage(text: string | undefined): { readonly url: string; readonly owner: string } | undefined {
  const { url, owner } = asObject(parseJson(text ?? ""));
  return typeof url === "string" && typeof owner === "string" ? { url, owner } : undefined;
}

function asObject(raw: unknown) {
  return isJsonObject(raw) ? raw : {};
}

/** By its name if that is on the path, and not because npx put it there. */
function findProgram({ npm_command: command, PATH: path = "" }: PeopleGuideOptions["environment"]): string {
  const folders = command === "exec" ? [] : path.split(delimiter);
  return folders.some((folder) => folder !== "" && existsSync(join(folder, "glovebox")))
    ? "glovebox"
    : "npx --no-install glovebox";
}

/** For a shell; a name without special characters stays readable. */
function quote(path: string): string {
  return /^[\w./:@%+=,-]+$/.test(path) ? path : `'${path.replaceAll("'", String.raw`'\''`)}'`;
}

/** One line that tells a person what waits, and how to decide it. */
export async function describeWaiting(
  { id, tool, effect }: Pick<RequestedApproval, "id" | "tool" | "effect">,
  people: Pick<PeopleGuide, "commands" | "link">,
): Promise<string> {
  const link = await people.link(id);
  const what = isInputRequest(id) ? "input request" : "approval";
  return `${what} ${id}: ${tool} (${effect}) waits for a person: ${people.commands(id).show}${link === undefined ? "" : ` or ${link}`}`;
}
