/**
 * `npm run bench`: prints all figures, measured in one run on this machine. Compare ratios rather than times, because
 * machines are noisy.
 */

import { buildIfStale } from "../scripts/build.ts";

await buildIfStale();
const { benchSandbox } = await import("./sandbox.ts");
const { benchNeighbors } = await import("./neighbors.ts");
const { benchTokens } = await import("./tokens.ts");
const { benchCatalog } = await import("./search/report.ts");
const { benchProduct, benchStart } = await import("./product.ts");
const { benchUpstreams } = await import("./upstreams.ts");
const { benchConfinement } = await import("./confinement.ts");
const { benchTypes } = await import("./types.ts");
const { benchDoor } = await import("./bridge-call.ts");
const { benchLedger } = await import("./ledger.ts");
const { benchEgress } = await import("./egress.ts");
const { benchSkills } = await import("./skills.ts");
const { benchDurable } = await import("./durable.ts");
const { benchIdentity } = await import("./identity.ts");

console.log(`Node ${process.versions.node}, ${new Date().toISOString().slice(0, 10)}`);
const { benchAnalysis } = await import("./analysis.ts");
benchAnalysis();
await benchSandbox();
await benchNeighbors();
await benchCatalog();
await benchProduct();
await benchUpstreams();
await benchConfinement();
await benchDoor();
await benchLedger();
await benchSkills();
await benchDurable();
await benchIdentity();
await benchTypes();
await benchEgress();
await benchStart();
benchTokens();
