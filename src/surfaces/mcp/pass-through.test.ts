/** Resources and prompts that policy denies are refused with a record and not listed. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { createTool, snapshotOf } from "../../../test/fixtures/bridge/test-bridge.ts";
import type { Tool } from "../../domain/index.ts";
import type { McpDoor } from "../gateway.ts";
import { AGENT, createMemoryGateway, createResult } from "./fixtures/memory-gateway.ts";
import { getPrompt, listPrompts, listResources, listTemplates, readResource } from "./pass-through.ts";

const SIGNAL = new AbortController().signal;

/** Two servers with resources and prompts; these tools of `files` are hidden. */
function openDoor(hidden: readonly string[]) {
  const called: string[] = [];
  const methods = { read: "resources/read", resources: "resources/list", get: "prompts/get", prompts: "prompts/list" };
  const tools = ["files", "github"].flatMap((server) =>
    Object.entries(methods).map(([name, remoteName]): Tool => {
      const tool = createTool(`${server}.${name}`);
      return { ...tool, origin: { ...tool.origin, remoteName } };
    }),
  );
  const isHidden = ({ address }: Tool): boolean => hidden.includes(address);
  const shown = snapshotOf(tools.filter((tool) => !isHidden(tool)));
  const apart = new Map(tools.filter(isHidden).map((tool) => [tool.address, tool]));
  const answer = {
    resources: [{ uri: "note://1", name: "note" }],
    templates: [{ uriTemplate: "note://{id}", name: "notes" }],
    prompts: [{ name: "greet" }],
    contents: [],
    messages: [],
  };
  const gateway: McpDoor["gateway"] = {
    ...createMemoryGateway(),
    findMedia: async () => [],
    takeSnapshot: async () => ({ ...shown, hidden: apart }),
    callTools: async ({ calls }) => {
      called.push(...calls.map(({ address }) => address));
      const refused = calls.some(({ address }) => hidden.includes(address));
      const error = { code: "POLICY_DENIED", message: "no", retry: false } as const;
      const replies = calls.map(() =>
        refused ? { ok: false as const, error } : { ok: true as const, json: JSON.stringify(answer) },
      );
      return { result: createResult(refused ? { state: "failed", error } : {}), replies };
    },
  };
  const door: McpDoor = { gateway, principal: AGENT, report: () => "in_1" };
  return { door, called };
}

test("a denied resource or prompt is requested from the bridge, which refuses and records it", async () => {
  const { door, called } = openDoor(["files.read", "files.get"]);
  await assert.rejects(readResource(door, "glovebox://files/note%3A%2F%2F1", SIGNAL), /POLICY_DENIED: no/);
  await assert.rejects(getPrompt(door, { name: "files_greet", args: {} }, SIGNAL), /POLICY_DENIED: no/);
  await readResource(door, "glovebox://github/note%3A%2F%2F1", SIGNAL);
  await getPrompt(door, { name: "github_greet", args: {} }, SIGNAL);
  assert.deepEqual(called, ["files.read", "files.get", "github.read", "github.get"]);
});

test("resources and prompts that may not be read are not listed, and others are", async () => {
  const { door, called } = openDoor(["files.read", "files.get"]);
  const listed = [
    (await listResources(door, SIGNAL)).map(({ uri }) => uri),
    (await listTemplates(door, SIGNAL)).map(({ uriTemplate }) => uriTemplate),
    (await listPrompts(door, SIGNAL)).map(({ name }) => name),
  ];
  assert.deepEqual(listed, [
    ["glovebox://github/note%3A%2F%2F1"],
    ["glovebox://github/~note://{id}"],
    ["github_greet"],
  ]);
  assert.deepEqual(called, ["github.resources", "github.resources", "github.prompts"]);
  const open = openDoor([]).door;
  assert.deepEqual(
    (await listPrompts(open, SIGNAL)).map(({ name }) => name),
    ["files_greet", "github_greet"],
  );
});
