/** The values a parameter may take. */
export type Domain =
  | { kind: "number" | "count"; low: number; high: number; /** What it may be instead of a number, such as "auto". */ word?: string }
  | { kind: "choice"; values: string[] };

/** A method of training. */
export interface MethodInfo {
  name: string;
  title: string;
  about: string;
  /** The metric that it trains for; "pauc": in the session's range of false-positive rates. */
  metric: "ap" | "auroc" | "pauc";
  /** Whether it trains under constraints on groups, or for the worst of them. */
  groups: boolean;
  /** Authors, year and title. */
  paper: string;
  /** Equations and algorithm numbers. */
  part: string;
  files: string[];
  params: { name: string; about: string; default: string; /** What the default "auto" stands for. */ auto?: string; domain: Domain }[];
  /** The settings of its paper where they are others than the defaults: the preset "paper". */
  paper_settings: Record<string, string>;
}

/** Every method of two classes with its parameters. */
export declare const METHODS: MethodInfo[];

/** Every method of several classes at once. Some share their name with one of two. */
export declare const CLASS_METHODS: MethodInfo[];
