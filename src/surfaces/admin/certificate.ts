/** The certificate of this server, read again when its files change. */

import { readFileSync, statSync } from "node:fs";

import { GloveboxError } from "../../domain/index.ts";

export interface CertificateFiles {
  readonly cert: string;
  readonly key: string;
}

interface Certificate {
  readonly cert: Buffer;
  readonly key: Buffer;
}

const LOOK_MS = 5_000;

/** Throws CONFIG_INVALID if a file cannot be read now; later problems are passed to `warn` and change nothing. */
export function watchCertificate(files: CertificateFiles, warn: (thrown: unknown) => void = () => {}) {
  const read = (): Certificate => ({ cert: readOne(files.cert), key: readOne(files.key) });
  let mark = markOf(files);
  const first = read();
  let listener = (_: Certificate): void => {};
  const look = (): void => {
    const now = markOf(files);
    if (now === mark) return;
    mark = now;
    try {
      listener(read());
    } catch (thrown) {
      warn(thrown);
    }
  };
  const timer = setInterval(look, LOOK_MS);
  timer.unref();
  return {
    current: () => first,
    onChange: (next: (certificate: Certificate) => void) => {
      listener = next;
    },
    /** Looks at once. */
    look,
    close: () => clearInterval(timer),
  };
}

function readOne(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (cause) {
    throw new GloveboxError("CONFIG_INVALID", `server.tls: ${file} cannot be read`, {
      cause,
      hint: "Check the path and whether this user may read the file",
    });
  }
}

function markOf({ cert, key }: CertificateFiles): string {
  const marks = [cert, key].map((file) => statSync(file, { throwIfNoEntry: false }));
  return marks.map((found) => `${found?.ino}:${found?.mtimeMs}:${found?.size}`).join(" ");
}
