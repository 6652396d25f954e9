/**
 * The report: what a run found, as data (schema `dieu45/report/1`). Every reporter is a pure
 * function of it.
 *
 * Order, ids and verdicts are the same for two runs of the same thing. What varies from run to run
 * (times, counts, measured values, the seed, the server) stands under `run` and `measured` alone.
 */
import type {
  CheckResult,
  CheckStatus,
  ClauseResult,
  ClauseStatus,
  Kind,
  Observation,
  Text,
  Where,
} from '../types.ts';
import type { Span } from '../run/events.ts';
import type { ExitCode } from '../verdict/exit.ts';
import { meaningOf } from '../verdict/exit.ts';
import type { Totals } from '../verdict/merge.ts';
import { totalsOf } from '../verdict/merge.ts';

export type Report = {
  schema: 'dieu45/report/1';
  document: { id: string; version: string };
  profile: string;
  /** The ids given by `--only`; empty when everything was judged. */
  only: readonly string[];
  exit: { code: ExitCode; meaning: string };
  totals: Totals;
  clauses: readonly ClauseReport[];
  run: RunFacts;
  /** By check id. */
  measured: Readonly<Record<string, Measured>>;
};

export type ClauseReport = {
  id: string;
  label: string;
  title: Text;
  impact: number;
  status: ClauseStatus;
  /** Why the clause does not apply, from the manifest. */
  notApplicable?: string;
  checks: readonly CheckReport[];
  /** Ids of checks that the profile leaves out. */
  leftOut: readonly string[];
};

export type CheckReport = {
  id: string;
  title: string;
  kind: Kind;
  /** Relative to the project root; empty when the check is planned. */
  file: string;
  /** Where the manifest states the check. */
  at: Where;
  status: CheckStatus;
  cause?: 'coverage' | 'kit';
  reasons: readonly string[];
  expects: number;
  assertions: readonly AssertionReport[];
  /** Evidence files, relative to the bundle. */
  files: readonly { name: string; path: string }[];
};
export type AssertionReport = {
  name: string;
  ok: boolean;
  expected?: string;
  seen?: string;
  at?: Where;
  trace?: readonly string[];
};

export type Measured = {
  elapsedMs: number;
  counts: Readonly<Record<string, number>>;
  measures: readonly {
    name: string;
    value: number;
    unit: string;
    bound?: readonly [number, number];
    uncertainty: number;
  }[];
};

/** What varies between runs; no host name, user or folder is among it. */
export type RunFacts = {
  /** UTC, ISO 8601. */
  startedAt: string;
  elapsedMs: number;
  target: string;
  /** As people write it, `17.10`; unset when nothing had to run on a server. */
  serverVersion?: string;
  seed: number;
  jobs: number;
  kit: string;
  node: string;
  platform: string;
  spans: readonly Span[];
};

export type Found = {
  document: { id: string; version: string };
  profile: string;
  only: readonly string[];
  exitCode: ExitCode;
  clauses: readonly ClauseResult[];
  leftOut: ReadonlyMap<string, readonly string[]>;
  run: RunFacts;
};

/** The report of what a run found. Pure. */
export function reportOf(found: Found): Report {
  const { document, profile, only, exitCode, clauses, run } = found;
  return {
    schema: 'dieu45/report/1',
    document: { id: document.id, version: document.version },
    profile,
    only,
    exit: { code: exitCode, meaning: meaningOf(exitCode) },
    totals: totalsOf(clauses),
    clauses: clauses.map((clause) => clauseReport(clause, found.leftOut)),
    run,
    measured: Object.fromEntries(
      clauses.flatMap(({ checks }) => checks.map((check) => [check.spec.id, measuredOf(check)])),
    ),
  };
}

function clauseReport(result: ClauseResult, leftOut: Found['leftOut']): ClauseReport {
  const { id, label, title, impact, notApplicable } = result.clause;
  return {
    id,
    label,
    title,
    impact,
    status: result.status,
    ...(notApplicable === undefined ? {} : { notApplicable }),
    checks: result.checks.map(checkReport),
    leftOut: leftOut.get(id) ?? [],
  };
}

function checkReport({ spec, verdict, observations }: CheckResult): CheckReport {
  return {
    id: spec.id,
    title: spec.title,
    kind: spec.kind,
    file: spec.file,
    at: spec.at,
    status: verdict.status,
    ...(verdict.cause === undefined ? {} : { cause: verdict.cause }),
    reasons: verdict.reasons,
    expects: spec.expects,
    assertions: observations.flatMap(assertionOf),
    files: observations.flatMap((one) =>
      one.is === 'file' ? [{ name: one.name, path: one.path }] : [],
    ),
  };
}

function assertionOf(one: Observation): AssertionReport[] {
  if (one.is !== 'assertion') return [];
  const { name, ok, expected, seen, at, trace } = one;
  return [
    {
      name,
      ok,
      ...(expected === undefined ? {} : { expected }),
      ...(seen === undefined ? {} : { seen }),
      ...(at === undefined ? {} : { at }),
      ...(trace === undefined ? {} : { trace }),
    },
  ];
}

function measuredOf({ observations, elapsedMs }: CheckResult): Measured {
  const counts: Record<string, number> = {};
  for (const one of observations)
    if (one.is === 'count') counts[one.name] = (counts[one.name] ?? 0) + one.value;
  const measures = observations.flatMap((one) => {
    if (one.is !== 'measure') return [];
    const { name, value, unit, bound, uncertainty } = one;
    return [{ name, value, unit, ...(bound === undefined ? {} : { bound }), uncertainty }];
  });
  return { elapsedMs, counts, measures };
}
