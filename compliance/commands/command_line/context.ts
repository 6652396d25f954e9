/** What every command's line has in common. */
import { InvalidArgumentError, Option } from 'commander';
import type { Io } from '../io.ts';

export type Context = {
  io: Io;
  /** Takes the exit code of the command that ran. */
  end: (code: number) => void;
};

/** `--manifest` as every command takes it. */
export const manifestOption = [
  '--manifest <file>',
  'what to prove (default: selftest/dieu45.yaml of this package)',
] as const;

/** `--lang`: the language of what people read. */
export function langOption(): Option {
  return new Option('--lang <lang>', 'language of the output').choices(['en', 'vi']).default('en');
}

/** Collects a repeatable option. */
export function collect(value: string, before: readonly string[] = []): string[] {
  return [...before, value];
}

/** `a,b` and repetition mean the same. */
export function commaList(value: string, before: readonly string[] = []): string[] {
  const items = value.split(',').map((item) => item.trim());
  if (items.includes('')) throw new InvalidArgumentError('A name is empty.');
  return [...before, ...items];
}

/** A whole number within bounds. */
export function integer(least: number, most: number): (value: string) => number {
  return (value) => {
    const number = Number(value);
    if (!/^-?\d+$/.test(value) || number < least || number > most)
      throw new InvalidArgumentError(`Give a whole number from ${least} to ${most}.`);
    return number;
  };
}
