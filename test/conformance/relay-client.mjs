/**
 * The process that the conformance suite starts for each scenario. It hands its URL and its context to the test over
 * the socket in its first argument, and ends with the exit code that the test sends back.
 */

import { connect } from "node:net";
import { text } from "node:stream/consumers";

const [, , socketPath = "", url = ""] = process.argv;
const { MCP_CONFORMANCE_SCENARIO: scenario, MCP_CONFORMANCE_CONTEXT: context = "{}" } = process.env;

const socket = connect(socketPath);
socket.end(JSON.stringify({ scenario, url, context: JSON.parse(context) }));
const problem = await text(socket);
process.stderr.write(problem);
process.exitCode = problem === "" ? 0 : 1;
