/**
 * The one error that a person is meant to read. `exitCode` is a code of the table in verdict/exit.ts;
 * `hint` says what to type next. Anything else that is thrown is the kit's own breakage (70).
 */
export class KitError extends Error {
  readonly exitCode: number;
  readonly hint: string | undefined;

  constructor(exitCode: number, message: string, hint?: string) {
    super(message);
    this.name = 'KitError';
    this.exitCode = exitCode;
    this.hint = hint;
  }
}

/** A check ran nothing, matched nothing or came up short of its plan: never green (exit 3). */
export class CoverageError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'CoverageError';
  }
}

/** The message of anything that was thrown. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
