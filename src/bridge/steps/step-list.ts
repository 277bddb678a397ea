/**
 * The steps of the bridge, in their order. Every call takes them; nothing else hands a guest's call to an upstream.
 * ARCHITECTURE.md prints the comment above each step.
 */

import type { Step } from "../crossing.ts";

import { awaitTypes } from "./await-types.ts";
import { admit, count, release, track, untrack } from "./count.ts";
import { approve, decide } from "./decide.ts";
import { checkPlan, findTarget } from "./find-tool.ts";
import { charge, findTrace, invoke, skipInDryRun } from "./invoke.ts";
import { deliverLabels, digestRequest, journal, noticeTokens, recordEnd, recordIntent, report } from "./keep.ts";
import { parseCall } from "./parse-arguments.ts";
import { learnShape, storeAttachments, takeResult } from "./take-result.ts";

export const STEPS: readonly Step[] = [
  // Adds the call to those under way: an execution is suspended only when all of them wait for approval.
  { name: "track", phase: "always", run: track },
  // Computes the digest by which a resumed program must repeat the call.
  { name: "digest request", phase: "until replied", run: digestRequest },
  // Records tokens of secrets in the arguments, where they are useless.
  { name: "notice tokens", phase: "until replied", run: noticeTokens },
  // Counts the attempt, refused or not, and ends the program at `limits.calls`.
  { name: "count", phase: "until replied", run: count },
  // Waits for one of `limits.concurrentCalls` slots.
  { name: "admit", phase: "until replied", run: admit },
  // Finds the tool by its exact address in the snapshot.
  { name: "name", phase: "until replied", run: findTarget },
  // Refuses a tool that an exact call plan does not contain.
  { name: "plan", phase: "until replied", run: checkPlan },
  // Parses the arguments within the limits and by the tool's schema.
  { name: "parse", phase: "until replied", isLong: true, run: parseCall },
  // Asks the rules and the data-flow guard: allow, ask or deny.
  { name: "decide", phase: "until replied", run: decide },
  // Unless it is an allowed read, waits until the program's types are checked, and refuses it if they do not fit.
  { name: "check types", phase: "until replied", run: awaitTypes },
  // Writes the intent to the ledger, and to disk unless it is an allowed read, before anything leaves.
  { name: "record intent", phase: "until replied", run: recordIntent },
  // In a dry run, answers a call that may change something from its schema.
  { name: "dry run", phase: "until replied", run: skipInDryRun },
  // Refuses a denied call, and waits for a person where a rule asks.
  { name: "approve", phase: "if made", run: approve },
  // Counts the call against the quotas over time.
  { name: "charge", phase: "if made", run: charge },
  // Finds the trace context that the upstream is given.
  { name: "trace", phase: "if made", run: findTrace },
  // Calls the upstream within `limits.callMs`, or answers a builtin call.
  { name: "invoke", phase: "if made", isLong: true, run: invoke },
  // Learns the shape of the result, unless the session has read labeled data or reads it with this call.
  { name: "learn shape", phase: "if made", run: learnShape },
  // Keeps files on the host and puts their handles into the result.
  { name: "store attachments", phase: "if made", isLong: true, run: storeAttachments },
  // Checks the result against the limits and the output schema, and makes it the reply.
  { name: "parse result", phase: "until replied", isLong: true, run: takeResult },
  // Frees the slot.
  { name: "release", phase: "always", run: release },
  // Closes the line of the trace and reports it as an event.
  { name: "report", phase: "once replied", run: report },
  // Writes the outcome to the ledger.
  { name: "record end", phase: "once replied", isLong: true, run: recordEnd },
  // Adds what the reply brings to what the session has read. With both labels, waits for calls that left before.
  { name: "deliver labels", phase: "once replied", isLong: true, run: deliverLabels },
  // Hands the call to the journal, which writes it before the program sees the reply.
  { name: "journal", phase: "once replied", run: journal },
  // Removes the call from those under way.
  { name: "untrack", phase: "always", run: untrack },
];
