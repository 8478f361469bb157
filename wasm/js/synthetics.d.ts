/** The kinds of data that `synthetic` draws. */
export declare const SYNTHETICS: { name: string; title: string; about: string }[];

/** The kinds of data of several classes that `syntheticClasses` draws. */
export declare const CLASS_SYNTHETICS: { name: string; title: string; about: string }[];

/** The kinds of data in groups that `syntheticGroups` draws. */
export declare const GROUP_SYNTHETICS: { name: string; title: string; about: string; /** What its groups are called. */ groups: string[] }[];
