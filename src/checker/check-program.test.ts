/** Programs against a small API with the real compiler: what is said, what it costs, and what the compiler cannot reach. */

import assert from "node:assert/strict";
import { after, describe, it } from "node:test";

import { analyze } from "../analysis/index.ts";
import type { AnalysisResult } from "../analysis/index.ts";
import { DEFAULT_LIMITS, parseConnectorId, parseDigest, parseToolAddress } from "../domain/index.ts";
import type { ApiSurface, Program } from "../domain/index.ts";
import { measureFamily } from "../processes/index.ts";
import { checkProgram } from "./check-program.ts";
import type { CheckContext } from "./check-program.ts";
import { openChecker } from "./open-checker.ts";

function known<T>(value: T | undefined): T {
  assert.ok(value !== undefined);
  return value;
}

const keeper = { keep: () => undefined, release: () => undefined };
const checker = openChecker({ node: process.execPath, keeper, now: Date.now, measure: measureFamily });
after(() => checker[Symbol.asyncDispose]());

const SURFACE: ApiSurface = {
  snapshot: known(parseDigest(`sha256:${"a".repeat(64)}`)),
  declarations: `declare const input: any;
declare const shop: {
  get(args: { id: string; size?: "s" | "l" }): Promise<{ id: string; price: number }>;
  list(args?: { limit?: number }): Promise<{ items: Array<{ id: string }> }>;
  loose(): Promise<{ rows: Array<{ kind?: string; size?: number }> }>;
  guess(args?: Record<string, unknown>): Promise<{ seen: string }>;
  owner(): Promise<shop.User>;
};
declare namespace shop {
  type User = {
    login: string;
    friends: Array<shop.User>;
  };
}
`,
  namespaces: [
    { name: "shop", connector: known(parseConnectorId("shop")), summary: "", tools: ["get", "guess", "list"] },
  ],
};

const GUIDED = ["shop.get", "shop.list"].map((address) => known(parseToolAddress(address)));
const isSpelledAs = (address: string, text: string): boolean => [address, address.slice("shop.".length)].includes(text);

const SIGNATURE = "declare const shop: { get(args: { id: string }): Promise<…> };";
const RESULT = "shop.get returns Promise<{ price: number }>";
const CONTEXT: CheckContext = {
  checker,
  principal: { id: "bob", session: "1" },
  guide: {
    nearest: () => [known(parseToolAddress("shop.get")), known(parseToolAddress("shop.list"))],
    find: (texts) => GUIDED.find((address) => texts.some((text) => isSpelledAs(address, text))),
    signature: (address) => (address === "shop.get" ? SIGNATURE : undefined),
    result: (address) => (address === "shop.get" ? RESULT : undefined),
    call: (address) => (address === "shop.get" ? "shop.get({ id: string; })" : undefined),
    isGuessed: (address) => address === "shop.guess",
    isWithheld: (address) => address === "shop.withheld",
  },
  level: "error",
  blocks: true,
};

function programOf(source: string): Program {
  const rules = { "no-external-import": "off", "no-dynamic-import": "off" } as const;
  const analyzed = analyze(source, SURFACE, { enabled: false, blockOnError: false, rules, limits: DEFAULT_LIMITS });
  assert.ok(analyzed.ok, source);
  return analyzed.program;
}

const check = async (source: string, change: Partial<CheckContext> = {}): Promise<AnalysisResult> =>
  checkProgram(programOf(source), SURFACE, { ...CONTEXT, ...change });

/** The messages of all findings, with their places. */
async function said(source: string): Promise<readonly string[]> {
  const checked = await check(source);
  const { findings } = checked.ok ? checked.program : checked;
  return findings.map(({ severity, message, line, column }) => `${severity} ${line}:${column} ${message}`);
}

