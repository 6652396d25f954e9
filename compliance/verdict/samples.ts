/** Small specs, clauses and results for tests: a valid one each, with what a test wants otherwise. */
import type {
  CheckResult,
  CheckSpec,
  CheckStatus,
  Clause,
  Observation,
  Profile,
  Verdict,
} from '../types.ts';

const at = { file: 'selftest/dieu45.yaml', line: 1, col: 1 };

export const ci: Profile = { without: [], requirePlanned: false, exhaustive: false };
export const release: Profile = { without: [], requirePlanned: true, exhaustive: true };

/** A check of clause `s1` that expects one assertion. */
export function aCheck(wanted: Partial<CheckSpec> = {}): CheckSpec {
  return {
    id: 's1.holds',
    title: 'It holds',
    clause: 's1',
    kind: 'pgtap',
    file: 'selftest/pgtap/s1.sql',
    params: {},
    expects: 1,
    mustObserve: {},
    needs: [],
    limitMs: 5_000,
    at,
    ...wanted,
  };
}

/** Clause `s1` with one check, unless told otherwise. */
export function aClause(wanted: Partial<Clause> = {}): Clause {
  return {
    id: 's1',
    label: '§1',
    title: { en: 'First', vi: 'Thứ nhất' },
    statement: { en: 'It holds.', vi: 'Điều này đúng.' },
    impact: 0.5,
    textHash: 'a1b2',
    since: '2.0',
    modes: ['gate'],
    checks: [aCheck()],
    at,
    ...wanted,
  };
}

/** A result of this status, as if judged. */
export function aResult(
  status: CheckStatus,
  wanted: {
    spec?: Partial<CheckSpec>;
    cause?: NonNullable<Verdict['cause']>;
    by?: NonNullable<Verdict['by']>;
    reasons?: readonly string[];
    observations?: readonly Observation[];
  } = {},
): CheckResult {
  return {
    spec: aCheck(wanted.spec),
    verdict: {
      status,
      reasons: wanted.reasons ?? (status === 'passed' ? [] : ['a reason']),
      ...(wanted.cause === undefined ? {} : { cause: wanted.cause }),
      ...(wanted.by === undefined ? {} : { by: wanted.by }),
    },
    observations: wanted.observations ?? [],
    elapsedMs: 12,
  };
}

/** An assertion that held, or did not. */
export function anAssertion(ok = true, name = 'it holds'): Observation {
  return { is: 'assertion', name, ok };
}
