/** Runs a program at the sandbox's own interface, with one tool that echoes its argument. */

import type { ConnectorId, Digest, Limits, PrincipalId } from "../src/domain/index.ts";
import type { Sandbox, SandboxResult } from "../src/sandbox/index.ts";
import { renew } from "./measure.ts";

export function runProgram(
  sandbox: Sandbox,
  javascript: string,
  limits: Limits,
  principal = "bench" as PrincipalId,
): Promise<SandboxResult> {
  const text = renew(javascript);
  return sandbox.run({
    program: {
      digest: "sha256:0" as Digest,
      source: text,
      checkable: text,
      javascript: text,
      insertions: [],
      calls: [],
      findings: [],
    },
    namespaces: [{ name: "tools", connector: "tools" as ConnectorId, summary: "", tools: ["echo"] }],
    limits,
    host: { call: async (_address, rawArgs) => ({ ok: true, json: String(rawArgs) }) },
    principal,
    signal: new AbortController().signal,
  });
}
