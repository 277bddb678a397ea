/**
 * Generates programs that read private and untrusted data and make one kind of outgoing call. By construction it is
 * known which arguments depend on what was read, and whether the call itself does.
 */

/** Uses the numbers one after another; when they run out, the first option is chosen. */
export interface Choices {
  pick<Option>(options: readonly Option[]): Option;
}

export interface GeneratedArgument {
  /** `none`: depends on nothing that was read. `bits`: depends, but a replay may miss it. `count`: it rarely does. */
  readonly depends: "none" | "bits" | "count" | "data";
  readonly code: string;
  /** Statements that come before the call. */
  readonly before?: string;
}

export interface GeneratedFlow {
  readonly code: string;
  readonly args: Readonly<Record<string, GeneratedArgument["depends"]>>;
  /** How the call itself depends on what was read. */
  readonly control: GeneratedArgument["depends"];
}

export function createChoices(numbers: readonly number[]): Choices {
  let at = 0;
  return {
    pick<Option>(options: readonly Option[]): Option {
      const chosen = options[(numbers[at++] ?? 0) % options.length];
      if (chosen === undefined) throw new TypeError("The array of options is empty");
      return chosen;
    },
  };
}

/** Each is a string that differs whenever the data does. */
const READS = [
  "m.body",
  "m.subject",
  "m.from",
  "list.items[0].title",
  'list.items.map((item) => item.title).join("|")',
  'm.tags.join(",")',
  "Object.keys(m.headers)[0]",
  "Object.values(m.headers)[0]",
  "JSON.stringify(m)",
  "JSON.stringify(list.items)",
  "JSON.parse(m.json).code",
  "`${m.unread}`",
  "String(list.total)",
  "m.at",
] as const;

/** Counts, presence, flags: they differ for most data. */
const COUNTS = [
  "m.body.length",
  "list.items.length",
  "m.tags.length",
  "Object.keys(m.headers).length",
  "JSON.stringify(m).length",
  "m.flagged",
  "list.items.map((item) => item.title.length).join()",
  'm.body.split(" ").map((word) => word.length).join()',
] as const;

/** What two different texts may have in common: a replay can miss it. */
const BITS = [
  "m.body === 'magic'",
  "m.body < 'm'",
  "m.subject.charCodeAt(0) & 1",
  "m.unread > 5 ? 'many' : 'few'",
  "m.body.includes('secret word')",
  "list.items.some((item) => item.votes === 7) ? 1 : 0",
  "[...m.body].filter((c) => c === 'e').length > 3",
  "m.body.localeCompare('hello')",
  "/^[a-m]/i.test(list.items[0].title)",
  "new Date(m.at).getDay()",
  "m.from === list.items[0].author",
] as const;

/** Carries a string into another that still differs whenever it did. */
const LAUNDER: readonly ((text: string) => string)[] = [
  (text) => text,
  (text) => `[...${text}].reverse().join("")`,
  (text) => `btoa(encodeURIComponent(${text}))`,
  (text) => `Array.from(new TextEncoder().encode(${text}), (byte) => byte.toString(16)).join("")`,
  (text) => `[...${text}].map((c) => c.charCodeAt(0)).join(" ")`,
  (text) => `Object.keys({ ["k" + ${text}]: 1 })[0]`,
  (text) => `JSON.parse(JSON.stringify({ v: ${text} })).v`,
  (text) => `new Map([["k", ${text}]]).get("k")`,
  (text) => `[...new Set([${text}])][0]`,
  (text) => `(() => { try { throw new Error(${text}); } catch (error) { return error.message; } })()`,
  (text) => `[...(function* () { yield ${text}; })()].join("")`,
  (text) => `(class { static v = ${text}; }).v`,
  (text) => `encodeURIComponent(${text})`,
  (text) =>
    `[...${text}].map((c) => [...Array(8).keys()].map((bit) => (c.charCodeAt(0) >> bit) & 1).join("")).join("-")`,
  (text) => `[...${text}].reduce((sum, c, at) => sum + c.charCodeAt(0) * 31 ** (at % 7), 0).toString(36)`,
  (text) => `(await util.echo({ text: ${text} })).text`,
  (text) => `(await Promise.all([util.echo({ text: "x" }), util.echo({ text: ${text} })]))[1].text`,
  (text) =>
    `((text) => { let out = ""; for (const c of text) switch (true) { case c < "n": out += "a" + c; break; default: out += "b" + c; } return out; })(${text})`,
  (text) => `structuredClone({ v: [${text}] }).v[0]`,
  (text) => `((text) => "#".repeat(text.charCodeAt(0)) + text.slice(1))(${text})`,
  (text) => `Object.entries({ a: ${text} }).flat().at(-1)`,
  (text) => `(await new Promise((done) => setTimeout(() => done(${text}), 3)))`,
  (text) => `((await util.save({ text: ${text} })), (await util.load({ id: 1 })).last.text)`,
  (text) =>
    `(await Promise.all([util.save({ text: ${text} }), 1]), (await util.load({ id: 2 })).all.map((kept) => kept.text).join())`,
];

const INDEPENDENT = [
  '"ada@example.com"',
  '"weekly " + "report"',
  "NAME",
  "`to ${NAME}`",
  "input.to",
  "input.to.toUpperCase()",
  "[1, 2, 3].map((n) => n * 2).join()",
  "new Date(0).toISOString()",
  "Math.round(Math.random() * 1000)",
  "crypto.randomUUID()",
  "7 * 6",
  "{ deep: ['a', { b: 1 }] }",
] as const;

