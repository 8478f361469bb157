/** The kinds of data that `synthetic` draws. */
export declare const SYNTHETICS: { name: string; title: string; about: string }[];
