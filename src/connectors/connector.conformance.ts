/** What every connector promises, over any protocol. Called from a test of each implementation. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { ERRORS, GloveboxError } from "../domain/index.ts";
import type { Json, JsonObject } from "../domain/index.ts";

import type { Connector } from "./connector.ts";

/** Tools of the upstream under test, by what they do. */
export interface ConnectorSubject {
  /** A connector that has not connected yet; the suite closes it. */
  readonly open: () => Promise<Connector>;
  /** A tool whose answer depends on the number in its arguments. */
  readonly echo: {
    readonly name: string;
    readonly args: (n: number) => JsonObject;
    readonly value: (n: number) => Json;
  };
  /** A call that the upstream itself refuses or fails. */
  readonly failure: { readonly name: string; readonly args: JsonObject };
  /** A call that takes longer than any test waits, if the upstream has one. */
  readonly slow?: { readonly name: string; readonly args: JsonObject };
}

/** The time limit of one test; even a slow upstream is ready well within it. */
const PATIENCE_MS = 20_000;

/** Runs the whole suite against one implementation. */
export function describeConnector(name: string, subject: ConnectorSubject): void {
  void describe(name, () => {
    describeCalls(subject);
    describeCancelling(subject);
    describeClosing(subject);
  });
}

async function withConnector(subject: ConnectorSubject, use: (connector: Connector) => Promise<void>): Promise<void> {
  await using connector = await subject.open();
  await use(connector);
}

const patience = (): { readonly signal: AbortSignal } => ({ signal: AbortSignal.timeout(PATIENCE_MS) });

async function codeOf(promise: Promise<unknown>): Promise<string> {
  const thrown = await promise.then(
    () => assert.fail("It should have been refused"),
    (error: unknown) => error,
  );
  assert.ok(thrown instanceof GloveboxError, String(thrown));
  return thrown.code;
}

async function expectEcho({ echo }: ConnectorSubject, connector: Connector, n: number): Promise<void> {
  const result = await connector.call(echo.name, echo.args(n), patience());
  assert.deepEqual(result, { value: echo.value(n), attachments: [] });
}

function describeCalls(subject: ConnectorSubject): void {
  const { echo, failure } = subject;
  test("connects once, on first use, and lists tools with schemas", () =>
    withConnector(subject, async (connector) => {
      assert.equal(connector.status().state, "idle");
      const [tools, again] = await Promise.all([connector.tools(), connector.tools()]);
      assert.deepEqual(again, tools);
      assert.deepEqual([connector.status().state, connector.status().tools], ["ready", tools.length]);
      assert.equal(new Set(tools.map((tool) => tool.name)).size, tools.length);
      assert.equal(tools.find((tool) => tool.name === echo.name)?.input["type"], "object");
    }));
  test("answers a call that comes before the first listing", () =>
    withConnector(subject, (connector) => expectEcho(subject, connector, 1)));
  test("gives each of many concurrent calls its own answer", () =>
    withConnector(subject, async (connector) => {
      const numbers = Array.from({ length: 20 }, (_, n) => n);
      await Promise.all(numbers.map((n) => expectEcho(subject, connector, n)));
    }));
  test("throws UPSTREAM_FAILED for a failure of the upstream, and answers the next call", () =>
    withConnector(subject, async (connector) => {
      assert.equal(await codeOf(connector.call(failure.name, failure.args, patience())), "UPSTREAM_FAILED");
      await expectEcho(subject, connector, 2);
      assert.equal(connector.status().state, "ready");
    }));
  test("fails a call of an unknown tool as the upstream's fault, and answers the next call", () =>
    withConnector(subject, async (connector) => {
      const code = await codeOf(connector.call("unknown tool", {}, patience()));
      assert.equal(Object.entries(ERRORS).find(([key]) => key === code)?.[1].fault, "upstream");
      await expectEcho(subject, connector, 3);
    }));
}

function describeCancelling(subject: ConnectorSubject): void {
  const { echo, slow } = subject;
  test("sends nothing if the signal has already fired", () =>
    withConnector(subject, async (connector) => {
      const call = connector.call(echo.name, echo.args(1), { signal: AbortSignal.abort() });
      assert.equal(await codeOf(call), "REQUEST_CANCELLED");
      await expectEcho(subject, connector, 4);
    }));
  test("calls onSent once for a request that was sent, and never for one that was not", () =>
    withConnector(subject, async (connector) => {
      let sent = 0;
      const onSent = (): void => void (sent += 1);
      await codeOf(connector.call(echo.name, echo.args(1), { signal: AbortSignal.abort(), onSent }));
      assert.equal(sent, 0);
      await connector.call(echo.name, echo.args(1), { ...patience(), onSent });
      assert.equal(sent, 1);
    }));
  if (!slow) return;
  test("ends a cancelled call and no other", () =>
    withConnector(subject, async (connector) => {
      await connector.tools();
      const stop = new AbortController();
      const cancelled = codeOf(connector.call(slow.name, slow.args, { signal: stop.signal }));
      const late = codeOf(connector.call(slow.name, slow.args, { signal: AbortSignal.timeout(100) }));
      await expectEcho(subject, connector, 5);
      stop.abort();
      assert.deepEqual([await cancelled, await late], ["REQUEST_CANCELLED", "UPSTREAM_TIMEOUT"]);
      await expectEcho(subject, connector, 6);
      assert.equal(connector.status().state, "ready");
    }));
}

function describeClosing(subject: ConnectorSubject): void {
  const { echo, slow } = subject;
  test("can be closed twice, before and after its use, and stays closed", async () => {
    const unused = await subject.open();
    await unused.close();
    assert.equal(unused.status().state, "closed");
    const used = await subject.open();
    await expectEcho(subject, used, 7);
    await Promise.all([used.close(), used.close()]);
    await used.close();
    assert.equal(used.status().state, "closed");
    assert.equal(await codeOf(used.tools()), "UPSTREAM_UNREACHABLE");
    assert.equal(await codeOf(used.call(echo.name, echo.args(1), patience())), "UPSTREAM_UNREACHABLE");
  });
  if (!slow) return;
  test("fails calls in progress when it is closed", async () => {
    const connector = await subject.open();
    await connector.tools();
    const pending = codeOf(connector.call(slow.name, slow.args, patience()));
    await connector.close();
    assert.equal(await pending, "UPSTREAM_UNREACHABLE");
  });
}
