/** A process that asks for `/health` all the time, on a thread that nothing else keeps busy. Its argument is the address. */

const PAUSE_MS = 100;
const times: number[] = [];

process.once("message", () => {
  process.send?.(times);
  process.disconnect();
  process.exit();
});

for (;;) {
  const from = performance.now();
  const response = await fetch(process.argv[2] ?? "");
  await response.arrayBuffer();
  times.push(response.ok ? performance.now() - from : Number.POSITIVE_INFINITY);
  await new Promise((resume) => setTimeout(resume, PAUSE_MS));
}
