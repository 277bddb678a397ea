/** Which media types are JSON and which are text. */

const JSON_TYPE = /^(?:application\/(?:[\w.+-]+\+)?json|text\/json)(?:$|[\s;])/i;
const TEXT_TYPE =
  /^(?:text\/|[\w.-]+\/(?:[\w.+-]+\+)?(?:xml|yaml)(?:$|[\s;])|application\/(?:javascript|x-ndjson)(?:$|[\s;]))/i;

/** True for `application/json` and everything that ends in `+json`. */
export function isJsonType(mediaType: string): boolean {
  return JSON_TYPE.test(mediaType.trim());
}

/** True for `application/json` alone, whatever parameters it has. */
export function isPlainJson(mediaType: string): boolean {
  return /^application\/json(?:$|[\s;])/i.test(mediaType.trim());
}

/** True for text that people can read, including XML and YAML. */
export function isTextType(mediaType: string): boolean {
  return TEXT_TYPE.test(mediaType.trim());
}
