/**
 * Loaded before a gateway: keeps in the folder `FLUSHED` what a power cut would leave of the store, with a link `now` to
 * the latest state. A flush makes durable what was written when it began, so the files are copied then, and the link is
 * set when the flush has succeeded. What SQLite flushes by itself is left out: a real disk may have more, never less.
 */

import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { basename, join } from "node:path";

const folder = process.env.FLUSHED;
const { fdatasync, openSync } = fs;
const logs = new Map();
let flushes = 0;

if (folder !== undefined) {
  fs.openSync = (path, ...how) => {
    const descriptor = openSync(path, ...how);
    if (String(path).endsWith("-wal")) logs.set(descriptor, path);
    return descriptor;
  };
  fs.fdatasync = (descriptor, done) => {
    const log = logs.get(descriptor);
    if (log === undefined) {
      fdatasync(descriptor, done);
      return;
    }
    const state = join(folder, `${(flushes += 1)}`);
    fs.mkdirSync(state);
    for (const file of [log.slice(0, -"-wal".length), log]) fs.copyFileSync(file, join(state, basename(file)));
    fdatasync(descriptor, (error) => {
      if (!error) {
        fs.symlinkSync(state, `${state}.link`);
        fs.renameSync(`${state}.link`, join(folder, "now"));
      }
      done(error);
    });
  };
  syncBuiltinESMExports();
}