function generateArgument(name: string, choices: Choices): GeneratedArgument {
  switch (choices.pick(["none", "data", "count", "bits", "data", "none"] as const)) {
    case "none":
      return { depends: "none", code: choices.pick(INDEPENDENT) };
    case "count":
      return { depends: "count", code: choices.pick(COUNTS) };
    case "bits":
      return { depends: "bits", code: choices.pick(BITS) };
    default: {
      const read = choices.pick(READS);
      const steps = Array.from({ length: choices.pick([0, 1, 1, 2, 3]) }, () => choices.pick(LAUNDER));
      const before = steps.map(
        (launder, at) => `const ${name}${at + 1} = ${launder(at === 0 ? read : `${name}${at}`)};`,
      );
      return { depends: "data", code: steps.length === 0 ? read : `${name}${steps.length}`, before: before.join(" ") };
    }
  }
}

type Shape = (call: string) => Pick<GeneratedFlow, "control" | "code">;

/** Where the call is. `list.items` has at least one item. */
const SHAPES: readonly Shape[] = [
  (call) => ({ control: "none", code: `await ${call};` }),
  (call) => ({ control: "none", code: `const sent = await ${call}; return sent;` }),
  (call) => ({ control: "none", code: `try { await ${call}; } catch { await util.echo({ text: "failed" }); }` }),
  (call) => ({ control: "none", code: `const send = async () => { await ${call}; }; await send();` }),
  (call) => ({ control: "none", code: `await Promise.all([util.echo({ text: "x" }), ${call}]);` }),
  (call) => ({ control: "none", code: `await new Promise((done) => setTimeout(done, 5)); await ${call};` }),
  (call) => ({ control: "none", code: `for (let i = 0; i < 2; i += 1) await ${call};` }),
  (call) => ({ control: "none", code: `await ${call.replace("out.send", 'out["se" + "nd"]')};` }),
  (call) => ({ control: "data", code: `for (const _ of list.items) await ${call};` }),
  (call) => ({ control: "data", code: `for (const c of m.body) { await ${call}; if (c === "~") break; }` }),
  (call) => ({ control: "data", code: `for (const _ of Object.keys(m.headers)) await ${call};` }),
  (call) => ({ control: "data", code: `await Promise.all(m.tags.map(async () => ${call}));` }),
  (call) => ({ control: "data", code: `if (m.flagged) await util.echo({ text: "flag" }); await ${call};` }),
  (call) => ({ control: "data", code: `if (m.body.length > 3) await ${call};` }),
  (call) => ({
    control: "data",
    code: `if (m.body === "${BODY_MARK}") throw new Error("x"); m.tags[0].at(0); await ${call};`,
  }),
  (call) => ({ control: "bits", code: `if (m.body !== "magic") await ${call};` }),
  (call) => ({
    control: "bits",
    code: `if (m.body !== "magic") { await ${call}; } else { await ${call}; await ${call}; }`,
  }),
  (call) => ({ control: "bits", code: `null?.[m.body < "a" ? "x" : "y"]; JSON.parse(m.json); await ${call};` }),
];

const BODY_MARK = "never a body";

const READ_FIRST = [
  "const m = await mail.read({ id: 1 }); const list = await issues.list({});",
  "const [m, list] = await Promise.all([mail.read({ id: 1 }), issues.list({})]);",
  "const list = await issues.list({}); const m = await mail.read({ id: list.items.length });",
  "await util.echo({ text: 'first' }); const list = await issues.list({}); const m = await mail.read({ id: 2 });",
] as const;

const NAMES = ["to", "body", "subject", "note"] as const;

export function generateFlow(numbers: readonly number[]): GeneratedFlow {
  const choices = createChoices(numbers);
  const names = NAMES.slice(0, choices.pick([1, 2, 3, 4]));
  const made = names.map((name) => [name, generateArgument(name, choices)] as const);
  const call = `out.send({ ${made.map(([name, { code }]) => `${name}: ${code}`).join(", ")} })`;
  const { control, code } = choices.pick(SHAPES)(call);
  const before = made.map((one) => one[1].before ?? "").join("\n");
  const whole = `const NAME = "Grace"; ${choices.pick(READ_FIRST)}\n${before}\n${code}`;
  return { code: whole, args: Object.fromEntries(made.map(([name, { depends }]) => [name, depends])), control };
}

/** The data that a generated program reads. */
export function generateData(choices: Choices) {
  const words = ["report", "Lunch", "invoice 42", "key: a1B2", "hello", "Über uns", "x", "two words here"];
  const text = (): string => `${choices.pick(words)} ${choices.pick(words)} ${choices.pick(words)}`;
  const items = Array.from({ length: choices.pick([1, 2, 3]) }, (_, at) => ({
    title: `${text()} ${at}`,
    body: text(),
    author: `user${at}@example.com`,
    votes: choices.pick([0, 3, 12, 7]),
  }));
  return {
    mail: {
      from: "boss@example.com",
      subject: text(),
      body: text(),
      unread: choices.pick([1, 4, 9, 120]),
      flagged: choices.pick([true, false]),
      tags: Array.from({ length: choices.pick([1, 2, 3]) }, () => choices.pick(words)),
      headers: { [`x-${choices.pick(words)}`]: text(), [`y-${choices.pick(words)}`]: text() },
      at: choices.pick(["2025-03-01T10:00:00Z", "2024-12-31", "2026-01-02T03:04:05.678Z"]),
      json: JSON.stringify({ code: text(), ok: true, list: [1, 2] }),
    },
    issues: { total: choices.pick([3, 17, 200]), items },
  };
}
