/** The kinds of data that `synthetic` draws. */
export declare const SYNTHETICS: { name: string; title: string; about: string }[];

/** The kinds of data with several classes that `syntheticClasses` draws. */
export declare const CLASS_SYNTHETICS: { name: string; title: string; about: string }[];

/** The kinds of data with groups that `syntheticGroups` draws. */
export declare const GROUP_SYNTHETICS: { name: string; title: string; about: string; /** The names of its groups. */ groups: string[] }[];
