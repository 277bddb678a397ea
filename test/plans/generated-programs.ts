/**
 * Programs that pass servers and tools around in every way that the call plan follows, and in some that it does not,
 * generated from a sequence of numbers. They never fail on what they pass around, so every planned call can be made.
 */

/** Uses the numbers one after another; when they run out, the first option is chosen. */
interface Choices {
  pick<Option>(options: readonly Option[]): Option;
  /** A name that no other part of the program uses. */
  fresh(): string;
}

/** Names of a server, or of an array of servers, at a place in the program. */
interface Known {
  readonly servers: readonly string[];
  readonly lists: readonly string[];
}

const SERVERS = ["github", "gitlab", "mail"] as const;
const TOOLS = ["list", "send", "read"] as const;
const FLAGS = ["input.a", "input.b", "!input.c"] as const;

function createChoices(numbers: readonly number[]): Choices {
  let [at, names] = [0, 0];
  return {
    pick<Option>(options: readonly Option[]): Option {
      const chosen = options[(numbers[at++] ?? 0) % options.length];
      if (chosen === undefined) throw new TypeError("The array of options is empty");
      return chosen;
    },
    fresh: () => `x${names++}`,
  };
}

function server(choices: Choices, known: Known, depth: number): string {
  if (depth <= 0) return choices.pick([...SERVERS, ...known.servers]);
  const inner = (): string => server(choices, known, depth - 1);
  const many = (): string => list(choices, known, depth - 1);
  const forms: readonly (() => string)[] = [
    inner,
    inner,
    () => `(${choices.pick(FLAGS)} ? ${inner()} : ${inner()})`,
    () => `(${choices.pick(FLAGS)} && ${inner()} || ${inner()})`,
    () => `${many()}[${choices.pick(["0", "1", "input.n"])}]`,
    () =>
      `${many()}.${choices.pick(["at(-1)", "find(() => true)", "shift()", "pop()", "findLast((s) => s !== github)"])}`,
    () => `({ k: ${inner()}, j: ${inner()} }).${choices.pick(["k", "j"])}`,
    () => `((s) => s)(${inner()})`,
    () => `(() => ${inner()})()`,
    () => `((...all) => all[${choices.pick(["0", "1"])}])(${inner()}, ${inner()})`,
    () => `(({ k }) => k)({ k: ${inner()} })`,
    () => `Object.values({ p: ${inner()}, q: ${inner()} })[1]`,
  ];
  return choices.pick(forms)();
}

const CHANGES = [
  "reverse()",
  "sort(() => -1)",
  "slice(1)",
  "filter((s) => s !== github)",
  "toReversed()",
  "toSorted(() => 1)",
  "map((s) => s)",
  "splice(0, 2)",
  "flatMap((s) => [s])",
] as const;

function list(choices: Choices, known: Known, depth: number): string {
  if (depth <= 0) return choices.pick([`[${SERVERS.join()}]`, ...known.lists]);
  const one = (): string => server(choices, known, depth - 1);
  const inner = (): string => list(choices, known, depth - 1);
  const forms: readonly (() => string)[] = [
    () => `[${one()}, ${one()}]`,
    inner,
    () => `${inner()}.${choices.pick(CHANGES)}`,
    () => `${inner()}.concat([${one()}])`,
    () => `[...${inner()}, ${one()}]`,
    () => `Object.values({ p: ${one()}, q: ${one()} })`,
    () => `Object.entries({ p: ${one()}, q: ${one()} }).map(([name, s]) => s)`,
  ];
  return choices.pick(forms)();
}

type Statement = (choices: Choices, known: Known, depth: number) => { readonly text: string; readonly known?: Known };

const call = (choices: Choices, known: Known, depth: number): string =>
  `await ${server(choices, known, depth)}?.${choices.pick(TOOLS)}({})`;

