/** What a call must come to under a flag, and after it. Pure. */
import { isObject, type Json } from '../json.ts';
import type { FlagsFile } from './schema.ts';

export type FlagCell = {
  flag: string;
  call: string;
  /** While the flag is set; or once it is lifted, after everything that it stops was tried. */
  phase: 'while' | 'after';
};

/** Where a flag sets nothing there is nothing to lift. */
export function phasesOf({ flags }: FlagsFile, flag: string): readonly FlagCell['phase'][] {
  return Object.keys(flags[flag]?.setting ?? {}).length === 0 ? ['while'] : ['while', 'after'];
}

export function expectationOf({ flags, calls }: FlagsFile, { flag, call, phase }: FlagCell): Json {
  const plan = calls[call];
  const works = { answer: plan?.answer ?? null, moved: plan?.moves ?? true };
  if (phase === 'after') return works;
  const inert = flags[flag]?.inert[call];
  if (inert !== undefined) {
    const refused = isObject(inert) && inert.refused === true;
    return {
      answer: inert,
      moved: false,
      audit: refused && typeof inert.reason === 'string' ? [`refused ${inert.reason}`] : [],
    };
  }
  const otherwise = flags[flag]?.otherwise[call];
  return otherwise === undefined ? works : { ...works, answer: otherwise };
}

/** Calls that a flag speaks of and that are not there, as `flag: call`. */
export function unknownCalls({ flags, calls }: FlagsFile): string[] {
  return Object.entries(flags).flatMap(([flag, { inert, otherwise }]) =>
    [...Object.keys(inert), ...Object.keys(otherwise)]
      .filter((call) => !Object.hasOwn(calls, call))
      .map((call) => `${flag}: ${call}`),
  );
}
