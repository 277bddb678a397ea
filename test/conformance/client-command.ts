/**
 * The "client" that the official conformance suite starts: our connector, which lists the tools at the given URL and
 * calls each of them. The suite's own server checks the requests.
 */

import { openEgress } from "../../src/egress/index.ts";
import { createMcpConnector } from "../../src/connectors/mcp/mcp-connector.ts";
import { isJsonObject, parseConnectorId } from "../../src/domain/index.ts";
import type { Json, JsonObject, JsonSchema } from "../../src/domain/index.ts";

const url = process.argv.at(-1) ?? "";
const id = parseConnectorId("suite");
if (!id) throw new TypeError("A constant of this file is malformed");

await using connector = createMcpConnector({
  id,
  settings: { kind: "http", url, resolveHeaders: async () => ({}), startMs: 10_000 },
  environment: {},
  keeper: { keep: () => undefined, release: () => undefined },
  egress: openEgress(),
  now: Date.now,
  clean: (text) => text,
});

/** Calls that the scenario expects, with its arguments; without any, every tool is called once. */
const context = JSON.parse(process.env["MCP_CONFORMANCE_CONTEXT"] ?? "{}") as { toolCalls?: unknown };
const tools = await connector.tools();
const wanted = Array.isArray(context.toolCalls) ? context.toolCalls : undefined;
const calls = wanted ?? tools.map(({ name, input }) => ({ name, arguments: sampleOf(input) }));
for (const call of calls) {
  const name = isJsonObject(call) ? call["name"] : undefined;
  if (!isJsonObject(call) || typeof name !== "string") continue;
  const args = isJsonObject(call["arguments"]) ? call["arguments"] : {};
  const signal = AbortSignal.timeout(5000);
  await connector.call(name, args, { signal }).catch((error: unknown) => {
    process.stderr.write(`${name}: ${String(error)}\n`);
  });
}

/**
 * Arguments that match the plain types of a schema; an argument called `schema` receives our version of the first
 * tool's schema.
 */
function sampleOf({ properties }: JsonSchema): JsonObject {
  const entries = Object.entries(isJsonObject(properties) ? properties : {});
  return Object.fromEntries(entries.map(([key, schema]) => [key, sampleFor(key, schema)]));
}

function sampleFor(key: string, schema: Json): Json {
  if (key === "schema") return tools[0]?.input ?? {};
  return isJsonObject(schema) ? sampleValue(schema) : null;
}

function sampleValue({ type }: JsonObject): Json {
  switch (type) {
    case "integer":
    case "number":
      return 5;
    case "boolean":
      return true;
    case "object":
      return {};
    case "array":
      return [];
    default:
      return "text";
  }
}
