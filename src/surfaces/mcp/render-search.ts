/** The answer of `search`: tools and the state of servers, as data and as lines of text. */

import { describeEffect } from "../../domain/index.ts";
import type { UpstreamStatus } from "../../domain/index.ts";
import type { Gateway } from "../gateway.ts";

/** The gateway's answer to a search. */
export type SearchReply = Awaited<ReturnType<Gateway["search"]>>;

/** The state of a server for a model. Its standard error is for the operator only. */
export type ServerLine = Pick<UpstreamStatus, "name" | "state" | "tools" | "withheld" | "cause" | "hint">;

/** Drops the fields of a server's state that a model does not need. */
export function toServerLine({ name, state, tools, withheld, cause, hint }: UpstreamStatus): ServerLine {
  return {
    name,
    state,
    tools,
    ...(withheld !== undefined && { withheld }),
    ...(cause !== undefined && { cause }),
    ...(hint !== undefined && { hint }),
  };
}

/** One line per tool, then the servers that are not ready or have withheld tools. */
export function renderSearch({ tools, servers, cursor }: SearchReply): string {
  const found = tools.map((tool) =>
    `${tool.name} [${[describeEffect(tool), ...(tool.labels ?? [])].join(", ")}] ${tool.summary}`.trimEnd(),
  );
  const lines = found.length === 0 ? ["No tool found. Try fewer or other words, or an empty query to browse."] : found;
  const more = cursor === undefined ? [] : [`More with cursor: ${cursor}`];
  const troubled = servers
    .filter(({ state, hint }) => state !== "ready" || hint !== undefined)
    .map((server) => renderServer(server));
  return [...lines, ...more, ...troubled].join("\n");
}

function renderServer({ name, state, cause, hint }: UpstreamStatus): string {
  const why = [cause, hint && `Hint: ${hint}`].filter((part) => part !== undefined && part !== "").join(" ");
  return `Server ${name} is ${state}${why === "" ? "" : `: ${why}`}`;
}
