/** The steps of the bridge, in their order. Every call takes them; nothing else hands a guest's call to an upstream. */

import type { Step } from "../crossing.ts";

import { admit, count, release, track, untrack } from "./count.ts";
import { approve, decide } from "./decide.ts";
import { checkPlan, findTarget } from "./find-tool.ts";
import { charge, findTrace, invoke, skipInDryRun } from "./invoke.ts";
import {
  deliverLabels,
  digestRequest,
  journal,
  markLabels,
  noticeTokens,
  recordEnd,
  recordIntent,
  report,
} from "./keep.ts";
import { parseCall } from "./parse-arguments.ts";
import { learnShape, storeAttachments, takeResult } from "./take-result.ts";

export const STEPS: readonly Step[] = [
  {
    name: "track",
    phase: "always",
    run: track,
    does: "Adds the call to those under way: an execution is suspended only when all of them wait for approval.",
  },
  {
    name: "digest request",
    phase: "until replied",
    run: digestRequest,
    does: "Computes the digest by which a resumed program must repeat the call.",
  },
  {
    name: "notice tokens",
    phase: "until replied",
    run: noticeTokens,
    does: "Records tokens of secrets in the arguments, where they are useless.",
  },
  {
    name: "count",
    phase: "until replied",
    run: count,
    does: "Counts the attempt, refused or not, and ends the program at `limits.calls`.",
  },
  {
    name: "mark labels",
    phase: "until replied",
    run: markLabels,
    does: "Remembers what the session has read so far: nothing that is read later can be in this call.",
  },
  {
    name: "admit",
    phase: "until replied",
    run: admit,
    does: "Waits for one of `limits.concurrentCalls` slots.",
  },
  {
    name: "name",
    phase: "until replied",
    run: findTarget,
    does: "Finds the tool by its exact address in the snapshot.",
  },
  {
    name: "plan",
    phase: "until replied",
    run: checkPlan,
    does: "Refuses a tool that an exact call plan does not contain.",
  },
  {
    name: "parse",
    phase: "until replied",
    run: parseCall,
    does: "Parses the arguments within the limits and by the tool's schema.",
  },
  {
    name: "decide",
    phase: "until replied",
    run: decide,
    does: "Asks the rules and the data-flow guard: allow, ask or deny.",
  },
  {
    name: "record intent",
    phase: "until replied",
    run: recordIntent,
    does: "Writes the intent to the ledger, and to disk unless it is an allowed read, before anything leaves.",
  },
  {
    name: "dry run",
    phase: "until replied",
    run: skipInDryRun,
    does: "In a dry run, answers a call that may change something from its schema.",
  },
  {
    name: "approve",
    phase: "if made",
    run: approve,
    does: "Refuses a denied call, and waits for a person where a rule asks.",
  },
  {
    name: "charge",
    phase: "if made",
    run: charge,
    does: "Counts the call against the quotas over time.",
  },
  {
    name: "trace",
    phase: "if made",
    run: findTrace,
    does: "Finds the trace context that the upstream is given.",
  },
  {
    name: "invoke",
    phase: "if made",
    run: invoke,
    does: "Calls the upstream within `limits.callMs`, or answers a builtin call.",
  },
  {
    name: "learn shape",
    phase: "if made",
    run: learnShape,
    does: "Learns the shape of the result.",
  },
  {
    name: "store attachments",
    phase: "if made",
    run: storeAttachments,
    does: "Keeps files on the host and puts their handles into the result.",
  },
  {
    name: "parse result",
    phase: "until replied",
    run: takeResult,
    does: "Checks the result against the limits and the output schema, and makes it the reply.",
  },
  { name: "release", phase: "always", run: release, does: "Frees the slot." },
  {
    name: "report",
    phase: "once replied",
    run: report,
    does: "Closes the line of the trace and reports it as an event.",
  },
  {
    name: "record end",
    phase: "once replied",
    run: recordEnd,
    does: "Writes the outcome to the ledger.",
  },
  {
    name: "deliver labels",
    phase: "once replied",
    run: deliverLabels,
    does: "Adds what the reply brings to what the session has read.",
  },
  {
    name: "journal",
    phase: "once replied",
    run: journal,
    does: "Hands the call to the journal, which writes it before the program sees the reply.",
  },
  {
    name: "untrack",
    phase: "always",
    run: untrack,
    does: "Removes the call from those under way.",
  },
];
