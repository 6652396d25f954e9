/**
 * The one place where observations become a verdict (kit.md, "Verdicts"). Pure: the same
 * observations give the same verdict, later and elsewhere.
 */
import type { CheckSpec, CheckStatus, Ended, Judge, Observation, Verdict } from '../types.ts';
import { worstStatus } from './merge.ts';

/** One thing that keeps a check from being green. */
type Finding = {
  status: Exclude<CheckStatus, 'passed' | 'not_applicable'>;
  cause?: 'coverage' | 'kit';
  reason: string;
};

/**
 * Judges one check. Observations that name another check of the same task are left aside.
 * The worst finding decides; the reasons of all of them are kept, worst first. A broken assertion
 * is `failed` even if the run then threw: what was seen was seen.
 */
export const judge: Judge = (spec, seen, ended): Verdict => {
  if (spec.planned !== undefined) return { status: 'not_reviewed', reasons: [spec.planned] };
  const mine = seen.filter(({ check }) => check === undefined || check === spec.id);
  const findings = [
    ...brokenAssertions(mine),
    ...endFindings(spec, ended),
    ...planFindings(spec, mine, ended),
    ...measureFindings(mine),
    ...undecidables(mine),
    ...shortCounts(spec, mine),
  ];
  return verdictOf(findings);
};

function verdictOf(findings: readonly Finding[]): Verdict {
  const status = worstStatus(findings.map((finding) => finding.status));
  if (status === undefined) return { status: 'passed', reasons: [] };
  const worst = findings.filter((finding) => finding.status === status);
  const rest = findings.filter((finding) => finding.status !== status);
  const reasons = [...worst, ...rest].map(({ reason }) => reason);
  if (status !== 'error') return { status, reasons };
  // Our own breakage outweighs a gap (70 before 3): what a broken kit did not cover says little.
  const cause = worst.some((finding) => finding.cause === 'kit') ? 'kit' : 'coverage';
  return { status, cause, reasons };
}

function brokenAssertions(seen: readonly Observation[]): Finding[] {
  return seen.flatMap((one) => {
    if (one.is !== 'assertion' || one.ok) return [];
    const expected = one.expected === undefined ? '' : `; expected ${one.expected}`;
    const saw = one.seen === undefined ? '' : `; saw ${one.seen}`;
    return [{ status: 'failed' as const, reason: `${one.name}${expected}${saw}` }];
  });
}

function endFindings(spec: CheckSpec, ended: Ended): Finding[] {
  switch (ended.how) {
    case 'completed':
      return [];
    case 'timed_out':
      return [
        {
          status: 'error',
          cause: 'kit',
          reason: `it did not end within its limit of ${seconds(spec.limitMs)}`,
        },
      ];
    case 'threw':
      return [{ status: 'error', cause: ended.cause, reason: ended.message }];
  }
}

/**
 * Assertions against the plan. When the run broke off, coming up short is only a consequence of
 * that and says nothing more; too many is wrong in any case. No assertion at all proves nothing,
 * even where none was planned.
 */
function planFindings(spec: CheckSpec, seen: readonly Observation[], ended: Ended): Finding[] {
  const count = seen.filter(({ is }) => is === 'assertion').length;
  const gap = (reason: string): Finding[] => [{ status: 'error', cause: 'coverage', reason }];
  if (count > spec.expects)
    return gap(`it planned ${assertions(spec.expects)} and made ${count}: more than planned`);
  if (ended.how !== 'completed') return [];
  if (count === 0) return gap('nothing ran: it made no assertion');
  if (count < spec.expects)
    return gap(`it planned ${assertions(spec.expects)} and made only ${count}`);
  return [];
}

/** Outside its bound by more than its uncertainty is failed; by less, nobody can tell. */
function measureFindings(seen: readonly Observation[]): Finding[] {
  return seen.flatMap((one): Finding[] => {
    if (one.is !== 'measure') return [];
    const { name, value, unit, bound, uncertainty } = one;
    if (!Number.isFinite(value) || !Number.isFinite(uncertainty) || uncertainty < 0)
      return [
        { status: 'error', cause: 'kit', reason: `${name} was not measured: ${value} ${unit}` },
      ];
    if (bound === undefined) return [];
    const [low, high] = bound;
    if (value >= low && value <= high) return [];
    const reason = `${name} is ${value} ± ${uncertainty} ${unit}; the bound is ${low} to ${high} ${unit}`;
    const beyond = !(value + uncertainty >= low && value - uncertainty <= high);
    return [{ status: beyond ? 'failed' : 'unknown', reason }];
  });
}

function undecidables(seen: readonly Observation[]): Finding[] {
  return seen.flatMap((one) =>
    one.is === 'undecidable'
      ? [{ status: 'unknown' as const, reason: `${one.name}: ${one.because}` }]
      : [],
  );
}

/** Counts of one name add up; what was never counted is 0. */
function shortCounts(spec: CheckSpec, seen: readonly Observation[]): Finding[] {
  return Object.entries(spec.mustObserve).flatMap(([name, least]): Finding[] => {
    const total = seen.reduce(
      (sum, one) => (one.is === 'count' && one.name === name ? sum + one.value : sum),
      0,
    );
    if (total >= least) return [];
    return [
      { status: 'unknown', reason: `too little was observed: ${name} is ${total}, not ${least}` },
    ];
  });
}

function assertions(count: number): string {
  return count === 1 ? '1 assertion' : `${count} assertions`;
}

function seconds(ms: number): string {
  return `${ms / 1000} s`;
}
