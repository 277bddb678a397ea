/** Each kind of id has one parser; every accepted value has a hostile twin that is refused. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import {
  parseConnectorId,
  parseDigest,
  parseExecutionId,
  parsePrincipalId,
  parseResultId,
  parseRuleId,
  parseSecretName,
  parseToolAddress,
} from "./ids.ts";

interface Parser {
  readonly name: string;
  readonly parse: (raw: unknown) => string | undefined;
  readonly accepted: readonly string[];
  readonly refused: readonly string[];
}

const HEX = "0123456789abcdef";
const LONG = "a".repeat(10_240);

const FREE_NAME = {
  accepted: ["a", "github", "My server", "größe", "a/b.c", "__proto__", "x".repeat(256), "😀".repeat(256)],
  refused: ["", "a\nb", "a\u0000", "\u001b[31m", "a\u007f", "x".repeat(257), "😀".repeat(257), LONG],
};

const PARSERS: readonly Parser[] = [
  {
    name: "parseToolAddress",
    parse: parseToolAddress,
    accepted: [
      "github.createIssue",
      "a.b",
      "s3.get2",
      "glovebox.results.read",
      `${"a".repeat(128)}.${"b".repeat(128)}`,
    ],
    refused: [
      "",
      ".",
      "github",
      "github.",
      ".createIssue",
      "github.create.issue",
      "github.results.read",
      "glovebox.results.read.all",
      "GitHub.createIssue",
      "github.CreateIssue",
      "1st.tool",
      "github.create_issue",
      "github.__proto__",
      "__proto__.x",
      "github.createIssue ",
      " github.createIssue",
      "github.createIssue\n",
      "github.creаteIssue", // a Cyrillic letter
      "ｇithub.createIssue",
      "github．createIssue",
      `${"a".repeat(129)}.b`,
      `a.${"b".repeat(129)}`,
      `a.${LONG}`,
    ],
  },
  {
    name: "parseExecutionId",
    parse: parseExecutionId,
    accepted: ["ex_0123456789abcdef01234567"],
    refused: [
      "",
      "ex_",
      `ex_${HEX}0123456`,
      `ex_${HEX}012345678`,
      `EX_${HEX}01234567`,
      `ex_${HEX.toUpperCase()}01234567`,
      `ex_${HEX}01234567\n`,
      `ap_${HEX}01234567`,
    ],
  },
  {
    name: "parseResultId",
    parse: parseResultId,
    accepted: ["rs_0123456789abcdef01234567"],
    refused: ["", "rs_", `rs_${HEX}0123456`, `rs_${HEX}012345678`, `RS_${HEX}01234567`, `ex_${HEX}01234567`],
  },
  {
    name: "parseSecretName",
    parse: parseSecretName,
    accepted: ["TOKEN", "_x", "a1", "A".repeat(128)],
    refused: ["", "1A", "A-B", "A B", "A\n", "É", "../key", "A".repeat(129), LONG],
  },
  {
    name: "parseDigest",
    parse: parseDigest,
    accepted: [`sha256:${HEX.repeat(4)}`],
    refused: [
      "",
      HEX.repeat(4),
      `sha256:${HEX.repeat(3)}`,
      `sha256:${HEX.repeat(4)}0`,
      `sha256:${HEX.repeat(4)}\n`,
      `sha1:${HEX.repeat(4)}`,
      `sha256:${HEX.toUpperCase().repeat(4)}`,
    ],
  },
  { name: "parseConnectorId", parse: parseConnectorId, ...FREE_NAME },
  { name: "parsePrincipalId", parse: parsePrincipalId, ...FREE_NAME },
  { name: "parseRuleId", parse: parseRuleId, ...FREE_NAME },
];

/** Values that are not strings, even if they convert to a valid id. */
const NOT_STRINGS: readonly unknown[] = [undefined, null, 1, true, Symbol("a.b"), ["a.b"], { toString: () => "a.b" }];

for (const { name, parse, accepted, refused } of PARSERS) {
  describe(name, () => {
    for (const text of accepted) {
      it(`accepts the id ${shown(text)} unchanged`, () => assert.equal(parse(text), text));
    }
    for (const text of refused) {
      it(`refuses the id ${shown(text)}`, () => assert.equal(parse(text), undefined));
    }
    it("refuses ids that are not strings", () => {
      assert.deepEqual(
        NOT_STRINGS.map((raw) => parse(raw)),
        NOT_STRINGS.map(() => undefined),
      );
    });
    it("refuses a String object around a valid id", () => {
      assert.deepEqual(
        accepted.map((text) => parse(Object(text))),
        accepted.map(() => undefined),
      );
    });
  });
}

function shown(text: string): string {
  const quoted = JSON.stringify(text);
  return quoted.length <= 60 ? quoted : `${quoted.slice(0, 20)}… of ${text.length}`;
}
