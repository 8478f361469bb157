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

/** Every method with its parameters. */
export declare const METHODS: MethodInfo[];
