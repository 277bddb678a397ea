/** Phrases whose words mean something else together, as patterns with the words of tools. Data only. */

/** Applied in order to the text of a query, before it is split into words. */
export const PHRASES: readonly (readonly [pattern: RegExp, meaning: string])[] = [
  // What people say before their request, which is not about knowledge.
  [/\bi(?:['\u2019]d| would)? (?:like|want|need) to know\b|\b(?:do you|let me) know (?=if|when|where|which|how)/gi, ""],
  // A model asks a router for a tool; only what the tool should do is of interest.
  [
    /^\W*(?:please )?(?:(?:find|get|need|search for|look for|looking for|use|i need|is there) )?(?:me )?(?:an? |any |some |the |suitable )*tools? (?:(?:that|which) (?:can |could |will |is able to )?|capable of |able to |to |for |related to )/gi,
    "",
  ],
  // `AI-related news`: the news are not related to something else.
  [/-(?:related|based)\b/gi, " "],
  // When something happens is an argument of a tool, not its purpose.
  [
    /\b(?:next|last|this|coming|past) (?:few |two |three )?(?:minutes?|hours?|days?|weeks?|weekend|months?|quarter|years?|time|morning|afternoon|evening|night|(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b/gi,
    "",
  ],
  // What is not done is not asked for.
  [/\b(?:(?:do|does|did|should) not|(?:do|does|did|should)n['\u2019]?t) \w+/gi, ""],
  [/\b(?:get|got|getting) rid of\b|\b(?:throw|thrown|clear|clean) (?:away|out|up)\b/gi, "remove"],
  [/\b(?:turn|shut|switch|take) (?:\w+ ){0,3}(?:down|off|offline)\b/gi, "stop $&"],
  [
    /\bmark(?:ed|s|ing)? (?:\w+ ){0,3}as (?=(?:done|solved|resolved|complete|completed|closed|open|pending|fixed)\b)/gi,
    "update status ",
  ],
  [/\bspeed(?:ing)? up\b/gi, "optimize index"],
];
