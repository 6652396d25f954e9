import { readdirSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { readSource } from '../../manifest/source.ts';
import { scenariosOf, loadInvariants, sourceOf } from './load.ts';
import { holdsRecipes, loadRecipes } from './pairs.ts';
import { ROOT } from './testing.ts';

const GOOD = `title: a race
clock: steered
cases:
  one: { call: 'select :id' }
  two: { call: 'select 2' }
setup:
  - { sql: select 1 as id, capture: { id: id } }
  - advance_seconds: 5
sessions:
  a:
    transaction: commit
    steps:
      - { name: ask, sql: '{{call}}' }
  b:
    steps:
      - { name: wait, advance_seconds: 60 }
assertions:
  - { name: it answers, when: [ask, a.commit, wait], answers: { ask: [{ id: 1 }] } }
`;

test('a file gives one scenario a case, with nothing left to fill in', () => {
  const scenarios = scenariosOf(readSource(GOOD, 'race.yaml'));
  expect(scenarios.map((one) => one.case)).toEqual(['one', 'two']);
  expect(scenarios.map((one) => one.sessions[0]?.steps[0]?.sql)).toEqual([
    'select :id',
    'select 2',
  ]);
  expect(scenarios[0]?.sessions[1]?.steps[0]?.sql).toBe('select dieu45_steer.advance(60)');
});

const mistakes: [what: string, find: string, put: string, problem: string][] = [
  ['an unknown key', 'sessions:', 'sesions:', '9:1: unknown key "sesions"; did you mean sessions?'],
  [
    'an unknown step',
    'a.commit, wait',
    'a.comit, wait',
    '18:5: unknown step "a.comit"; did you mean a.commit?',
  ],
  [
    'an unknown variable',
    'select :id',
    'select :idd',
    '4:16: no step captures :idd; did you mean id?',
  ],
  [
    'a blank without a text',
    '{{call}}',
    '{{cal}}',
    '13:27: {{cal}} has no text: missing in one, two',
  ],
  [
    'a real clock that is advanced',
    'clock: steered',
    'clock: real',
    'only a steered clock can be advanced',
  ],
  ['a repeated step', 'name: wait,', 'name: ask,', 'the step name "ask" is repeated'],
  [
    'two demands in one',
    'answers: {',
    "be_true: 'select true', answers: {",
    'exactly one of must_block',
  ],
  ['a step without anything to do', ", sql: '{{call}}'", '', 'either "sql" or "advance_seconds"'],
];

test.each(mistakes)('%s is said at its place', (_what, find, put, problem) => {
  const read = (): unknown => scenariosOf(readSource(GOOD.replace(find, put), 'race.yaml'));
  expect(read).toThrow(/^race\.yaml:\d+:\d+: /);
  expect(read).toThrow(problem);
});

test('every file of selftest/races and selftest/explore can be read', async () => {
  const files = ['selftest/races', 'selftest/explore'].flatMap((folder) =>
    readdirSync(path.join(ROOT, folder)).map((name) => `${folder}/${name}`),
  );
  expect(files.length).toBeGreaterThan(15);
  for (const file of files) {
    if (file.endsWith('invariants.yaml')) {
      expect((await loadInvariants(file, ROOT)).length).toBeGreaterThan(5);
      continue;
    }
    const source = await sourceOf(file, ROOT);
    if (holdsRecipes(source))
      expect((await loadRecipes(source, ROOT)).recipes.length).toBeGreaterThan(10);
    else expect(scenariosOf(source).length).toBeGreaterThan(0);
  }
});