describe("the check of secrets", () => {
  const declared = (text: string, secrets: readonly string[] = []): ApiSurface => ({
    ...SURFACE,
    declarations: `${SURFACE.declarations}declare const secrets: { ${text} };\n`,
    ...(secrets.length > 0 && { secrets }),
  });
  const refusal = async (source: string, surface: ApiSurface): Promise<unknown> => {
    const checked = await checkProgram(programOf(source), surface, CONTEXT);
    return checked.ok ? "fits" : [checked.error.message, checked.error.hint];
  };
  const two = declared("readonly KEY: string; readonly TOKEN: string;", ["KEY", "TOKEN"]);

  it("refuses a secret that is not granted and lists the granted ones", async () => {
    assert.deepEqual(await refusal("return secrets.KEX", two), [
      "No secret KEX is granted to this program",
      "Granted: secrets.KEY, secrets.TOKEN; an operator can grant more with sandbox.secrets",
    ]);
    assert.deepEqual(await refusal("const { KEX } = secrets; return KEX", declared("")), [
      "No secret KEX is granted to this program",
      "No secrets are granted; an operator can grant more with sandbox.secrets",
    ]);
  });
  it("accepts granted secrets, and a variable of the program called secrets", async () => {
    assert.equal(await refusal("return secrets.KEY + secrets.TOKEN", two), "fits");
    assert.equal(await refusal("const secrets = { KEX: 1 }; return secrets.KEX", two), "fits");
  });
  it("keeps the secrets of two principals with the same tools apart", async () => {
    const one = declared("readonly KEY: string;", ["KEY"]);
    assert.equal(await refusal("return secrets.TOKEN", two), "fits");
    assert.notEqual(await refusal("return secrets.TOKEN", one), "fits");
    assert.equal(await refusal("return secrets.TOKEN", two), "fits");
  });
});

describe("the check of a mistaken program", () => {
  it("refuses an unknown tool with the position, the frame, the nearest names and one signature", async () => {
    const source = "// über 😀\nconst s = '😀'; return await shop.gett({ id: s });";
    assert.deepEqual(await check(source), {
      ok: false,
      error: {
        code: "PROGRAM_TYPES",
        message: "The API has no tool shop.gett",
        retry: false,
        hint: `Did you mean shop.get, shop.list?\n${SIGNATURE}`,
        line: 2,
        column: 35,
        frame: `  1 | // über 😀\n> 2 | const s = '😀'; return await shop.gett({ id: s });\n    | ${" ".repeat(34)}^`,
      },
      findings: [{ rule: "types", severity: "error", message: "The API has no tool shop.gett", line: 2, column: 35 }],
    });
  });
  it("reports all mistakes at once", async () => {
    assert.deepEqual(
      await said('const a = shop.get({ id: 1 });\na.price;\nawait shop.lst();\nawait shap.get({ id: "1" });'),
      [
        "error 1:22 shop.get: Type 'number' is not assignable to type 'string'.",
        "error 2:1 a is a promise and has no price; await it first",
        "error 3:12 The API has no tool shop.lst",
        "error 4:7 The sandbox has no global shap, so no shap.get",
      ],
    );
  });
  it("reads the names of a call as one tool, because servers have no groups", async () => {
    assert.deepEqual(await said("await shop.items.get({ id: '1' })"), [
      "error 1:12 The API has no tool shop.items.get",
    ]);
  });
  it("shows the corrected line if an await is missing", async () => {
    for (const [source, hint] of [
      ["const a = shop.list();\nreturn a.items", "Write: const a = await shop.list();"],
      ["return shop.list().items", "Write: return (await shop.list()).items"],
      [
        "const all = [1, 2].map((id) => shop.get({ id: `${id}` }));\nreturn all.map((one) => one.price)",
        "Write: const all = await Promise.all([1, 2].map((id) => shop.get({ id: `${id}` })));",
      ],
      [
        "function f() { return shop.list().items }\nreturn f()",
        "Make the function around it async and await the promise",
      ],
    ]) {
      const checked = await check(source ?? "");
      assert.equal(!checked.ok && checked.error.hint, hint);
    }
  });
  it("shows the call for wrong arguments, and the type for an unknown field", async () => {
    for (const [source, hint] of [
      ["return await shop.get({ id: 1 })", "The call is shop.get({ id: string; })"],
      ["return (await shop.get({ id: '1' })).cost", RESULT],
      [
        "return (await shop.owner()).friends[0].nick",
        "type User = {\n  login: string;\n  friends: Array<shop.User>;\n};",
      ],
    ]) {
      const checked = await check(source ?? "");
      assert.equal(!checked.ok && checked.error.hint, hint);
    }
  });
  it("limits message, hint and frame to 1,500 characters", async () => {
    const guide = { ...CONTEXT.guide, signature: () => "x".repeat(9_000) };
    for (const name of ["gett", "g".repeat(50_000)]) {
      const checked = await check(`/* ${"y".repeat(300)} */ await shop.${name}({}); /* ${"z".repeat(300)} */`, {
        guide,
      });
      assert.ok(!checked.ok);
      const { message, hint = "", frame = "" } = checked.error;
      const length = message.length + hint.length + frame.length;
      assert.ok(length <= 1_500 && length > 1_000, String(length));
    }
  });
  it("runs a mistaken program if the level is warn or nothing blocks", async () => {
    const source = "await shop.gett({})";
    const finding = { rule: "types", message: "The API has no tool shop.gett", line: 1, column: 12 };
    const program = programOf(source);
    const warned = { ok: true, program: { ...program, findings: [{ ...finding, severity: "warn" }] } };
    assert.deepEqual(await check(source, { level: "warn" }), warned);
    const listed = { ok: true, program: { ...program, findings: [{ ...finding, severity: "error" }] } };
    assert.deepEqual(await check(source, { blocks: false }), listed);
    assert.deepEqual(await check(source, { level: "off" }), { ok: true, program });
  });
  it("refuses a call with more than one argument", async () => {
    for (const [source, column] of [
      ['await shop.get({ id: "1" }, { timeout: 5 })', 29],
      ['await shop.get("1", "l")', 21],
      ["await shop.list(input, {})", 24],
    ]) {
      const words = "it takes one object of named arguments";
      const tool = String(source).slice("await ".length).split("(")[0];
      assert.deepEqual(await said(String(source)), [`error 1:${column} ${tool}: ${words}`]);
    }
    assert.deepEqual(await said("await shop.list(input)"), []);
  });
  it("only warns about an unknown tool that the program tests for", async () => {
    assert.deepEqual(await said("if (shop.sell) await shop.sell({}); if (typeof shop.buy === 'function') shop.buy()"), [
      "warn 1:10 The API has no tool shop.sell",
      "warn 1:27 The API has no tool shop.sell",
      "warn 1:53 The API has no tool shop.buy",
      "warn 1:78 The API has no tool shop.buy",
    ]);
  });
  it("only warns about unknown fields of guessed results, and of fields whose absence the program handles", async () => {
    assert.deepEqual(
      await said("const a = await shop.guess(); a.unseen; const b = await shop.list(); b.next ?? b.items"),
      [
        "warn 1:33 a has no unseen; shop.guess declares what it returns",
        "warn 1:72 b has no next; shop.list declares what it returns",
      ],
    );
  });
});

