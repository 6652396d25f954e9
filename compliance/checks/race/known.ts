/** A value that must be there, since the code before it put it there. */
export function known<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new Error(`${what} is not there`);
  return value;
}
