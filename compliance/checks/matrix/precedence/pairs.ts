/** Which faults a call can have together, and which of them it must be told. Pure. */
import type { Fault, PrecedenceFile } from './schema.ts';

export type Wrong = {
  function: string;
  /** Names of one fault or two, in the order of the file: the first must be told. */
  faults: readonly [first: string, second?: string];
};

/** Every fault alone, and every two that can come together. */
export function wrongCalls({ functions, faults }: PrecedenceFile): Wrong[] {
  return Object.entries(functions).flatMap(([name, { wrong }]) =>
    wrong.flatMap((first, index): Wrong[] => [
      { function: name, faults: [first] },
      ...wrong
        .slice(index + 1)
        .filter((second) => canMeet(known(faults, first), known(faults, second)))
        .map((second): Wrong => ({ function: name, faults: [first, second] })),
    ]),
  );
}

/** Two faults exclude each other when both want the same argument, setting or level. */
export function canMeet(one: Fault, other: Fault): boolean {
  const share = (a: object, b: object): boolean =>
    Object.keys(a).some((key) => Object.hasOwn(b, key));
  return (
    !share(one.arguments, other.arguments) &&
    !share(one.setting, other.setting) &&
    !(one.isolation !== undefined && other.isolation !== undefined)
  );
}

/** Names in `wrong` that no fault has, as `function: name`. */
export function unknownFaults({ functions, faults }: PrecedenceFile): string[] {
  return Object.entries(functions).flatMap(([name, { wrong }]) =>
    wrong.filter((one) => !Object.hasOwn(faults, one)).map((one) => `${name}: ${one}`),
  );
}

export function known(faults: PrecedenceFile['faults'], name: string): Fault {
  const fault = faults[name];
  if (fault === undefined) throw new Error(`there is no fault ${name}`);
  return fault;
}
