import type { ClassMethodSettings, MethodSettings } from "./pkg/names.js";

export type { ClassMethodSettings, LossName, MethodSettings, ObjectiveName } from "./pkg/names.js";
/** The names of `METHODS`. */
export type MethodName = keyof MethodSettings;
/** The names of `CLASS_METHODS`. */
export type ClassMethodName = keyof ClassMethodSettings;

/** The values a parameter may take. */
export type Domain =
  | { kind: "number" | "count"; low: number; high: number; /** A word that is allowed instead of a number, such as "auto". */ word?: string }
  | { kind: "choice"; values: string[] };

/** A method of training. */
export interface MethodInfo<N = MethodName> {
  name: N;
  title: string;
  about: string;
  /** The metric that it trains for; "pauc" is over the session's range of false-positive rates. */
  metric: "ap" | "auroc" | "pauc";
  /** Whether it trains under constraints on groups, or for the worst of them. */
  groups: boolean;
  /** Authors, year and title. */
  paper: string;
  /** Equations and algorithm numbers. */
  part: string;
  files: string[];
  params: { name: string; about: string; default: string; /** What the default "auto" stands for. */ auto?: string; domain: Domain }[];
  /** The settings of its paper that differ from the defaults: the preset "paper". */
  paper_settings: Record<string, string>;
}

/** Every method for two classes with its parameters. */
export declare const METHODS: MethodInfo[];

/** Every method for several classes. Some have the name of a method for two. */
export declare const CLASS_METHODS: MethodInfo<ClassMethodName>[];
