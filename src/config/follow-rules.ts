/** The rule file: read when the gateway opens, and checked for changes while it runs. */

import { isJsonObject } from "../domain/index.ts";
import type { PolicyRule, RuleFile } from "../domain/index.ts";
import { checkRules, toRule } from "./schema/check-rules.ts";
import { copyConfig } from "./read/copy-config.ts";
import { createLocate, parseJsonc } from "./read/parse-jsonc.ts";
import { ruleFileSchema } from "./schema/policy-schema.ts";
import { createProblems, toConfigError } from "./problems.ts";
import { readTextFile } from "./read/read-text-file.ts";
import { reportIssues } from "./schema/report-issues.ts";
import { toJsonSchema } from "./schema/schema.ts";

const EMPTY_RULES = 'Write { "rules": [] } for a file without rules';
const FILE = { maxBytes: 1024 * 1024, kind: "a rule file" };

/** `path` is absolute; `taken` are the ids of the configuration's rules, which the file cannot use. */
export function followRules(path: string, taken: ReadonlySet<string>): RuleFile {
  let lastRead: string | undefined;
  return {
    path,
    async read() {
      const text = await readTextFile(path, FILE).catch((thrown: unknown) => {
        // A file that cannot be read is reported once.
        if (lastRead === String(thrown)) return undefined;
        lastRead = String(thrown);
        throw thrown;
      });
      if (text === undefined || text === lastRead) return undefined;
      lastRead = text;
      return parseRules(text, path, taken);
    },
  };
}

/** Parses a rule file: `{ "rules": [ … ] }`, with optional comments. Variables are not replaced. */
export function parseRules(text: string, path: string, taken: ReadonlySet<string>): readonly PolicyRule[] {
  const problems = createProblems();
  const written = copyConfig(parseJsonc(text, path, EMPTY_RULES), problems);
  const checked = ruleFileSchema.safeParse(written);
  if (!checked.success) reportIssues(checked.error.issues, written, problems, toJsonSchema(ruleFileSchema));
  const rules = isJsonObject(written) && Array.isArray(written["rules"]) ? written["rules"] : [];
  checkRules(rules, { path: ["rules"], origin: "rule file", taken }, problems);
  if (!checked.success || problems.list().length > 0) throw toConfigError(problems.list(), path, createLocate(text));
  return checked.data.rules.map((rule, index) => Object.freeze(toRule(rule, index, "rule file")));
}
