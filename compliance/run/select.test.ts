import { expect, test } from 'vitest';
import type { Manifest, Profile } from '../types.ts';
import { aCheck, aClause, ci } from '../verdict/samples.ts';
import { profileOf, select } from './select.ts';

const long = aCheck({ id: 's8.3.long', clause: 's8.3', kind: 'claimers' });
const short = aCheck({ id: 's8.3.short', clause: 's8.3' });
const manifest: Manifest = {
  path: '/p/selftest/dieu45.yaml',
  root: '/p',
  document: { id: 'dieu-45', version: '1.0', release: '2.0', sources: [] },
  selfTest: {},
  profiles: {
    ci: { without: ['s8.3.long'], requirePlanned: false, exhaustive: false },
    release: ci,
  },
  clauses: [
    aClause(),
    aClause({ id: 's8.3', label: '§8.3', checks: [long, short] }),
    aClause({ id: 's9', modes: ['validate'], checks: [aCheck({ id: 's9.live', clause: 's9' })] }),
  ],
};
const all: Profile = { without: [], requirePlanned: true, exhaustive: true };
const idsOf = (profile: Profile, only: readonly string[] = []) =>
  select(manifest, profile, only).map(({ clause, specs, leftOut }) => [
    clause.id,
    specs.map(({ id }) => id),
    leftOut,
  ]);

test('without --only, every clause that can be judged on a throwaway database', () => {
  expect(idsOf(all)).toEqual([
    ['s1', ['s1.holds'], []],
    ['s8.3', ['s8.3.long', 's8.3.short'], []],
  ]);
});

test('a profile leaves checks out, and says which', () => {
  expect(idsOf(profileOf(manifest, 'ci'))).toEqual([
    ['s1', ['s1.holds'], []],
    ['s8.3', ['s8.3.short'], ['s8.3.long']],
  ]);
});

test('a profile may take some kinds only', () => {
  expect(idsOf({ ...all, kinds: ['claimers'] }, ['s8.3'])).toEqual([
    ['s8.3', ['s8.3.long'], ['s8.3.short']],
  ]);
});

test('a clause id brings the checks of the profile; a check id brings that check, whatever the profile', () => {
  const profile = profileOf(manifest, 'ci');
  expect(idsOf(profile, ['s8.3'])).toEqual([['s8.3', ['s8.3.short'], ['s8.3.long']]]);
  expect(idsOf(profile, ['s8.3.long'])).toEqual([['s8.3', ['s8.3.long'], []]]);
  expect(idsOf(profile, ['s8.3', 's8.3.long'])).toEqual([
    ['s8.3', ['s8.3.long', 's8.3.short'], []],
  ]);
});

test.each(['s8.3', '§8.3', '8.3'])('%s names the same clause', (name) => {
  expect(idsOf(all, [name]).map(([id]) => id)).toEqual(['s8.3']);
});

test('all unknown names are told at once', () => {
  expect(() => select(manifest, all, ['s1', 's8.33', 'zz'])).toThrow(/"s8\.33".*\n.*"zz"/);
});

test.each([
  ['s8.33', /unknown clause or check "s8.33"; did you mean s8.3\?/],
  ['s8.3.shrot', /did you mean s8.3.short\?/],
  ['s9', /unknown clause or check "s9"/],
  ['nonsense-entirely', /"nonsense-entirely"$/],
])('--only %s is refused', (id, message) => {
  expect(() => select(manifest, all, [id])).toThrow(
    expect.objectContaining({ exitCode: 64, message: expect.stringMatching(message) as string }),
  );
});

test.each(['cl', 'toString'])(
  'an unknown profile, %s, is refused with those that there are',
  (name) => {
    expect(() => profileOf(manifest, name)).toThrow(
      expect.objectContaining({ exitCode: 64, hint: 'the manifest has: ci, release' }),
    );
  },
);
