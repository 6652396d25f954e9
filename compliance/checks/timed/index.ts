/**
 * The check kind `timed`: the real clock, short TTLs, workers that are really killed. Specs of one
 * file share one run; each names judges of its history and findings of its times.
 */
import { judgeFile } from '../../history/judge_file.ts';
import { CoverageError } from '../../errors.ts';
import type { CheckSpec, Observation, RunCheck } from '../../types.ts';
import { assertionsOf, judgesOf } from '../claimers/observe.ts';
import { timedFindings } from './findings.ts';
import { timedFindingNames, type TimedFindingName } from './names.ts';
import { runTimed } from './perform_run.ts';
import { loadTimed } from './scenario.ts';

export const run: RunCheck = async function* (task, sandbox, run) {
  const wanted = task.specs.map((spec) => ({
    spec,
    judges: spec.params.judges === undefined ? [] : judgesOf(spec),
    findings: findingsOf(spec),
  }));
  const scenario = await loadTimed(run.root, task.file);
  const { history, cutShort } = await runTimed(scenario, sandbox, run);
  yield { is: 'file', name: 'history', path: history };
  if (cutShort !== undefined)
    yield { is: 'undecidable', name: 'the run was cut short', because: cutShort };
  run.progress('judging');
  const { digest, findings } = await judgeFile(
    history,
    wanted.flatMap(({ judges }) => judges),
  );
  for (const { spec, judges, findings: names } of wanted) {
    yield* assertionsOf(spec, judges, digest, findings);
    for (const name of names)
      for (const seen of timedFindings[name](digest, scenario))
        yield { check: spec.id, ...seen } satisfies Observation;
  }
};

/** The findings that a check names in `params.shows`. @throws CoverageError for an unknown one. */
function findingsOf({ id, params }: CheckSpec): TimedFindingName[] {
  const names = Array.isArray(params.shows) ? (params.shows as unknown[]) : [];
  return names.map((name) => {
    const known = timedFindingNames.find((one) => one === name);
    if (known === undefined)
      throw new CoverageError(`${id}: there is no timed finding ${String(name)}`);
    return known;
  });
}