describe("the check of a correct program", () => {
  it("returns the same program object", async () => {
    const program = programOf('return (await shop.get({ id: "1", size: "l" })).price');
    const checked = await checkProgram(program, SURFACE, CONTEXT);
    assert.ok(checked.ok);
    assert.equal(checked.program, program);
  });
  it("accepts reduce over a list whose fields are all optional", async () => {
    const source = `const { rows } = await shop.loose();
const counts = rows.reduce((all, row) => { all[row.kind] = (all[row.kind] ?? 0) + row.size; return all }, {});
return [counts.bug, rows.reduce((all, row) => ({ ...all, [row.kind]: row }), {}).feature]`;
    assert.deepEqual(await said(source), []);
    assert.deepEqual(await said(source.replace("row.size", "row.length")), [
      "error 2:87 row has no length; shop.loose declares what it returns",
    ]);
  });
  it("accepts type names of a description that the checked API does not have", async () => {
    const source = `const { rows } = await shop.loose();
const first: shop.Row | undefined = rows[0];
return [first, rows as shop.Row[]]`;
    assert.deepEqual(await said(source), []);
  });
  it("accepts calls of a server that has no tools at the moment", async () => {
    const away = { name: "away", connector: known(parseConnectorId("away")), summary: "", tools: [] };
    const snapshot = known(parseDigest(`sha256:${"c".repeat(64)}`));
    const declarations = `${SURFACE.declarations}declare const away: {};`;
    const surface = { snapshot, declarations, namespaces: [...SURFACE.namespaces, away] };
    const checked = await checkProgram(programOf("await away.anything({}); await shop.anything({})"), surface, CONTEXT);
    assert.deepEqual(!checked.ok && checked.findings.map(({ message }) => message), [
      "The API has no tool shop.anything",
    ]);
  });
  it("does not ask the process about a program without tools", async () => {
    const { asked } = checker.stats();
    for (const source of ["return 1", "const a: number = 'x'; [1].map((x) => x.y)", "console.log(input.a)"]) {
      assert.deepEqual(await check(source), { ok: true, program: programOf(source) });
    }
    assert.equal(checker.stats().asked, asked);
    await check("await shop.list({ limit: 3 })");
    assert.equal(checker.stats().asked, asked + 1);
  });
});

