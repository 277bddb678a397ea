/** Sources made to be slow to parse: each has a start, a unit that is repeated up to a limit, and an end. */

import { MAX_TOKENS, measureNesting } from "../src/analysis/prepare/check-size.ts";
import { DEFAULT_LIMITS } from "../src/domain/index.ts";

const FRAMES: readonly (readonly [start: string, unit: string, end: string])[] = [
  ["", ";", ""],
  ["", "a;", ""],
  ["", "a+", "a"],
  ["", "a.b", ""],
  ["a", ".b", ""],
  ["a", "()", ""],
  ["a", "[0]", ""],
  ["[", "1,", "]"],
  ["[", "[],", "]"],
  ["", "{}", ""],
  ["", "[];", ""],
  ["", "a=>a,", "a"],
  ["", "(", ""],
  ["", "[", ""],
  ["", "{", ""],
  ["", "`${", ""],
  ["", "`", ""],
  ["`", "a", ""],
  ["", "/a/;", ""],
  ["", "/[", ""],
  ["", "<!--\n", ""],
  ["", "-->\n", ""],
  ["", "\u2028", ""],
  ["", "\\u0061 ", ""],
  ["'", "\\u{61}", "'"],
  ["", "#!\n", ""],
  ["", "</script>", ""],
  ["", "}); a; (async()=>{", ""],
  ["", "let x;", ""],
  ["", "var a1=1,b1;", ""],
  ["", "f<T>(a);", ""],
  ["", "f<A,B>(a)<C>(b),", "a"],
  ["", "a<b,c>(d),", "a"],
  ["", "a?b:c,", "a"],
  ["", "(a:T)=>a,", "a"],
  ["", "<T>(a)=>a;", ""],
  ["", "a as any;", ""],
  ["let a: ", "A|", "A"],
  ["let a: ", "A&", "A"],
  ["type A = ", "B[]|", "C"],
  ["", "type A={a:1};", ""],
  ["", "interface A{a:1}", ""],
  ["", "enum A{B}", ""],
  ["", "namespace A{}", ""],
  ["enum A{", "B,", "}"],
  ["class A{", "a=1;", "}"],
  ["class A{", "a:T;", "}"],
  ["class A{", "constructor(private a){}", "}"],
  ["class A{constructor(", "private a,", "){}}"],
  ["", "tools.echo();", ""],
  ["", "await tools.echo({a:1});", ""],
  ["const a=tools;", "a.echo();", ""],
  ["let a=tools;", "a=a;", ""],
  ["const f=(a)=>a;", "f(tools);", ""],
  ["", "f(()=>{return tools});", ""],
  ["function f(){", "return tools;", "}f()"],
  ["for(;;){", "await a();", "}"],
  ["", "for(;;){}", ""],
  ["", "for(;;);", ""],
  ["", "a:for(;;)break a;", ""],
  ["while(1){", "if(a)continue;", "}"],
  ["", "arguments;f(tools);", ""],
  ["const a='x';", "tools[a];", ""],
  ["let i=0;", "while(i<1){}", ""],
  ["", "a.__proto__.b=1;", ""],
  ["", "eval;", ""],
  ["", "process;", ""],
  ["", "x.forEach(async()=>{});", ""],
  ["", "\u202e", ""],
  ["'", "\u200b\n", "'"],
  ["", "t\u043el;", ""],
  ["", "if(a)b;else ", "c"],
  ["switch(a){", "case 1:b;", "}"],
  ["", "try{a}catch{b}", ""],
  ["", "@a ", "class A{}"],
  ["", "/*", ""],
  ["", "//\n", ""],
  ["", "'a',", "a"],
  ["", "0n,", "a"],
  ["", "a\n++\n", "a"],
  ["", "async ", ""],
  ["", "new ", "a"],
  ["", "😀", ""],
  ["var [", "a,", "]=b"],
  ["({", "a,", "}=b)"],
  ["function f(", "a,", "){}"],
  ["", "import 'a';", ""],
  ["", "export default 1;", ""],
  ["", "a??b;", ""],
  ["a", "?.b", ""],
  ["", "(a,b)=>{};", ""],
  ["", "a={b:c};", ""],
  ["", "`a${b}c`;", ""],
  ["x=", "a?b:", "c"],
  ["", "yield ", ""],
  ["", "({}).constructor;", ""],
  ["", "globalThis.tools;", ""],
];

