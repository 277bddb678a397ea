/**
 * Programs with the tools that they can reach, as a careful reader would say. `everything` is for those of which nobody
 * could say. Tools: github.{closeIssue,createIssue,getIssue,listIssues}, gitlab.{createIssue,listIssues}, mail.{list,send}.
 */

/** A source, and the tools that some run of it may call, or the word `everything`. */
export type Labelled = readonly [source: string, reach: string];

const LIST = "github.listIssues";
const BOTH_LISTS = "github.listIssues gitlab.listIssues";
const GITHUB = "github.closeIssue github.createIssue github.getIssue github.listIssues";

export const PLANNED_PROGRAMS: readonly Labelled[] = [
  ["return 1", ""],
  ["'github.listIssues()' // github.createIssue()", ""],
  ["const github = { listIssues: () => 1 }; return github.listIssues()", ""],
  ["return typeof github", ""],
  ["return Object.keys(github)", ""],
  ["return 'listIssues' in github", ""],
  ["if (!github) return 1; return 2", ""],
  ["console.log(github); return JSON.stringify({ a: 1 })", ""],
  ["await github.listIssues({ state: 'open' })", LIST],
  ["return await github['listIssues']({})", LIST],
  ["return await github[`listIssues`]({})", LIST],
  ["return await github['list' + 'Issues']({})", LIST],
  ["const name = 'listIssues'; return await github[name]({})", LIST],
  ["const verb = 'list'; return await github[`${verb}Issues`]({})", LIST],
  ["for (const name of ['listIssues', 'getIssue']) await github[name]({})", "github.getIssue github.listIssues"],
  [
    "const names = ['listIssues', 'getIssue']; for (const name of names) await github[name]({})",
    "github.getIssue github.listIssues",
  ],
  ["return await github[input ? 'getIssue' : 'listIssues']({})", "github.getIssue github.listIssues"],
  ["return await github?.listIssues?.({})", LIST],
  ["return await (github).listIssues({})", LIST],
  ["const gh = github; return await gh.listIssues({})", LIST],
  ["let gh; gh = github; return await gh.listIssues({})", LIST],
  ["const a = github, b = a, c = b; return await c.listIssues({})", LIST],
  ["const { listIssues } = github; return await listIssues({})", LIST],
  ["const { listIssues: all } = github; return (await all({})).length", LIST],
  ["let listIssues; ({ listIssues } = github); return await listIssues({})", LIST],
  ["const f = github.listIssues; return await f({})", LIST],
  ["const f = github.listIssues.bind(null, {}); return await f()", LIST],
  ["return await github.listIssues.call(null, {})", LIST],
  ["return await Promise.all([1, 2].map((id) => github.getIssue({ id })))", "github.getIssue"],
  ["return await Promise.all([{}, {}].map(github.getIssue).slice(0, 0))", "github.getIssue"],
  ["for (const s of [github, gitlab]) await s.listIssues({})", BOTH_LISTS],
  ["const all = [github, gitlab]; for (const s of all) await s.listIssues({})", BOTH_LISTS],
  ["return await Promise.all([github, gitlab].map((s) => s.listIssues({})))", BOTH_LISTS],
  [
    "const [a, b] = [github, gitlab]; return [await a.listIssues({}), await b.createIssue({})]",
    `gitlab.createIssue ${LIST}`,
  ],
  ["const all = [github, gitlab]; return await all[1].listIssues({})", "gitlab.listIssues"],
  ["const s = input ? github : gitlab; return await s.listIssues({})", BOTH_LISTS],
  ["const s = input || github; return await s.listIssues({})", LIST],
  ["const api = { issues: github, mail }; return await api.issues.listIssues({})", LIST],
  ["const api = { issues: github, mail }; const { issues } = api; return await issues.listIssues({})", LIST],
  ["const api = { github, gitlab }; for (const k of ['github', 'gitlab']) await api[k].listIssues({})", BOTH_LISTS],
  ["for (const [name, s] of Object.entries({ github, gitlab })) console.log(name, await s.listIssues({}))", BOTH_LISTS],
  ["for (const s of Object.values({ github, gitlab })) await s.listIssues({})", BOTH_LISTS],
  ["async function all(s) { return await s.listIssues({}) } return [await all(github), await all(gitlab)]", BOTH_LISTS],
  ["const all = async ({ s }) => s.listIssues({}); return await all({ s: github })", LIST],
  ["const all = async (s = github) => s.listIssues({}); return await all()", LIST],
  [
    "const all = async (...apis) => { for (const s of apis) await s.listIssues({}) }; await all(github, gitlab)",
    BOTH_LISTS,
  ],
  ["const get = () => github; return await get().listIssues({})", LIST],
  ["const get = async () => { return github }; const s = await get(); return await s.listIssues({})", LIST],
  ["return await (async (s) => s.listIssues({}))(github)", LIST],
  ["return await globalThis.github.listIssues({})", LIST],
  ["return await globalThis['git' + 'hub'].listIssues({})", LIST],
  ["return await this.github.listIssues({})", LIST],
  ["const { mail: post } = { mail }; return await post.send({ to: 'a' })", "mail.send"],
  ["async () => { const issues = await github.listIssues({}); return issues.length }", LIST],
  ["async function main() { return await github.listIssues({}) }", LIST],
  ["export default async () => await github.listIssues({})", LIST],
  [
    "const issues = await github.listIssues({}); if (issues.length > 9) await mail.send({ n: issues.length })",
    `${LIST} mail.send`,
  ],
  [
    "const [open, mine] = await Promise.all([github.listIssues({}), gitlab.listIssues({})]); return open.length + mine.length",
    BOTH_LISTS,
  ],
  [
    "const found = await github.listIssues({}); await mail.send({ n: found.length }); return found",
    `${LIST} mail.send`,
  ],
  [
    "const ids = (await github.listIssues({})).map((i) => i.id); return await Promise.all(ids.map((id) => github.getIssue({ id })))",
    `github.getIssue ${LIST}`,
  ],
  [
    "const close = async (id) => { await github.closeIssue({ id }); await mail.send({ id }) }; for (const id of [1, 2]) await close(id)",
    "github.closeIssue mail.send",
  ],
  [
    "let page = 1; const all = []; while (true) { const some = await github.listIssues({ page }); all.push(...some); if (page++ > 2) break } return all",
    LIST,
  ],
  [
    "const inbox = await mail.list({}); const byId = Object.groupBy(inbox, (m) => m.id); for (const id in byId) await github.createIssue({ id })",
    "github.createIssue mail.list",
  ],
  ["switch (input) { case 1: await mail.send({}); break; default: await mail.list({}) }", "mail.list mail.send"],
  [
    "const r = await github.getIssue({ id: 1 }).catch(() => null); return r ?? (await gitlab.listIssues({}))",
    "github.getIssue gitlab.listIssues",
  ],
  [
    "interface Issue { id: number } const list = (await github.listIssues({})) as Issue[]; return list.map(({ id }) => id)",
    LIST,
  ],
  [
    "const counts = new Map(); for (const i of await github.listIssues({})) counts.set(i.id, 1); return [...counts]",
    LIST,
  ],
  ["try { await github.getIssue({ id: 1 }) } catch { await mail.send({}) }", "github.getIssue mail.send"],
  [
    "const list: any[] = await github.listIssues({}); for (const i of list) await github.closeIssue({ id: i.id })",
    `github.closeIssue ${LIST}`,
  ],
  [
    "class Box { constructor() { this.api = github } go() { return this.api.listIssues({}) } } return await new Box().go()",
    LIST,
  ],
  ["const o = { gh: github, go() { return this.gh.listIssues({}) } }; return await o.go()", LIST],
  ["function* all() { yield github } for (const s of all()) await s.listIssues({})", LIST],
  ["for (const name of Object.keys(github)) await github[name]({})", GITHUB],
  ["for (const [, f] of Object.entries(github)) await f({})", GITHUB],
  ["const { ...gh } = github; return await gh.listIssues({})", LIST],
  ["return await Reflect.get(github, ['list', 'Issues'].join(''))({})", LIST],
  ["const m = new Map([['g', github]]); return await m.get('g').listIssues({})", LIST],
  ["const api = { ...github, extra: 1 }; return await api.listIssues({})", LIST],
  ["const all = [...[github], gitlab]; for (const s of all) await s.listIssues({})", BOTH_LISTS],
  ["return await github[String(input ?? 'listIssues')]({})", GITHUB],
  ["return await globalThis[['git', 'hub'].join('')].listIssues({})", "everything"],
  ["return await Reflect.get(globalThis, 'github').listIssues({})", "everything"],
  ["const g = globalThis; return await g.github.listIssues({})", "everything"],
  ["const self = () => this; return await self().github.listIssues({})", "everything"],
  ["try { (() => {}).constructor('return 1')() } catch { return await github.listIssues({}) }", "everything"],
];
