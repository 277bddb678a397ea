/** The calls of an execution on a time line. A selected call shows what is known about it, and its lines in the program. */

import { useState } from "preact/hooks";

import type { ExecutionAnswer } from "../../../src/surfaces/admin/contract/executions.ts";
import { State, Tag } from "../../parts/status.tsx";
import { Visible } from "../../parts/text.tsx";
import { formatDuration, formatTime, useNow } from "../../parts/time.tsx";
import { placeCalls } from "./timeline.ts";
import type { PlacedCall } from "./timeline.ts";

const SHOWN = 200;
const GRID = ["25%", "50%", "75%"];

interface WaterfallProps {
  readonly details: ExecutionAnswer;
  readonly selected: number | undefined;
  readonly select: (seq: number | undefined) => void;
}

export function Waterfall({ details, selected, select }: WaterfallProps) {
  const now = useNow();
  const [isWhole, setWhole] = useState(false);
  const { calls, activeMs, waitedMs, atOnce } = placeCalls(details, now);
  const shown = isWhole ? calls : calls.slice(0, SHOWN);
  const hasTimes = details.times.length > 0;
  const count = calls.length === 1 ? "1" : `${calls.length}${atOnce > 1 ? `, at most ${atOnce} at once` : ""}`;
  return (
    <div class="panel">
      <div class="panel-h wrap">
        <h2>Calls</h2>
        <span class="muted small">{count}</span>
        <span class="end legend">
          <span>
            <span class="sw" />
            read
          </span>
          <span>
            <span class="sw write" />
            changes
          </span>
          {waitedMs > 0 && (
            <span>
              <span class="sw wait" />
              waited {formatDuration(waitedMs)}, not to scale
            </span>
          )}
        </span>
      </div>
      <svg class="vh" aria-hidden="true">
        <defs>
          <pattern id="hatch" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
            <line class="hatch" x1="0" x2="0" y1="0" y2="5" />
          </pattern>
        </defs>
      </svg>
      {hasTimes && <Axis activeMs={activeMs} />}
      <ol aria-label="Calls" class="waterfall">
        {shown.map((placed) => (
          <Row key={placed.call.seq} {...{ placed, details, selected, select }} />
        ))}
      </ol>
      {shown.length < calls.length && (
        <div class="panel-f">
          <button class="btn small" type="button" onClick={() => setWhole(true)}>
            Show all {calls.length}
          </button>
        </div>
      )}
      {!hasTimes && calls.length > 0 && <div class="panel-f">The ledger no longer has the times of these calls.</div>}
      {calls.length === 0 && <div class="panel-f">It called no tool.</div>}
      {hasTimes && <Longest calls={calls} activeMs={activeMs} />}
    </div>
  );
}

function Axis({ activeMs }: { readonly activeMs: number }) {
  return (
    <div class="wf-axis" aria-hidden="true">
      <span />
      <span />
      <span class="scale">
        <span>0</span>
        <span>{formatDuration(activeMs / 2)}</span>
        <span>{formatDuration(activeMs)}</span>
      </span>
      <span />
    </div>
  );
}

interface RowProps extends WaterfallProps {
  readonly placed: PlacedCall;
}

function Row({ placed, details, selected, select }: RowProps) {
  const { call } = placed;
  const { seq, tool, ms, under } = call;
  const isOn = seq === selected;
  return (
    <>
      <li class={isOn ? "wf-row on" : "wf-row"} id={`call-${seq}`}>
        <span class="seq">{seq}</span>
        <button class="row-link name" type="button" aria-expanded={isOn} onClick={() => select(isOn ? undefined : seq)}>
          {under !== undefined && under !== seq && <span class="muted">↳ </span>}
          <code>
            <Visible text={tool} />
          </code>
        </button>
        <Bar placed={placed} />
        <span class="num small">{formatDuration(ms)}</span>
      </li>
      {isOn && <Opened call={call} details={details} />}
    </>
  );
}

function Bar({ placed: { call, bar, wait } }: { readonly placed: PlacedCall }) {
  const failed = call.outcome !== "ok" && call.outcome !== "pending";
  const tone = failed ? "d" : call.effect === "read" ? "r" : call.effect === "destroy" ? "d" : "w";
  return (
    <svg class="wf" preserveAspectRatio="none" aria-hidden="true">
      {GRID.map((x) => (
        <line key={x} class="grid" x1={x} x2={x} y1="-10" y2="30" />
      ))}
      {wait && <rect class="wait-bar" x={`${wait.from}%`} y="1.5" width={`${wait.width}%`} height="9" rx="2" />}
      {bar && call.outcome !== "pending" && (
        <rect class={tone} x={`${bar.from}%`} y="1" width={`${bar.width}%`} height="10" rx="2" />
      )}
    </svg>
  );
}

type Call = ExecutionAnswer["result"]["calls"][number];

/** What is known about one call. Its arguments are in the ledger as a digest only. */
function Opened({ call, details }: { readonly call: Call; readonly details: ExecutionAnswer }) {
  const { seq, effect, decision, outcome, under, dryRun = false } = call;
  const time = details.times.find((one) => one.seq === seq);
  const asked = details.approvals.filter((approval) => approval.seq === seq);
  return (
    <li class="wf-open">
      <div class="row">
        <Tag name={effect} />
        <State name={outcome} />
        <span class="muted small">decision: {decision}</span>
        {dryRun && <span class="tag line">answered from its schema</span>}
        {under !== undefined && under !== seq && <span class="muted small">made by the skill of call {under}</span>}
      </div>
      {asked.map(({ id, state, decidedBy, scope, note, createdAt, decidedAt }) => (
        <div key={id} class="row small">
          <State name={state} />
          {decidedBy !== undefined && <span>by {decidedBy}</span>}
          {decidedAt !== undefined && <span>after {formatDuration(decidedAt - createdAt)}</span>}
          {scope !== undefined && <span class="muted">for this {scope}</span>}
          {note !== undefined && (
            <span>
              “<Visible text={note} />”
            </span>
          )}
          <a class="link" href={`/approvals/${id}`}>
            {id.slice(0, 11)}
          </a>
        </div>
      ))}
      {time && (
        <div class="muted small">
          started {formatTime(time.startedAt)}
          {time.endedAt === undefined && ", without an answer"}
        </div>
      )}
    </li>
  );
}

/** Names the call that took most of the time, if one did. */
function Longest({ calls, activeMs }: { readonly calls: readonly PlacedCall[]; readonly activeMs: number }) {
  const [longest] = calls.map(({ call }) => call).toSorted((a, b) => b.ms - a.ms);
  const isWaiting = calls.some(({ call, wait }) => call === longest && wait);
  const share = longest ? Math.round((longest.ms / Math.max(activeMs, 1)) * 100) : 0;
  if (!longest || isWaiting || calls.length < 2 || share < 40 || share > 100) return null;
  return (
    <div class="panel-f">
      Call {longest.seq} took {share} % of the time.
    </div>
  );
}
