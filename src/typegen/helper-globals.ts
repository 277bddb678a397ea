/** The declarations of the sandbox's helpers for data: part of what `describe` shows under `glovebox`. */

/** As `guest/helpers.ts` has them. A program may declare a name of its own in their place. */
export const HELPER_GLOBALS = `/** Helpers for lists of records: what to look at is a field's name, a path such as "user.login", or a function of the item. */
declare type By<T> = (keyof T & string) | \`\${string}.\${string}\` | ((item: T) => unknown);
declare function pick<T extends object, K extends keyof T>(list: readonly T[], ...names: (K | readonly K[])[]): Pick<T, K>[];
declare function pick<T extends object, K extends keyof T>(record: T, ...names: (K | readonly K[])[]): Pick<T, K>;
declare function omit<T extends object, K extends keyof T>(list: readonly T[], ...names: (K | readonly K[])[]): Omit<T, K>[];
declare function omit<T extends object, K extends keyof T>(record: T, ...names: (K | readonly K[])[]): Omit<T, K>;
declare function first<T>(list: readonly T[]): T | undefined;
declare function first<T>(list: readonly T[], size: number): T[];
declare function last<T>(list: readonly T[]): T | undefined;
declare function last<T>(list: readonly T[], size: number): T[];
/** Texts that are numbers count, what has no value adds nothing, anything else throws. */
declare function sum<T>(list: readonly T[], by?: By<T>): number;
/** How many, or with \`by\` how many of each. */
declare function count(list: readonly unknown[]): number;
declare function count<T>(list: readonly T[], by: By<T>): Record<string, number>;
declare function groupBy<T>(list: readonly T[], by: By<T>): Record<string, T[]>;
/** A sorted copy; what has no value comes last. Of several \`by\` the first that differs decides. */
declare function sortBy<T>(list: readonly T[], by: By<T> | readonly By<T>[], order?: "asc" | "desc"): T[];
declare function unique<T>(list: readonly T[], by?: By<T>): T[];
declare function chunk<T>(list: readonly T[], size: number): T[][];
/** A markdown table of all fields, or of the named ones. */
declare function table(list: readonly object[], ...columns: (string | readonly string[])[]): string;`;
