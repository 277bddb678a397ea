/** Programs that leak what they have: their own source, responses of upstreams, and values derived from them. */

import { CANARIES } from "./canaries.ts";

const known = JSON.stringify(CANARIES.vaultPlain);
const odd = JSON.stringify(CANARIES.vaultOdd);

/** Each with the mark of its response. */
export const PROGRAMS: Readonly<Record<string, string>> = {
  "MARK-value": `
    const known = ${known};
    const odd = ${odd};
    const said = [];
    for (const call of [
      () => parrot.say({}), () => parrot.words({}), () => parrot.fail({}), () => parrot.late({}), () => parrot.file({}),
      () => parrot.noise({}), () => parrot.slow({}), () => parrot.broken({}), () => other.say({}), () => other.fail({}),
      () => web.say({}), () => web.fail({}), () => web.broken({}), () => web.file({}), () => api.echo({}),
      () => api.fail({}), () => clerk.say({}), () => clerk.fail({}), () => clerk.forget({}),
    ]) {
      said.push(await call().catch((error) => ({ code: error.code, message: error.message, hint: error.hint })));
    }
    const hex = [...new TextEncoder().encode(known)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
    console.log("MARK-log", known, odd);
    console.error(btoa("a" + known + "z"), encodeURIComponent(odd), said);
    return {
      mark: "MARK-value", known, odd, hex, upper: hex.toUpperCase(), url: encodeURIComponent(odd),
      cores: ["", "x", "xy"].map((before) => btoa(before + known + "z")), json: JSON.stringify({ odd }), said,
      [known]: "key",
    };
  `,
  "MARK-threw": `throw new Error("MARK-threw " + ${known} + ${odd})`,
  "MARK-text": `return "MARK-text " + [...${known}].join("\\u200b") + " " + ${odd}`,
  "MARK-frame": `const frame = "MARK-frame ${CANARIES.vaultPlain}" oops`,
  "MARK-missing": `return await parrot["MARK-missing${CANARIES.vaultPlain}"]({})`,
  "MARK-large": `return { mark: "MARK-large", lines: Array.from({ length: 20000 }, () => ${known} + " of many words") }`,
};
