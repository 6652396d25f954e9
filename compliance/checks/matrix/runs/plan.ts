/** The cells of a matrix of runs, and what each must come to. Pure. */
import type { Json } from '../json.ts';
import type { Ending, RunsFile } from './schema.ts';

export type Subject = {
  /** Kind and key of its job. */
  kind: string;
  name: string;
  /** Maximum of its kind; unset: the default. */
  maximum?: number;
  /** After so many runs the maximum becomes `to`. */
  lowered?: { after: number; to: number };
  ends: readonly Ending[];
  runs: number;
};

/** @throws Error when a path has not one number of runs for each maximum, or a row names no path. */
export function subjectsOf(file: RunsFile): Subject[] {
  const paths = Object.entries(file.paths);
  const grid = paths.flatMap(([path, { ends, runs }]) => {
    if (runs.length !== file.maximums.length) {
      throw new Error(
        `${path}: ${runs.length} numbers of runs for ${file.maximums.length} maximums`,
      );
    }
    return file.maximums.map((maximum, index) => ({
      kind: `${path}_${maximum}`,
      name: `a maximum of ${maximum}, ${path}`,
      maximum,
      ends,
      runs: runs[index] ?? 0,
    }));
  });
  const unset = paths.map(([path, { ends, by_default: runs }]) => ({
    kind: `${path}_by_default`,
    name: `the default maximum, ${path}`,
    ends,
    runs,
  }));
  const lowered = file.lowered.map(({ path, failures, to, runs }) => {
    const ends = file.paths[path]?.ends;
    if (ends === undefined) throw new Error(`lowered: there is no path ${path}`);
    return {
      kind: `${path}_lowered_after_${failures}_to_${to}`,
      name: `a maximum lowered to ${to} after ${failures} runs, ${path}`,
      lowered: { after: failures, to },
      ends,
      runs,
    };
  });
  return [...grid, ...unset, ...lowered];
}

/** How a run ends: run 1 is the first. */
export function endingOfRun({ ends }: Pick<Subject, 'ends'>, run: number): Ending {
  const ending = ends[(run - 1) % ends.length];
  if (ending === undefined) throw new Error('a path without an ending');
  return ending;
}

/** What is left of a subject once nothing of it is live. */
export function expectationOf(subject: Subject, file: RunsFile): Json {
  const last = endingOfRun(subject, subject.runs);
  const maximum = subject.maximum ?? file.default_maximum;
  // What each grant says of the maximum, as it stood then.
  const told = Array.from({ length: subject.runs }, (_, run) =>
    subject.lowered && run >= subject.lowered.after ? subject.lowered.to : maximum,
  );
  const inForce = told.at(-1) ?? maximum;
  return {
    runs: subject.runs,
    told,
    status: last === 'succeed' ? 'succeeded' : 'dead_letter',
    // A permanent failure spends what is left of the budget; the dead letter keeps the true count.
    attempts: last === 'fail_permanent' ? Math.max(subject.runs, inForce) : subject.runs,
    dead_letters:
      last === 'succeed'
        ? []
        : [{ failure_code: file.failure_codes[last], attempts: subject.runs }],
  };
}
