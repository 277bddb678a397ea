/**
 * The client of the official conformance suite: our connector, which lists the tools at the given URL and calls each
 * of them. The suite's own server checks the requests.
 */

import { openEgress } from "../../src/egress/index.ts";
import { createMcpConnector } from "../../src/connectors/mcp/mcp-connector.ts";
import { isJsonObject, parseConnectorId } from "../../src/domain/index.ts";
import type { Json, JsonObject, JsonSchema } from "../../src/domain/index.ts";

const id = parseConnectorId("suite");
if (!id) throw new TypeError("A constant of this file is malformed");

/** Makes the calls that the scenario expects, with its arguments; without any, calls every tool once. */
export async function callTools(url: string, context: JsonObject): Promise<void> {
  if (!id) return;
  await using connector = createMcpConnector({
    id,
    settings: { kind: "http", url, resolveHeaders: async () => ({}), startMs: 10_000 },
    environment: {},
    keeper: { keep: () => undefined, release: () => undefined },
    egress: openEgress(),
    now: Date.now,
    clean: (text) => text,
  });
  const tools = await connector.tools();
  const wanted = Array.isArray(context["toolCalls"]) ? context["toolCalls"] : undefined;
  const known = tools[0]?.input ?? {};
  const calls = wanted ?? tools.map(({ name, input }) => ({ name, arguments: sampleOf(input, known) }));
  for (const call of calls) {
    const name = isJsonObject(call) ? call["name"] : undefined;
    if (!isJsonObject(call) || typeof name !== "string") continue;
    const args = isJsonObject(call["arguments"]) ? call["arguments"] : {};
    const signal = AbortSignal.timeout(5000);
    await connector.call(name, args, { signal }).catch(() => undefined); // the suite's server has what it checks
  }
}

/** Arguments that match the plain types of a schema; an argument called `schema` receives `known`. */
function sampleOf({ properties }: JsonSchema, known: JsonSchema): JsonObject {
  const entries = Object.entries(isJsonObject(properties) ? properties : {});
  return Object.fromEntries(entries.map(([key, schema]) => [key, key === "schema" ? known : sampleFor(schema)]));
}

function sampleFor(schema: Json): Json {
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
