/** The front door of `surfaces`: what the composition root provides and starts. The command line is loaded on demand. */

export type { CliPowers } from "./cli/powers.ts";
export type { OperatorRecords, StoredRecords } from "./operator-records.ts";
export { createCheck } from "./create-check.ts";
export { createGateway } from "./create-gateway.ts";
export { createLibrary } from "./create-library.ts";
export type { Glovebox, LibraryEvent, McpFetchHandler } from "./library/glovebox.ts";
export type { LibraryRequest } from "./parse-request.ts";
export { findDemoUpstreams } from "./demo/find-demo-upstreams.ts";
export { notifyPeople } from "./notify-people.ts";
export { createPeopleGuide, findPage } from "./reach-people.ts";
export { readVersion } from "./read-version.ts";
export { parseRecording } from "./parse-request.ts";
export type { Gateway, Health, OpenGateway } from "./gateway.ts";
