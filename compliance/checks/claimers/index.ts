/**
 * The check kind `claimers`: worker processes of their own under load and faults, a recorded history,
 * and judges over it. Specs of one file share one run; each names its judges in `params.judges`.
 */
import { judgeNames } from '../../history/finding.ts';
import { judgeFile } from '../../history/judge_file.ts';
import type { RunCheck } from '../../types.ts';
import { runLoad } from './load.ts';
import { assertionsOf, judgesOf } from './observe.ts';
import { loadScenario } from './scenario.ts';

export const run: RunCheck = async function* (task, sandbox, run) {
  const wanted = new Map(task.specs.map((spec) => [spec, judgesOf(spec)]));
  const scenario = await loadScenario(run.root, task.file);
  const { history, cutShort } = await runLoad(scenario, sandbox, run);
  yield { is: 'file', name: 'history', path: history };
  if (cutShort !== undefined)
    yield { is: 'undecidable', name: 'the run was cut short', because: cutShort };
  run.progress('judging');
  const { digest, findings } = await judgeFile(history, judgeNames);
  for (const [spec, judges] of wanted) yield* assertionsOf(spec, judges, digest, findings);
};
