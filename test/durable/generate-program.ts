/**
 * Generates programs from a sequence of numbers: calls of every effect in sequences, loops and all promise combinators,
 * with failures, timers, time and random values. Unless a program is ordered, its result does not depend on which of
 * two responses arrives first.
 */

/** Uses the numbers one after another; when they run out, the first option is chosen. */
export interface Choices {
  pick<Option>(options: readonly Option[]): Option;
  /** A number that no other call of the program has. */
  fresh(): number;
}

function createChoices(numbers: readonly number[]): Choices {
  let [at, last] = [0, 0];
  return {
    pick<Option>(options: readonly Option[]): Option {
      const chosen = options[(numbers[at++] ?? 0) % options.length];
      if (chosen === undefined) throw new TypeError("The array of options is empty");
      return chosen;
    },
    fresh: () => (last += 10),
  };
}

/** `pay` and `peek` need approval, so they are rarer than the others. */
const OPERATIONS = ["look", "put", "keep", "look", "put", "keep", "put", "pay", "peek"] as const;

function call(choices: Choices, argument = ""): string {
  const n = choices.fresh();
  return `shop.${choices.pick(OPERATIONS)}({ n: ${n}${argument} })`;
}

function some(choices: Choices, make: () => string): string {
  return Array.from({ length: choices.pick([2, 3, 4]) }, make).join(", ");
}

type Statement = (choices: Choices) => string;

const NEVER = "new Promise(() => {})";
const sleep = (choices: Choices): string => `new Promise((done) => setTimeout(done, ${choices.pick([0, 1, 3])}))`;

const STATEMENTS: readonly Statement[] = [
  (choices) => `out.push((await ${call(choices)}).n);`,
  (choices) => `try { await shop.fail({ n: ${choices.fresh()} }); } catch (error) { out.push(error.code); }`,
  (choices) => `for (let i = 0; i < ${choices.pick([2, 3])}; i += 1) out.push((await ${call(choices, " + i")}).n);`,
  (choices) => `out.push((await Promise.all([${some(choices, () => call(choices))}])).map(({ n }) => n));`,
  (choices) =>
    `out.push((await Promise.allSettled([${call(choices)}, shop.fail({ n: ${choices.fresh()} }), ${call(choices)}]))
       .map(({ value, reason }) => value?.n ?? reason.code));`,
  (choices) => `out.push((await Promise.any([shop.fail({ n: ${choices.fresh()} }), ${call(choices)}])).n);`,
  (choices) => `out.push((await Promise.race([${NEVER}, ${call(choices)}])).n);`,
  (choices) => `out.push(typeof (await Promise.race([${call(choices)}, ${call(choices)}])).n);`,
  (choices) => `await Promise.race([${NEVER}, ${sleep(choices)}]);`,
  (choices) => `out.push((await Promise.all([${sleep(choices)}, ${call(choices)}]))[1].n);`,
  () => "out.push(Math.random(), crypto.randomUUID(), Date.now() >= began);",
  (choices) => `out.push((await ${call(choices, " + 1000 * Math.floor(Math.random() * 1000)")}).n);`,
  (choices) =>
    `if (Math.random() < 0.5) out.push((await ${call(choices)}).n); else out.push((await ${call(choices)}).n);`,
  (choices) => {
    const body = `{ const one = await ${call(choices, " + at")}; ${choices.pick(["", `await ${sleep(choices)};`])}
      return one.n + (await ${call(choices, " + at")}).n; }`;
    return `{ const nested = async (at) => ${body}; out.push(await Promise.all([nested(1), nested(2)])); }`;
  },
  (choices) => `{ const chance = Math.random(); await ${sleep(choices)}; out.push(chance); }`,
];

/** Their results depend on the order of responses, and so do random values, time and later calls. */
const ORDERED: readonly Statement[] = [
  (choices) => `out.push((await Promise.race([${some(choices, () => call(choices))}])).n); console.log(Date.now());`,
  (choices) => `{ const came = []; const note = ({ n }) => { came.push([n, Math.random()]); console.log(Date.now()); };
    await Promise.all([${some(choices, () => `${call(choices)}.then(note)`)}]); out.push(came); }`,
  (choices) => `{ let turn = 0; const chain = async (at) => {
      for (let i = 0; i < ${choices.pick([1, 2, 3])}; i += 1) out.push((await ${call(choices, " + 100000 * at + 1000000 * (turn += 1)")}).n);
    };
    await Promise.all([chain(1), chain(2), ${call(choices)}, chain(3)]); out.push(turn, Math.random()); }`,
  (choices) => `{ const first = await Promise.race([${call(choices)}, ${call(choices)}]);
    out.push((await ${call(choices, " + first.n * 100000")}).n); }`,
];

/** The same numbers give the same program. An ordered program can only be resumed if the order of responses is kept. */
export function makeProgram(numbers: readonly number[], { isOrdered = false } = {}): string {
  const choices = createChoices(numbers);
  const count = choices.pick([2, 3, 4, 5]);
  const statements = isOrdered ? [...ORDERED, ...ORDERED, ...STATEMENTS] : STATEMENTS;
  const body = Array.from({ length: count }, () => choices.pick(statements)(choices));
  return ["const began = Date.now(); const out = [began, Math.random()];", ...body, "return out;"].join("\n");
}

/** A reproducible sequence of numbers from one seed. */
export function numbersFrom(seed: number): readonly number[] {
  let state = seed * 2_654_435_761 + 1;
  return Array.from({ length: 60 }, () => {
    state = (Math.imul(state ^ (state >>> 15), 2_246_822_519) + 1_013_904_223) | 0;
    return (state >>> 8) & 0xffff;
  });
}
