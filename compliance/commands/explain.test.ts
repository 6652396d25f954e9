import { expect, test } from 'vitest';
import { findNamed } from '../manifest/names.ts';
import { parseManifest } from '../manifest/parse.ts';
import { goodManifest } from '../manifest/samples.ts';
import { widthOf } from '../report/style.ts';
import type { Lang } from '../types.ts';
import { explainText } from './explain.ts';
import { listJson, listText } from './list.ts';

const manifest = parseManifest(goodManifest, 'm.yaml');
const page = (name: string, lang: Lang = 'en', width = 80): string =>
  explainText(findNamed(manifest, name), {
    manifest,
    questions: [
      {
        id: 'DP3-Q3',
        question: { en: 'How long is a lease?', vi: 'Lease kéo dài bao lâu?' },
        routedTo: 'Council',
        clause: 's8.3',
        key: 'queue.lease.ttl_seconds.default',
        proposed: '600',
        recommended: { value: '600', because: { en: 'Enough.', vi: 'Vừa đủ.' } },
        decision: { is: 'open' },
        at: { file: 'r.yaml', line: 1, col: 1 },
      },
    ],
    options: { lang },
    io: { color: false, width, self: './scripts/dieu45' },
  });

test('a clause is explained with what proves it and how to see each check alone', () => {
  const text = page('§8.3');
  for (const part of [
    '§8.3  Lease  s8.3',
    'A job is held under a lease.',
    'answers in self_test: defines_lease',
    'stated at     m.yaml:33:9',
    'must observe  kills_reaped ≥ 4',
    './scripts/dieu45 gate --only s8.3.killed-worker-is-reaped --seed 1',
    './scripts/dieu45 gate --only s8.3.lease-functions --seed 1',
    './scripts/dieu45 gate --only s8.3 --seed 1',
    'open; proposed: 600 (queue.lease.ttl_seconds.default)',
  ]) {
    expect(text).toContain(part);
  }
});

test('what is only planned is said to be unproven, and has no command', () => {
  const text = page('s8.4');
  expect(text).toContain('Nothing proves it yet');
  expect(text).toContain('why not yet   the rule is not written yet');
  expect(text).toContain('release       < 3.0');
  expect(text).not.toContain('gate --only');
});

test('a check can be explained alone', () => {
  const text = page('s8.3.lease-functions');
  expect(text).toContain('expects       12 assertions');
  expect(text).not.toContain('killed-worker');
});

test.for([
  ['en', 40],
  ['en', 60],
  ['vi', 60],
  ['vi', 120],
] as const)(
  'in %s no line but a command, a place or one long word is wider than %d columns',
  ([lang, width]) => {
    const wide = page('s8.3', lang, width)
      .split('\n')
      .filter((line) => widthOf(line) > width && line.trim().includes(' '))
      .filter((line) => !/gate --only|\.yaml|\.sql/.test(line));
    expect(wide).toEqual([]);
  },
);

test('the list has a line a clause, with the kinds that prove it', () => {
  const text = listText(manifest, 'en', { color: false, width: 80, self: 'dieu45' });
  expect(text.split('\n')).toEqual([
    '§8.3  s8.3  Lease        timed, pgtap',
    '§8.4  s8.4  Dead letter                1 planned',
    '',
    '2 clauses · 3 checks · 1 planned',
    'dieu45 explain s8.3  tells what a clause says and what proves it',
    '',
  ]);
});

test('the list as JSON gives every check', () => {
  const { clauses } = JSON.parse(listJson(manifest)) as { clauses: { checks: { id: string }[] }[] };
  expect(clauses.flatMap(({ checks }) => checks.map(({ id }) => id))).toEqual([
    's8.3.killed-worker-is-reaped',
    's8.3.lease-functions',
    's8.4.no-requeue-function',
  ]);
});
