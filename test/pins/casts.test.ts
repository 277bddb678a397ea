/** Casts are only in `parse…` functions, which check what they claim, and in the `trust…` functions of this list. */

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { Visitor, parseSync } from "oxc-parser";

/** Every function that types data without a check, because this process or its own child wrote it. */
const TRUSTED: readonly string[] = [
  "analysis/parse-javascript.ts trustOpenParser",
  "analysis/parse-javascript.ts trustParser",
  "connectors/openapi/compile-child.ts trustJob",
  "domain/defined.ts trustFields",
  "egress/connect/pinned-agent.ts trustTargetKey",
  "policy/approvals/client-approvals.ts trustState",
  "policy/approvals/seal-arguments.ts trustContent",
  "sandbox/engines/isolate/isolate-realm.ts trustFunction",
  "sandbox/engines/quickjs/image.ts trustHead",
  "sandbox/engines/realm.ts trustStart",
  "sandbox/engines/realm.ts trustThrown",
  "sandbox/timebox.ts trustResult",
  "surfaces/mcp/create-mcp-server.ts trustResult",
  "surfaces/mcp/elicitation/approval-form.ts trustSchema",
  "surfaces/reach-near.ts trustAnswer",
];

interface Cast {
  readonly file: string;
  /** The nearest function declaration or method around the cast. */
  readonly within: string;
}

function listSources(root: string): readonly string[] {
  return readdirSync(root, { recursive: true, encoding: "utf8" })
    .filter((file) => /(?<!\.test|\.conformance|\.generated)\.ts$/.test(file) && !file.includes("fixtures"))
    .toSorted();
}

/** All casts but `as const`. */
function findCasts(file: string, text: string): readonly Cast[] {
  const casts: Cast[] = [];
  const functions: string[] = [];
  const enter = (node: { readonly id?: { readonly name: string } | null }): void => {
    functions.push(node.id?.name ?? "");
  };
  const leave = (): void => void functions.pop();
  new Visitor({
    FunctionDeclaration: enter,
    "FunctionDeclaration:exit": leave,
    TSAsExpression({ typeAnnotation }) {
      const isConst =
        typeAnnotation.type === "TSTypeReference" &&
        typeAnnotation.typeName.type === "Identifier" &&
        typeAnnotation.typeName.name === "const";
      if (!isConst) casts.push({ file, within: functions.at(-1) ?? "" });
    },
  }).visit(parseSync(file, text).program);
  return casts;
}

const SOURCES = listSources("src");
const CASTS = SOURCES.flatMap((file) => findCasts(file, readFileSync(join("src", file), "utf8")));

test("casts in src are only in parse and trust functions", () => {
  assert.deepEqual(
    CASTS.filter(({ within }) => !/^(?:parse|trust)[A-Z]/.test(within)).map(({ file, within }) => `${file} ${within}`),
    [],
  );
});

test("the trust functions of src are the pinned ones", () => {
  const found = SOURCES.flatMap((file) =>
    Array.from(
      readFileSync(join("src", file), "utf8").matchAll(/^(?:export )?function (trust\w+)/gm),
      ([, name = ""]) => `${file} ${name}`,
    ),
  );
  assert.deepEqual(found.toSorted(), TRUSTED.toSorted());
});

test("a planted cast outside of parse and trust functions is found", () => {
  const text =
    "function read(x: unknown) { return x as string; }\nfunction parseIt(x: unknown) { return x as string; }";
  assert.deepEqual(findCasts("a.ts", text), [
    { file: "a.ts", within: "read" },
    { file: "a.ts", within: "parseIt" },
  ]);
});
