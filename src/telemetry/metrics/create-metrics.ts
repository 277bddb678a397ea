/** The metrics of one gateway. They do not contain principals. */

import type { UpstreamStatus } from "../../domain/index.ts";
import type { Feed } from "../feed.ts";
import type { CallTelemetry, ExecutionTelemetry } from "../event.ts";
import { createRegistry } from "./registry.ts";
import type { Labels, Registry } from "./registry.ts";

/** Functions are called when the metrics are read; nothing is polled. */
export interface MetricsSources {
  readonly feed: Feed;
  readonly build: Labels;
  readonly sandbox: () => Readonly<Record<"waiting" | "busy" | "idle" | "residentBytes", number>>;
  readonly upstreams: () => readonly UpstreamStatus[];
  readonly checkerStarts: () => number;
  /** Other counters by name, without prefix and suffix. */
  readonly others: () => Readonly<Record<string, number>>;
}

export interface Metrics {
  /** Returns the metrics in the text format of Prometheus. */
  readonly render: () => string;
}

const MAX_SERIES = 1_000;
const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
const COMMIT_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1];
const MIB = 1024 * 1024;
const MEMORY_BYTES = [8, 16, 32, 64, 128, 256, 512, 1024].map((size) => size * MIB);
/** The label value of an execution without an error and of a call without a tool. */
const NONE = "none";

type Count = ReturnType<Registry["counter"]>;

export function createMetrics(sources: MetricsSources): Metrics {
  const { feed } = sources;
  const registry = createRegistry(MAX_SERIES);
  const refuse = registry.counter("glovebox_quota_refusals_total", "Executions and calls that a quota refused.");
  const countExecution = countExecutions(registry, refuse);
  const countCall = countCalls(registry, refuse);
  const countRecords = registry.counter("glovebox_ledger_records_total", "Records that are durable in the ledger.");
  const timeCommit = registry.histogram("glovebox_ledger_commit_seconds", "Time of one commit.", COMMIT_SECONDS);
  addReadings(registry, sources);
  feed.listen((event) => {
    switch (event.kind) {
      case "execution":
        return countExecution(event);
      case "call":
        return countCall(event);
      case "commit":
        countRecords({}, event.records);
        return timeCommit({}, event.ms / 1000);
      default:
        return event satisfies never;
    }
  });
  return {
    render() {
      feed.drain();
      return registry.render();
    },
  };
}

function countExecutions(registry: Registry, refuse: Count): (seen: ExecutionTelemetry) => void {
  const count = registry.counter("glovebox_executions_total", "Executions that ended, by state and error code.");
  const wall = registry.histogram("glovebox_execution_seconds", "Wall time of executions.", SECONDS);
  const queue = registry.histogram("glovebox_execution_queue_seconds", "Time spent in the queue.", SECONDS);
  const memory = registry.histogram("glovebox_execution_peak_memory_bytes", "Peak memory of programs.", MEMORY_BYTES);
  const output = registry.counter("glovebox_output_bytes_total", "Bytes of values and logs.");
  return ({ state, code = NONE, stats }) => {
    count({ state, code });
    wall({ state }, stats.wallMs / 1000);
    queue({}, stats.queueMs / 1000);
    if (stats.peakMemoryBytes > 0) memory({}, stats.peakMemoryBytes);
    output({}, stats.outputBytes);
    // An execution with calls has started: the quota of a call ended it, which is counted there.
    if (code === "LIMIT_QUOTA" && stats.calls === 0) refuse({ kind: "execution" });
  };
}

/** Only tools with a recorded decision become labels, so a program cannot invent one. */
function countCalls(registry: Registry, refuse: Count): (seen: CallTelemetry) => void {
  const count = registry.counter("glovebox_calls_total", "Calls that were answered.");
  const time = registry.histogram("glovebox_call_seconds", "Time of calls.", SECONDS);
  const flows = registry.counter("glovebox_flow_decisions_total", "Decisions of the data-flow guard.");
  return ({ tool, outcome, code, ms }) => {
    const server = tool?.server ?? NONE;
    count({ server, tool: tool?.address ?? NONE, decision: tool?.decision ?? NONE, outcome });
    time({ server }, ms / 1000);
    if (tool?.isFlow === true) flows({ decision: tool.decision });
    if (code === "LIMIT_QUOTA") refuse({ kind: "call" });
  };
}

function addReadings(registry: Registry, sources: MetricsSources): void {
  const { feed, build, sandbox, upstreams, checkerStarts, others } = sources;
  const toSamples = (labels: Labels, value: number) => [{ labels, value }];
  const gauge = (name: string, help: string, samples: () => ReturnType<typeof toSamples>): void =>
    registry.read(name, help, { type: "gauge", samples });
  const counter = (name: string, help: string, value: () => number): void =>
    registry.read(name, help, { type: "counter", samples: () => toSamples({}, value()) });
  gauge("glovebox_build_info", "Version, engine and isolation.", () => toSamples(build, 1));
  gauge("glovebox_queue_length", "Executions that wait.", () => toSamples({}, sandbox().waiting));
  gauge("glovebox_sandbox_children", "Processes that run programs.", () => {
    const { busy, idle } = sandbox();
    return [...toSamples({ state: "busy" }, busy), ...toSamples({ state: "idle" }, idle)];
  });
  gauge("glovebox_sandbox_memory_bytes", "Resident memory of those processes.", () =>
    toSamples({}, sandbox().residentBytes),
  );
  gauge("glovebox_upstream_state", "1 for the current state of each upstream.", () =>
    upstreams().flatMap(({ name, state }) => toSamples({ server: name, state }, 1)),
  );
  gauge("glovebox_upstream_tools", "Tools of each upstream.", () =>
    upstreams().flatMap(({ name, tools }) => toSamples({ server: name }, tools)),
  );
  counter("glovebox_checker_restarts_total", "Starts of the type checker after the first.", () =>
    Math.max(0, checkerStarts() - 1),
  );
  const dropped = "Events that were dropped because the queue was full.";
  counter("glovebox_watching_dropped_total", dropped, () => feed.dropped);
  for (const name of Object.keys(others())) {
    counter(`glovebox_${name}_total`, `Count of ${name.replaceAll("_", " ")}.`, () => others()[name] ?? 0);
  }
}
