/** The values a parameter may take. */
export type Domain =
  | { kind: "number"; low: number; high: number }
  | { kind: "count"; low: number; high: number }
  | { kind: "choice"; values: string[] };

/** A method of training. */
export interface MethodInfo {
  name: string;
  title: string;
  about: string;
  /** Authors, year and title. */
  paper: string;
  /** Equations and algorithm numbers. */
  part: string;
  files: string[];
  params: { name: string; about: string; default: string; domain: Domain }[];
}

/** Every method of two classes with its parameters. */
export declare const METHODS: MethodInfo[];

/** Every method of several classes at once. Some share their name with one of two. */
export declare const CLASS_METHODS: MethodInfo[];
