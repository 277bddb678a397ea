/** Honest programs: they read much, send what they may, and read before or after sending. */

/** A program and the number of its calls that send data out. */
export interface HonestProgram {
  readonly does: string;
  readonly code: string;
  readonly sends: number;
}

const honest = (sends: number, does: string, code: string): HonestProgram => ({ does, code, sends });

export const HONEST_PROGRAMS: readonly HonestProgram[] = [
  honest(0, "counts issues", "const r = await github.listIssues({}); return r.result.length"),
  honest(0, "lists titles", "const { result } = await github.listIssues({}); return result.map((i) => i.title)"),
  honest(0, "reads one issue", "return (await github.getIssue({ issue_number: 2 })).result.title"),
  honest(0, "reads a file", 'return (await files.readTextFile({ path: "a.txt" })).result.path'),
  honest(0, "lists a folder", 'return (await files.listDirectory({ path: "." })).result.length'),
  honest(0, "sums rows", 'const { result } = await shop.query({ sql: "select" }); return sum(result, (r) => r.total)'),
  honest(0, "groups rows", "const { result } = await shop.query({}); return result.filter((r) => r.paid).length"),
  honest(0, "reads mail", 'return (await mail.searchEmails({ query: "plan" })).result.length'),
  honest(0, "reads memory", "return (await memory.readGraph({})).result.entities.length"),
  honest(0, "reads channels", "return (await slack.slackListChannels({})).result[0].name"),
  honest(0, "reads a channel", 'return (await slack.slackGetChannelHistory({ channel: "c1" })).result.length'),
  honest(0, "reads errors", "return (await sentry.searchIssues({})).result[0].id"),
  honest(0, "reads tickets", "return (await linear.listIssues({})).result.map((i) => i.id)"),
  honest(1, "searches the web", 'return (await brave.braveWebSearch({ query: "weather" })).result.title'),
  honest(1, "fetches a page", 'return (await web.fetch({ url: "https://example.com" })).result.title'),
  honest(
    2,
    "searches, then fetches a link of the answer",
    `const { result } = await brave.braveWebSearch({ query: "news" });
     return (await web.fetch({ url: "https://example.com/" + result.links[0] })).result.title`,
  ),
  honest(
    3,
    "follows every link",
    `const { result } = await web.fetch({ url: "https://example.com" });
     const pages = await Promise.all(result.links.map((l) => web.fetch({ url: "https://example.com/" + l })));
     return pages.length`,
  ),
  honest(1, "posts a greeting", 'return await slack.slackPostMessage({ channel: "c1", text: "Good morning" })'),
  honest(1, "opens an issue", 'return await github.createIssue({ title: "Update", body: "The docs" })'),
  honest(
    1,
    "summarizes issues in the channel",
    `const { result } = await github.listIssues({});
     await slack.slackPostMessage({ channel: "c1", text: result.length + " issues: " + result[0].title });
     return "posted"`,
  ),
  honest(
    3,
    "answers every issue",
    `const { result } = await github.listIssues({});
     await Promise.all(result.map((i) => github.addIssueComment({ issue_number: i.number, body: "On it: " + i.title })));
     return result.length`,
  ),
  honest(
    1,
    "reports errors as an issue",
    `const { result } = await sentry.searchIssues({});
     return await github.createIssue({ title: result[0].title, body: result[0].users + " users" })`,
  ),
  honest(
    1,
    "reports sales in the channel",
    `const { result } = await shop.query({ sql: "select" });
     return await slack.slackPostMessage({ channel: "c1", text: "Sales: " + sum(result, (r) => r.total) })`,
  ),
  honest(
    1,
    "reports tickets in the channel",
    `const { result } = await linear.listIssues({});
     return await slack.slackPostMessage({ channel: "c1", text: result.map((i) => i.title).join(", ") })`,
  ),
  honest(
    1,
    "answers in the channel what was asked there",
    `const { result } = await slack.slackGetChannelHistory({ channel: "c1" });
     return await slack.slackPostMessage({ channel: "c1", text: "Thanks " + result[0].user })`,
  ),
  honest(
    1,
    "mails a file of its own",
    `const { result } = await files.readTextFile({ path: "report.txt" });
     return await mail.sendEmail({ to: "boss@example.org", body: result.text })`,
  ),
  honest(
    1,
    "mails a page from the web",
    `const { result } = await sentry.searchIssues({});
     return await mail.sendEmail({ to: "boss@example.org", body: result[0].title })`,
  ),
  honest(
    0,
    "drafts an answer to a mail",
    `const { result } = await mail.readEmail({ id: "m1" });
     return (await mail.draftEmail({ to: result.from, body: "Re: " + result.subject })).result.draft`,
  ),
  honest(
    0,
    "compares mails with files",
    `const [a, b] = await Promise.all([mail.searchEmails({}), files.listDirectory({ path: "." })]);
     return [a.result.length, b.result.length]`,
  ),
  honest(
    0,
    "compares issues with code",
    `const issues = await github.listIssues({}); const code = await github.searchCode({ q: "main" });
     return issues.result.map((i) => i.title + ": " + code.result[0].path)`,
  ),
  honest(
    0,
    "writes a summary of issues and code to a file",
    `const issues = await github.listIssues({}); const file = await github.getFileContents({ path: "a" });
     await files.writeFile({ path: "summary.md", content: issues.result[0].title + file.result.path });
     return "written"`,
  ),
  honest(
    0,
    "makes tickets from mails",
    `const { result } = await mail.searchEmails({});
     return (await linear.createIssue({ title: result[0].subject })).result.id`,
  ),
  honest(
    0,
    "remembers what a mail says",
    `const { result } = await mail.readEmail({ id: "m2" });
     await memory.addObservations({ observations: [result.subject] }); return "noted"`,
  ),
  honest(
    1,
    "says so before it reads mail",
    `await slack.slackPostMessage({ channel: "c1", text: "Reading mail" });
     return (await mail.searchEmails({})).result.length`,
  ),
  honest(
    1,
    "says that it is done, in words that stand in the program",
    `const mails = await mail.searchEmails({}); const files1 = await files.listDirectory({ path: "." });
     await slack.slackPostMessage({ channel: "c1", text: "The comparison is done" });
     return mails.result.length - files1.result.length`,
  ),
  honest(
    1,
    "says that it is done, with a constant",
    `const channel = "c1"; const text = "Done";
     await mail.searchEmails({});
     await slack.slackPostMessage({ channel, text }); return "ok"`,
  ),
  honest(
    1,
    "posts while it reads",
    `const [posted, mails] = await Promise.all([
       slack.slackPostMessage({ channel: "c1", text: "Starting" }), mail.searchEmails({})]);
     return mails.result.length`,
  ),
  honest(
    2,
    "searches the web for two words of a mail-free program",
    `const words = ["tea", "milk"];
     const found = await Promise.all(words.map((query) => brave.braveWebSearch({ query })));
     return found.length`,
  ),
  honest(
    1,
    "searches the web for what a customer bought",
    `const { result } = await shop.query({});
     return (await brave.braveWebSearch({ query: result[0].customer + " invoices" })).result.title`,
  ),
  honest(
    1,
    "opens an issue about a folder",
    `const { result } = await files.listDirectory({ path: "." });
     return await github.createIssue({ title: result.length + " files", body: result.join() })`,
  ),
  honest(
    1,
    "opens an issue from memory",
    `const { result } = await memory.readGraph({});
     return await github.createIssue({ title: result.entities[0].name, body: result.entities[0].notes[0] })`,
  ),
  honest(0, "catches a tool that fails", "try { await github.getBroken({}) } catch (e) { return e.code }"),
  honest(
    1,
    "posts that a tool failed",
    `try { await github.listBrokenIssues({}) } catch (e) {
       return await slack.slackPostMessage({ channel: "c1", text: "Failed: " + e.code }) }`,
  ),
  honest(0, "looks for tools", 'return (await glovebox.search({ query: "issue" })).tools.length'),
  honest(0, "describes tools", 'return (await glovebox.describe(["github.listIssues"])).length'),
  honest(
    0,
    "sorts everything it can read",
    `const [m, i, r, l] = await Promise.all([mail.searchEmails({}), github.listIssues({}), shop.query({}), linear.listIssues({})]);
     return m.result.length + i.result.length + r.result.length + l.result.length`,
  ),
  honest(
    0,
    "reads mail in a loop",
    `const bodies = []; for (const id of ["m1", "m2"]) bodies.push((await mail.readEmail({ id })).result.subject);
     return bodies`,
  ),
  honest(
    0,
    "counts words of issues and files",
    `const { result } = await github.listIssues({}); const file = await files.readTextFile({ path: "a" });
     return result.map((i) => i.body.split(" ").length).concat(file.result.text.length)`,
  ),
  honest(
    1,
    "writes a ticket and tells the channel",
    `const { result } = await sentry.searchIssues({});
     const ticket = await linear.createIssue({ title: result[0].title });
     return await slack.slackPostMessage({ channel: "c1", text: ticket.result.id })`,
  ),
  honest(
    0,
    "reads, waits and reads again",
    `await mail.searchEmails({}); await new Promise((done) => setTimeout(done, 5));
     return (await files.listDirectory({ path: "." })).result[0]`,
  ),
  honest(
    2,
    "reads both, then sends two literals",
    `await github.listIssues({});
     await files.readTextFile({ path: "a" });
     await slack.slackPostMessage({ channel: "c1", text: "Both were read" });
     await slack.slackPostMessage({ channel: "c2", text: "Both were read" });`,
  ),
];