const STATEMENTS: readonly Statement[] = [
  (choices, known, depth) => {
    const name = choices.fresh();
    const made = `const ${name} = [${server(choices, known, depth)}, ${choices.pick(SERVERS)}, ${choices.pick(SERVERS)}];`;
    const change = choices.pick([...CHANGES, "shift()", "pop()", "push(mail)", "unshift(gitlab)"]);
    const text = `${made} ${name}.${change}; await ${name}[${choices.pick(["0", "1"])}]?.${choices.pick(TOOLS)}({});`;
    return { text, known: { ...known, lists: [...known.lists, name] } };
  },
  (choices, known, depth) => ({ text: `${call(choices, known, depth)};` }),
  (choices, known, depth) => {
    const name = choices.fresh();
    const text = `const ${name} = ${server(choices, known, depth)};`;
    return { text, known: { ...known, servers: [...known.servers, name] } };
  },
  (choices, known, depth) => {
    const name = choices.fresh();
    const text = `const ${name} = ${list(choices, known, depth)};`;
    return { text, known: { ...known, lists: [...known.lists, name] } };
  },
  (choices, known, depth) => {
    const change = choices.pick([...CHANGES, "shift()", "pop()", "push(mail)", "unshift(gitlab)", "fill(mail)"]);
    return { text: `${list(choices, known, depth)}.${change};` };
  },
  (choices, known, depth) => {
    const [first, rest] = [choices.fresh(), choices.fresh()];
    const text = `const [${first}, ...${rest}] = ${list(choices, known, depth)};`;
    return { text, known: { servers: [...known.servers, first], lists: [...known.lists, rest] } };
  },
  (choices, known, depth) => {
    const name = choices.fresh();
    return {
      text: `const { ${choices.pick(TOOLS)}: ${name} } = ${server(choices, known, depth)} ?? mail; await ${name}({});`,
    };
  },
  (choices, known, depth) => {
    const name = choices.fresh();
    const inner = { ...known, servers: [...known.servers, name, name, name] };
    return { text: `for (const ${name} of ${list(choices, known, depth)}) { ${call(choices, inner, 1)} }` };
  },
  (choices, known, depth) => ({
    text: `${list(choices, known, depth)}.${choices.pick(["forEach", "map", "some"])}((s) => { s?.${choices.pick(TOOLS)}({}) });`,
  }),
  (choices, known, depth) => ({
    text: `${list(choices, known, depth)}.sort((a, b) => { ${choices.pick(["a", "b"])}?.${choices.pick(TOOLS)}({}); return 0 });`,
  }),
  (choices, known, depth) => ({
    text: `if (${choices.pick(FLAGS)}) { ${call(choices, known, depth)} } else ${call(choices, known, 0)};`,
  }),
  (choices, known, depth) => {
    const label = choices.fresh();
    return { text: `${label}: { if (${choices.pick(FLAGS)}) break ${label}; ${call(choices, known, depth)} }` };
  },
  (choices, known, depth) => ({
    text: `do { if (${choices.pick(FLAGS)}) ${choices.pick(["break", "continue"])}; ${call(choices, known, depth)} } while (false);`,
  }),
  (choices, known, depth) => {
    const name = choices.fresh();
    const use = choices.pick([
      `await ${name}(gitlab);`,
      `await ${name}(mail); await ${name}(github);`,
      "",
      `[github].forEach(${name});`,
    ]);
    return {
      text: `async function ${name}(s) { await s.${choices.pick(TOOLS)}({}); ${call(choices, known, depth)} } ${use}`,
    };
  },
  (choices, known, depth) => {
    const name = choices.fresh();
    const again = choices.pick(["", `if (n > 0) await ${name}(n - 1)`]);
    return { text: `await (async function ${name}(n) { ${call(choices, known, depth)}; ${again} })(1);` };
  },
  (choices, known, depth) => {
    const name = choices.fresh();
    return {
      text: `let ${name} = input.n; ${name} ${choices.pick(["??=", "||=", "&&=", "="])} ${call(choices, known, depth)};`,
    };
  },
  (choices, known, depth) => ({ text: `input.a?.f(${call(choices, known, depth)});` }),
  (choices, known, depth) => ({
    text: `JSON.stringify(${server(choices, known, depth)}, ${choices.pick(["null", "(k, v) => { v?.send?.({}); return v }"])});`,
  }),
  (choices, known, depth) => ({
    text: `switch (input.n) { case 0: ${call(choices, known, depth)}; break; default: ${call(choices, known, 0)} }`,
  }),
  (choices, known, depth) => ({
    text: `try { ${call(choices, known, depth)}; if (input.b) throw 1 } catch { ${call(choices, known, 0)} }`,
  }),
  (choices, known, depth) => {
    const name = choices.fresh();
    const text = `const ${name} = { s: ${server(choices, known, depth)}, go() { return this.s?.${choices.pick(TOOLS)}({}) } }; await ${name}.go();`;
    return { text };
  },
];

/** The source of a program; the same numbers give the same source. */
export function generateProgram(numbers: readonly number[]): string {
  const choices = createChoices(numbers);
  let known: Known = { servers: [], lists: [] };
  const lines: string[] = [];
  const size = 1 + choices.pick([0, 1, 2, 3, 4, 5]);
  for (let at = 0; at < size; at += 1) {
    const made = choices.pick(STATEMENTS)(choices, known, choices.pick([0, 1, 2]));
    lines.push(made.text);
    known = made.known ?? known;
  }
  return `${lines.join("\n")}\nreturn 1`;
}
