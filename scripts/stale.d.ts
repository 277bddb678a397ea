export declare const STAMP: string;
export declare function isStale(): boolean;
