/** The name of an error's number: those of the core, then those of JavaScript alone, from 201 on. */
export type ErrorKind =
  | "Length" | "NonFinite" | "Label" | "Weight" | "Index" | "OneClass" | "Empty" | "Overflow" | "Param" | "Unreachable" | "Unsupported"
  | "SettingError::Unknown" | "SettingError::Value" | "CheckpointError::NotOurs" | "CheckpointError::Version" | "CheckpointError::Damaged"
  | "CheckpointError::ModelOnly" | "CheckpointError::Mismatch" | "TrainerError::Config" | "TrainerError::NotBuilt" | "ExpressionError" | "DataError"
  | "Argument" | "Option" | "Disposed" | "NeedsFull" | "NoGpu" | "Failed" | (string & {});

/** What every entry throws, in a worker, too. (A signal that was aborted throws its reason.) */
export declare class UndercurveError extends Error {
  /** A number that keeps its meaning in later releases. */
  readonly code: number;
  /** Its name. */
  readonly kind: ErrorKind;
  /** The argument, such as `y` or `settings.gamma`. */
  readonly argument?: string;
  /** The row or entry, from 0; in files the line, from 1. */
  readonly row?: number;
  /** Of arrays from 0; in files the cell of the line, from 1. */
  readonly column?: number;
}

/** Thrown by `new Session` if it needs another module than those that are loaded. */
export declare class NeedsFull extends UndercurveError {}

/** Thrown when a GPU is requested and none can be used. */
export declare class NoGpu extends UndercurveError {}
