/** Findings of a history → observations of the checks that asked for them. Pure. */
import { CoverageError } from '../../errors.ts';
import { judgeNames, type JudgeName } from '../../history/finding.ts';
import type { FaultKind } from '../../history/events.ts';
import type { ShownFinding } from '../../history/judge_file.ts';
import type { Digest } from '../../history/story.ts';
import type { CheckSpec, Observation } from '../../types.ts';

/** The judges that a check names. @throws CoverageError when it names none, or an unknown one. */
export function judgesOf({ id, params }: CheckSpec): JudgeName[] {
  const names = Array.isArray(params.judges) ? (params.judges as unknown[]) : [];
  if (names.length === 0) throw new CoverageError(`${id} names no judge in params.judges`);
  return names.map((name) => {
    const known = judgeNames.find((one) => one === name);
    if (known === undefined) throw new CoverageError(`${id}: there is no judge ${String(name)}`);
    return known;
  });
}

/** One assertion for each judge of the check, with what it could not tell and what was seen. */
export function* assertionsOf(
  { id }: CheckSpec,
  names: readonly JudgeName[],
  digest: Digest,
  findings: readonly ShownFinding[],
): Generator<Observation> {
  // What the run contained is the same for every check of it, whichever judge counted it.
  const counts = new Map(Object.entries(countsOf(digest)));
  for (const finding of findings)
    for (const [name, value] of Object.entries(finding.counts)) counts.set(name, value);
  for (const finding of findings.filter(({ judge }) => names.includes(judge))) {
    for (const [name, value] of Object.entries(finding.counts)) counts.set(name, value);
    yield* shown(id, finding);
  }
  for (const [name, value] of counts) yield { check: id, is: 'count', name, value };
}

function* shown(check: string, finding: ShownFinding): Generator<Observation> {
  const [fault] = finding.faults;
  const name = titles[finding.judge];
  yield fault === undefined
    ? { check, is: 'assertion', name, ok: true }
    : {
        check,
        is: 'assertion',
        name,
        ok: false,
        expected: 'no such fault in the history',
        seen: `${finding.found}: ${fault.says}`,
        trace: finding.faults.flatMap(({ says, trace }) => [says, ...trace]),
      };
  if (finding.undecidable.length > 0)
    yield { check, is: 'undecidable', name, because: summary(finding.undecidable) };
}

function summary(reasons: readonly string[]): string {
  const [first = ''] = reasons;
  return reasons.length === 1 ? first : `${first} (and ${reasons.length - 1} more reasons)`;
}

const titles: Readonly<Record<JudgeName, string>> = {
  'double-hold': 'no job is held by two leases at once',
  lost: 'every acknowledged job ends succeeded, dead or live',
  unexpected: 'a claim returns only what was enqueued, is due and was asked for',
  'early-reap': 'no lease is taken before its end',
  'late-reap': 'no sweep passes over an expired lease',
  'stale-write': 'no call is accepted with a token that is not current',
  'token-reuse': 'no token is granted twice',
  'over-run': 'no job is granted more often than its maximum, or dies before it',
  'double-terminal': 'no job is ended twice',
  order: 'no claim passes over a better placed job that is ready and free',
  'blocked-claim': "no claim waits for another session's row lock",
  'audit-gap': 'every transition has its audit row, and the reverse',
  'audit-replay': "replaying the audit rebuilds every job's status and attempts",
  'silent-reap': 'every reap and every death has its warning event',
  'double-enqueue': 'one key makes one job',
  'raw-error': 'no call raises an error of the server',
};

/** How much the run contained: what `must_observe` may name. */
function countsOf({ faults, ops, jobs, claims }: Digest): Record<string, number> {
  const struck = (kind: FaultKind): number => faults.filter((fault) => fault.kind === kind).length;
  const claimers = new Set(claims.map(({ proc }) => proc.split('.')[0]));
  return {
    claimers: claimers.size,
    jobs: jobs.size,
    kills: struck('kill_worker'),
    zombies: struck('stop_worker'),
    terminated_backends: struck('terminate_backend'),
    lost_answers: ops.filter(({ end }) => end === 'info').length,
    killed_sweeps: struck('kill_reaper'),
    killed_servers: struck('kill_server'),
  };
}