/** Made for what looks at whole programs: the rules, the call plan, the translation of forms. `%` is the number of the round. */
const NUMBERED: readonly (readonly [start: string, unit: string, end: string])[] = [
  ["", "function f%(){return f%_()}", ""],
  ["function f0(){throw 1}", "function f%(){f-%()}", "while(true)f1()"],
  ["", "const f%=(a)=>()=>a;", ""],
  ["let x;", "x=()=>{x};", ""],
  ["", "class A%{m%(){throw 1}}", "while(true)a.m1()"],
  ["const l=[tools];", "l.reverse();l[0].echo();", ""],
  ["", "const l%=[tools];l%.reverse();", ""],
  ["const l0=[tools];", "const l%=[...l-%];", ""],
  ["const l0=[tools];", "const l%=l-%.slice();l%.sort();", ""],
  ["const a0=tools;", "const a%=a-%;", "a1.echo()"],
  ["const a0=tools;", "const {echo:e%}=a0;e%();", ""],
  ["let s=tools;", "s=[s][0];", "s.echo()"],
  ["let s=tools;", "s={k:s}.k;", "s.echo()"],
  ["function f(a){return f(a)}", "f([tools,%]);", ""],
  ["const o={", "k%:tools,", "};o.k1.echo()"],
  ["const o={k:tools,", "m%(){return this.k},", "}"],
  ["", "if(a%){tools.echo({n:%})}", ""],
  ["out:{", "if(a)break out;tools.echo();", "}"],
  ["do{", "if(a)continue;tools.echo();", "}while(a)"],
  ["a", "?.b(tools.echo())", ""],
  ["a=", "b%??=tools.echo(),", "c"],
  ["const n0='a';", "const n%=n-%+'b';", "tools[n1]()"],
  ["", "ids.map((a)=>tools.echo(a));", ""],
  ["", "[a?tools.echo():[b&&tools.echo()]];", ""],
  ["x=", "(a,tools.echo()),", "1"],
  ["namespace N{", "export const a%=1;", "}"],
  ["namespace N{export let a=1;", "a++;", "}"],
  ["namespace N{export let a=1;f({", "a,", "})}"],
  ["namespace N{", "export function f%(){}", "}namespace N{f1()}"],
  ["namespace N{", "export type T%=1;", "export const a=1}"],
  ["namespace A", ".B", "{export const a=1}"],
  ["namespace N{export const a=1}", "import b%=N.a;", ""],
  ["class A{", "accessor a%=1;", "}"],
  ["class A{", "static accessor #a%;", "}"],
  ["enum A{", "B%=%,", "}"],
  ["", "const a%: number=%;", ""],
  ["", "a as X\n;[b];", ""],
  ["", "type T%=1\n;[b];", ""],
  ["{", "a%:%,", "}"],
  ["let a: T;{", "a%:%,", "}"],
  ["const a=1\n{", "b:{", ""],
  ["Here\n", "```js\n", ""],
  ["Here `", "a\n", "```js\n1\n```"],
  ["let a: number=1;", "`", ""],
  ["", "`${a}`+", "a"],
  ["a=", "'%'+", "a"],
  ["switch(a){", "case %:tools.echo();break;", "}"],
  ["", "try{tools.echo()}catch{}", ""],
  ["", "async function f%(){await tools.echo()}", "while(true)await f1()"],
  ["", "{let a%;{", ""],
  ["(", "(a%)=>{a%;", ""],
  ["", "(function f%(){f%()})();", ""],
  ["x=[", "a%?b:c,", "]"],
  ["x=", "a%?", ""],
  ["", "JSON.stringify(tools,f%);", ""],
  ["", "for(const a% of [tools])a%.echo();", ""],
  ["", "while(true){JSON.parse(a%)}", ""],
];

/** Every frame at a few sizes up to the byte limit, and at the token limit where that is lower. */
export function listHostileSources(): readonly { readonly name: string; readonly source: string }[] {
  const most = DEFAULT_LIMITS.sourceBytes;
  const bySize = FRAMES.flatMap(([start, unit, end]) =>
    [1, 4, 16].map((part) => {
      const room = most / part - Buffer.byteLength(start + end);
      const source = start + unit.repeat(Math.max(1, Math.floor(room / Buffer.byteLength(unit)))) + end;
      return { name: `${start}${unit.replaceAll("\n", "\\n")}…${end} / ${part}`, source };
    }),
  );
  const byTokens = [...FRAMES, ...NUMBERED].flatMap((frame) =>
    [1, 4].map((part) => ({
      name: `${frame.join("…").replaceAll("\n", "\\n")} in tokens / ${part}`,
      source: fillWithTokens(frame, Math.floor((MAX_TOKENS - 200) / part)),
    })),
  );
  return [...bySize, ...byTokens];
}

/** The number of rounds that gives this many tokens, or that fits into the byte limit. */
function fillWithTokens([start, unit, end]: readonly [string, string, string], tokens: number): string {
  const each = Math.max(1, measureNesting(unit, Infinity).tokens);
  let source = start;
  for (let round = 1; round <= tokens / each; round += 1) {
    const text = unit
      .replaceAll("-%", String(round - 1))
      .replaceAll("%_", String(round + 1))
      .replaceAll("%", String(round));
    if (source.length + text.length + end.length > DEFAULT_LIMITS.sourceBytes) break;
    source += text;
  }
  return source + end;
}

/** Mixtures of the units above in random order and length; the same seed gives the same sources. */
export function listFuzzedSources(
  count: number,
  seed: number,
): readonly { readonly name: string; readonly source: string }[] {
  let state = seed;
  const random = (below: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state % below;
  };
  const frames = [...FRAMES, ...NUMBERED];
  return Array.from({ length: count }, (_, at) => {
    const chosen = Array.from({ length: 1 + random(5) }, () => frames[random(frames.length)] ?? ["", "", ""]);
    const frame: readonly [string, string, string] = [
      random(2) === 0 ? "" : "let a: number;",
      chosen.map(([, unit]) => unit).join(""),
      chosen[0]?.[2] ?? "",
    ];
    const start = (random(2) === 0 ? (chosen[0]?.[0] ?? "") : "") + frame[0];
    const source = fillWithTokens([start, frame[1], frame[2]], 1_000 + random(MAX_TOKENS - 1_200));
    return { name: `mixture ${at}: ${frame[1].replaceAll("\n", "\\n")}`, source };
  });
}
