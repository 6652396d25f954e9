/** A report for tests: one clause of each kind, with texts that are hard to print. */
import type { ClauseResult } from '../types.ts';
import { exitOf } from '../verdict/exit.ts';
import { judge } from '../verdict/judge.ts';
import { mergeClause } from '../verdict/merge.ts';
import { aClause, aResult, ci } from '../verdict/samples.ts';
import { type Report, reportOf, type RunFacts } from './report.ts';

const run: RunFacts = {
  startedAt: '2026-11-30T19:46:00.000Z',
  elapsedMs: 12_345,
  target: 'embedded:17',
  serverVersion: '17.10',
  seed: 7,
  jobs: 2,
  kit: '2.0.0',
  node: 'v20.20.2',
  platform: 'linux-x64',
  spans: [{ what: 'start the server', fromMs: 0, toMs: 1500 }],
};

const failure = aResult('failed', {
  spec: { id: 's8.3.reaped', clause: 's8.3', title: 'A killed worker loses its lease' },
  reasons: ['reaped in time; expected <= 5 s; saw 7 s'],
  observations: [
    { is: 'assertion', name: 'granted', ok: true },
    {
      is: 'assertion',
      name: 'reaped in time',
      ok: false,
      expected: '<= 5 s & "quick"',
      seen: '7 s \u001b[31m# ```red``` | ]]>\u0000',
      trace: ['09:00:00 killed', '09:00:07 reaped'],
      at: { file: 'selftest/timed/lease.yaml', line: 4, col: 2 },
    },
    { is: 'count', name: 'kills', value: 2 },
    { is: 'count', name: 'kills', value: 2 },
    {
      is: 'measure',
      name: 'to reaped',
      value: 7000,
      unit: 'ms',
      bound: [0, 5000],
      uncertainty: 50,
    },
    { is: 'file', name: 'history.jsonl', path: 'evidence/s8.3.reaped/history.jsonl' },
  ],
});

/** Clauses that are passed, failed, unknown, planned, waived, inapplicable, and without a check. */
export const variety: readonly ClauseResult[] = [
  mergeClause(aClause({ title: { en: 'First', vi: 'Điều thứ nhất' } }), [
    aResult('passed', { observations: [{ is: 'assertion', name: 'it holds', ok: true }] }),
  ]),
  mergeClause(aClause({ id: 's8.3', label: '§8.3', title: { en: 'Lease', vi: 'Hợp đồng thuê' } }), [
    failure,
    aResult('unknown', {
      spec: { id: 's8.3.renewed', clause: 's8.3' },
      reasons: ['too little was observed: kills is 0, not 4'],
    }),
    aResult('error', {
      spec: { id: 's8.3.broken', clause: 's8.3' },
      cause: 'kit',
      reasons: ['no such folder'],
    }),
  ]),
  mergeClause(aClause({ id: 's9', label: '§9' }), [
    {
      ...aResult('not_reviewed', {
        spec: { id: 's9.later', clause: 's9', file: '', planned: 'comes with explore # 5' },
        reasons: ['comes with explore # 5'],
      }),
      elapsedMs: 0,
    },
  ]),
  mergeClause(
    aClause({ id: 's10', label: '§10' }),
    [aResult('failed', { spec: { id: 's10.x', clause: 's10' }, reasons: ['known'] })],
    'waived',
  ),
  mergeClause(aClause({ id: 's11', label: '§11', notApplicable: 'speaks of the document' }), []),
  mergeClause(aClause({ id: 's12', label: '§12', checks: [] }), []),
];

export function aReport(clauses: readonly ClauseResult[] = variety): Report {
  return reportOf({
    document: { id: 'dieu-45', version: '1.0' },
    profile: 'ci',
    only: [],
    exitCode: exitOf(clauses, ci),
    clauses,
    leftOut: new Map(),
    run,
  });
}

/** A verdict that was judged, for tests that follow an observation all the way. */
export function judged(observations: Parameters<typeof judge>[1]): ClauseResult {
  const { spec } = aResult('passed');
  const verdict = judge(spec, observations, { how: 'completed', elapsedMs: 3 });
  return mergeClause(aClause(), [{ spec, verdict, observations, elapsedMs: 3 }]);
}
