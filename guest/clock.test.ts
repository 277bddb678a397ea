/** Chance from a seed and time from the host, as plain modules under Node. */

import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import * as fc from "fast-check";

import { installClock, random, randomUuid, seedRandom, setNow } from "./clock.ts";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const word = fc.integer({ min: 0, max: 0xffff_ffff });
const seeds = fc.tuple(word, word, word, word);

function draw(seed: readonly number[], count = 5): readonly number[] {
  seedRandom(seed);
  return Array.from({ length: count }, () => random());
}

describe("random", () => {
  it("random repeats for the same seed and stays within [0, 1)", () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        const drawn = draw(seed);
        assert.deepEqual(draw(seed), drawn);
        assert.ok(drawn.every((number) => number >= 0 && number < 1));
      }),
    );
  });
  it("random differs when any part of the seed differs", () => {
    fc.assert(
      fc.property(seeds, fc.nat(3), word, (seed, at, other) => {
        fc.pre(seed[at] !== other);
        assert.notDeepEqual(draw(seed.with(at, other)), draw(seed));
      }),
    );
  });
  it("random fills the unit interval evenly", () => {
    const buckets = Array.from({ length: 10 }, () => 0);
    for (const number of draw([1, 2, 3, 4], 10_000))
      buckets[Math.floor(number * 10)] = (buckets[Math.floor(number * 10)] ?? 0) + 1;
    assert.ok(
      buckets.every((count) => count > 850 && count < 1_150),
      String(buckets),
    );
  });
  it("random works without a seed and is the same each time", () => assert.deepEqual(draw([]), draw([])));
});

describe("randomUuid", () => {
  it("randomUuid has the form of version 4 and repeats only for the same seed", () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        seedRandom(seed);
        const ids = [randomUuid(), randomUuid()];
        assert.ok(ids.every((id) => UUID.test(id)) && ids[0] !== ids[1]);
        seedRandom(seed);
        assert.equal(randomUuid(), ids[0]);
      }),
    );
  });
});

describe("installClock", () => {
  const RealDate = Date;
  const descriptors = Object.getOwnPropertyDescriptors(Intl.DateTimeFormat.prototype);
  after(() => {
    Object.defineProperty(globalThis, "Date", { value: RealDate, writable: true, configurable: true });
    Object.defineProperty(RealDate.prototype, "constructor", { value: RealDate, writable: true, configurable: true });
    Object.defineProperties(Intl.DateTimeFormat.prototype, descriptors);
  });
  it("installClock makes every API return the host's time", () => {
    installClock();
    setNow(86_400_000);
    const format = new Intl.DateTimeFormat("en-US", { timeZone: "UTC", dateStyle: "short" });
    const parts = format.formatToParts().find(({ type }) => type === "day")?.value;
    const answers = [Date.now(), new Date().getTime(), new (class extends Date {})().getTime(), format.format(), parts];
    assert.deepEqual(answers, [86_400_000, 86_400_000, 86_400_000, "1/2/70", "2"]);
    assert.equal(Date(), new RealDate(86_400_000).toString());
    setNow(0);
    assert.deepEqual([Date.now(), format.format()], [0, "1/1/70"]);
  });
  it("installClock does not change APIs that do not read the present time", () => {
    installClock();
    const named = [
      Date.name,
      Date.length,
      Date.UTC(2020, 1),
      Date.parse("2020-01-01"),
      new Date(5).getTime(),
      new Date(2020, 0, 1).getFullYear(),
    ];
    assert.deepEqual(named, ["Date", 7, 1_580_515_200_000, 1_577_836_800_000, 5, 2020]);
    assert.ok(new Date() instanceof RealDate && new Date() instanceof Date);
  });
});