describe("a checker that cannot check a program", () => {
  it("runs the unchecked program with a warning", async () => {
    const program = programOf("await shop.gett({})");
    const broken = {
      recall: () => undefined,
      check: async () => ({ kind: "unchecked", reason: "The types were not checked: why" }) as const,
    };
    const finding = { rule: "types", severity: "warn", message: "The types were not checked: why", line: 1, column: 1 };
    const checked = await checkProgram(program, SURFACE, { ...CONTEXT, checker: broken });
    assert.deepEqual(checked, { ok: true, program: { ...program, findings: [finding] } });
  });
});

describe("a type bomb", () => {
  const bomb = `type B<T, N extends any[] = []> = N["length"] extends 40 ? T : B<T | [T, N], [...N, 0]> | B<[T], [...N, 0]>;
let b: B<0>; await shop.list({})`;

  it("refuses another session's mistaken program while the bomb is checked", async () => {
    await using patient = openChecker({
      node: process.execPath,
      keeper,
      now: Date.now,
      measure: () => 0,
      limits: { checkMs: 600_000 },
    });
    let isBombChecked = false;
    const bombed = check(bomb, { checker: patient, principal: { id: "eve", session: "1" } }).finally(() => {
      isBombChecked = true;
    });
    const checked = await check("await shop.gett({})", { checker: patient, principal: { id: "eve", session: "2" } });
    assert.deepEqual([!checked.ok && checked.error.code, isBombChecked], ["PROGRAM_TYPES", false]);
    await patient[Symbol.asyncDispose]();
    assert.equal((await bombed).ok, true);
  });
  it("a large ordinary program is checked in the shared process, beside other sessions", async () => {
    await using own = openChecker({
      node: process.execPath,
      keeper,
      now: Date.now,
      measure: () => 0,
      limits: { checkMs: 600_000, slowMs: 60_000 },
    });
    const lines = Array.from({ length: 200 }, (_, at) => `const p${at} = (await shop.get({ id: "${at}" })).price;`);
    const [large, other] = await Promise.all([
      check(lines.join("\n"), { checker: own, principal: { id: "bob", session: "1" } }),
      check("await shop.list({})", { checker: own, principal: { id: "bob", session: "2" } }),
    ]);
    assert.deepEqual([large.ok, other.ok, own.stats().starts, own.stats().secondPid], [true, true, 1, 0]);
  });
});

describe("a call that names a tool in a string", () => {
  const answerTo = async (source: string): Promise<readonly unknown[]> => {
    const checked = await check(source);
    return checked.ok ? ["ok"] : [checked.error.message, checked.error.hint];
  };
  it("is answered with the line to write", async () => {
    assert.deepEqual(await answerTo('const a = await mcp.callTool("shop.get", { id: "1" });'), [
      "The sandbox has no global mcp, so no mcp.callTool",
      'Write: const a = await shop.get({ id: "1" });\nThe call is shop.get({ id: string; })',
    ]);
    assert.deepEqual(await answerTo('({ name: "shop.get", arguments: { id: "1" } })'), [
      "This is a tool call in JSON, not a program",
      'JSON is not run. Write: await shop.get({ id: "1" })\nThe call is shop.get({ id: string; })',
    ]);
  });
  it("is answered with the nearest names if no tool has that name", async () => {
    const [message, hint] = await answerTo('await mcp.callTool("shop.gte", { id: "1" });');
    assert.equal(message, "The sandbox has no global mcp, so no mcp.callTool, and the API has no tool shop.gte");
    assert.match(String(hint), /^Did you mean shop\.get, shop\.list\?/);
  });
  it("is left alone if it names no tool and calls none", async () => {
    assert.deepEqual(await answerTo('({ name: "apple", arguments: { id: "1" } })'), ["ok"]);
    assert.deepEqual(await answerTo('if (input) require2("apple")'), ["ok"]);
  });
});
