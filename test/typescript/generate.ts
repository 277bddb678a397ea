/** Programs with every kind of type at every place where a type may be. */

const TYPES = [
  "string",
  "unknown[]",
  "readonly number[]",
  "[a: string, b?: number, ...c: boolean[]]",
  "Map<string, Array<number>>",
  "{ a: 1; b?: string; readonly c: { d: null }; [k: string]: any }",
  "((x: number, ...y: string[]) => void)",
  "(new () => Date)",
  "(abstract new (a: 1) => object) | null",
  "typeof globalThis",
  "(keyof { a: 1 } & string)",
  "{ a: 1 }['a' | 'a']",
  "(string extends infer U ? U : never)",
  "{ readonly [K in 'a' | 'b' as `get${K}`]+?: () => K }",
  "`a${number}-${'x' | 'y'}`",
  "-1 | 0x10 | 10n | true | undefined",
  "((a: string) => asserts a is 'q')",
  "import('x').Y<string>",
  "Promise<Awaited<ReturnType<() => Promise<number>>>>",
  "(string | (number & {}))[][]",
] as const;

type Place = (type: string) => string;

const PLACES: readonly Place[] = [
  (type) => `let v: ${type} = 1 as any; const [w]: [${type}] = [2] as any;\nreturn [v, w]`,
  (type) =>
    `function f(a: ${type}, b?: ${type}, ...c: (${type})[]): ${type} { return [a, b, c] as any }\nreturn f(1 as any)`,
  (type) => `const f = async <T extends ${type} = any>(a: T): Promise<${type}> => a as any;\nreturn await f<any>(3)`,
  (type) =>
    `class C<T = ${type}> { a?: ${type}; #b: ${type} = 2 as any; static c: ${type}; m(x: ${type}): T { return [x, this.#b] as any } get g(): ${type} { return 4 as any } }\nreturn [new C().m(1 as any), new C().g, Object.keys(new C())]`,
  (type) =>
    `interface I<T> extends Array<${type}> { m(a: ${type}): T } type A<T> = T | ${type}\nlet x: A<I<1>> = (5 as unknown as ${type}) as any; let y = ({ z: 6 } as any) satisfies ${type}\nreturn [x, y!]`,
  (type) =>
    `const o = { m(a: ${type}) { return a }, async *g<T>(b: T & ${type}): AsyncGenerator<${type}> { yield b as any } }; const out: ${type}[] = [];\nfor await (const x of o.g<any>(7)) out.push(x as ${type})\nreturn [out, o.m(8 as any)]`,
  (type) =>
    `class P { constructor(private a: ${type}, public b: ${type} = 2 as any) {} }; namespace N { export const v: ${type} = 9 as any; export type T = ${type} }\nreturn [new P(1 as any), N.v]`,
];

/** Returns the same programs at every call, each with a name that describes its parts. */
export function generateSnippets(): readonly { readonly name: string; readonly code: string }[] {
  return PLACES.flatMap((place, at) => TYPES.map((type) => ({ name: `place ${at}: ${type}`, code: place(type) })));
}
