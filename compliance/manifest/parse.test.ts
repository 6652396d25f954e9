import { expect, test } from 'vitest';
import { KitError } from '../errors.ts';
import { parseManifest } from './parse.ts';
import { goodFiles, goodManifest } from './samples.ts';

/** The problems of a text, without the file's name. */
function problemsOf(text: string): string[] {
  try {
    parseManifest(text, 'm.yaml', { path: '/p/m.yaml', root: '/p', files: goodFiles });
    return [];
  } catch (thrown) {
    if (!(thrown instanceof KitError)) throw thrown;
    expect(thrown.exitCode).toBe(65);
    return thrown.message.split('\n').map((line) => line.replace(/^m\.yaml:/, ''));
  }
}

/** The good manifest with one text put in the place of another, which must be there. */
function broken(...edits: readonly [from: string, to: string][]): string {
  return edits.reduce((text, [from, to]) => {
    expect(text).toContain(from);
    return text.replace(from, () => to);
  }, goodManifest);
}

test('a manifest without a mistake is read, with its places and defaults', () => {
  const manifest = parseManifest(goodManifest, 'm.yaml', { path: '/p/m.yaml', root: '/p' });
  expect(manifest.clauses.map(({ id, at }) => [id, at.line, at.col])).toEqual([
    ['s8.3', 23, 5],
    ['s8.4', 46, 5],
  ]);
  expect(manifest.clauses[0]?.checks[0]).toEqual({
    id: 's8.3.killed-worker-is-reaped',
    clause: 's8.3',
    title: 'A killed worker is reaped.',
    kind: 'timed',
    file: 'selftest/timed/kill.yaml',
    params: { run: 'kill' },
    expects: 4,
    mustObserve: { kills_reaped: 4 },
    needs: [],
    limitMs: 30_000,
    at: { file: 'm.yaml', line: 33, col: 9 },
  });
  expect(manifest.clauses[1]?.checks[0]).toMatchObject({
    file: '',
    expects: 0,
    limitMs: 60_000,
    until: '3.0',
    planned: 'the rule is not written yet',
  });
  expect(manifest.profiles).toEqual({
    ci: { without: ['s8.3.killed-worker-is-reaped'], requirePlanned: false, exhaustive: false },
    release: { without: [], requirePlanned: true, exhaustive: true },
    'post-migrate': { without: [], kinds: ['catalog'], requirePlanned: false, exhaustive: false },
  });
  expect(manifest.selfTest).toEqual({
    defines_lease: { provenBy: ['s8.3'], at: { file: 'm.yaml', line: 9, col: 3 } },
    no_mutation_authored: {
      notApplicable: 'speaks of the document only',
      at: { file: 'm.yaml', line: 11, col: 3 },
    },
  });
});

test('a profile that leaves out a clause leaves out each of its checks', () => {
  const { profiles } = parseManifest(
    broken(['without: [s8.3.killed-worker-is-reaped]', 'without: [s8.3]']),
    'm.yaml',
  );
  expect(profiles.ci?.without).toEqual(['s8.3.killed-worker-is-reaped', 's8.3.lease-functions']);
});

/** What people get wrong, each with the one line that says so. */
// prettier-ignore
const mistakes: readonly [what: string, from: string, to: string, problem: string][] = [
  ['a mistyped key', '        expects: 4', '        expect: 4', '37:9: unknown key "expect"; did you mean expects?'],
  ['a mistyped planned', 'planned: the', 'planed: the', '60:9: unknown key "planed"; did you mean planned?'],
  ['a mistyped section', 'profiles:', 'profile:', '13:1: unknown key "profile"; did you mean profiles?'],
  ['a key of no meaning', '    impact: 1\n', '    impact: 1\n    colour: red\n', '30:5: unknown key "colour"'],
  ['a missing key', '    impact: 1\n', '', '23:5: missing key "impact"'],
  ['a missing text', ', vi: Thuê việc', '', '25:5: missing key "vi"'],
  ['an empty value', "version: '1.0'", 'version:', '3:3: expected text, found nothing'],
  ['a number for text', "since: '2.0'", 'since: 2.0', "30:12: expected text, found 2; write it in quotes: '2.0'"],
  ['text for a number', 'impact: 1', "impact: '1'", '29:13: expected a number, found the text "1"'],
  ['an impact above 1', 'impact: 1', 'impact: 10', '29:13: must be at most 1'],
  ['no assertion expected', 'expects: 4', 'expects: 0', '37:18: must be at least 1'],
  ['half an assertion', 'expects: 4', 'expects: 4.5', '37:18: expected a whole number, found 4.5'],
  ['no time', 'limit_seconds: 30', 'limit_seconds: 0', '39:24: must be more than 0'],
  ['a list where one is meant', 'kind: timed', 'kind: [timed]', '35:15: expected catalog, pgtap, race, explore, claimers, timed, matrix, property or plan, found a list'],
  ['a mistyped kind', 'kind: timed', 'kind: time', '35:15: expected catalog, pgtap, race, explore, claimers, timed, matrix, property or plan, found the text "time"; did you mean timed?'],
  ['a mode of no meaning', 'modes: [gate, validate]', 'modes: [gate, prod]', '31:19: expected gate or validate, found the text "prod"'],
  ['a mode named twice', 'modes: [gate, validate]', 'modes: [gate, gate]', '31:19: gate is listed twice'],
  ['no mode', 'modes: [gate]', 'modes: []', '54:12: the list is empty'],
  ['one where a list is meant', 'modes: [gate]', 'modes: gate', '54:12: expected a list, found the text "gate"'],
  ['a clause id with a section sign', 'id: s8.4\n', 'id: §8.4\n', '46:9: a clause id is a token like s8.3, without § and blanks'],
  ['a check id in another style', 'id: s8.3.lease-functions', 'id: s8.3.lease_functions', '41:13: a check id is its clause, a dot and a kebab-case name, like s8.3.killed-worker-is-reaped'],
  ['a check in the wrong clause', 'id: s8.3.lease-functions', 'id: s8.4.lease-functions', '41:13: check id "s8.4.lease-functions" stands in clause s8.3, so it must begin with "s8.3."'],
  ['a mistyped clause id', 'id: s8.3\n', 'id: s8.33\n', '23:9: clause id "s8.33" does not begin its checks\' ids; did you mean s8.3?'],
  ['a repeated clause id', 'id: s8.4\n    label', 'id: s8.3\n    label', '46:9: clause id "s8.3" is already used in line 23'],
  ['a repeated label', 'label: §8.4', 'label: §8.3', '47:12: label "§8.3" is already used in line 24'],
  ['a repeated check id', 'id: s8.3.lease-functions', 'id: s8.3.killed-worker-is-reaped', '41:13: check id "s8.3.killed-worker-is-reaped" is already used in line 33'],
  ['a repeated key', '    impact: 0.9\n', '    impact: 0.9\n    impact: 0.8\n', '53:5: the key "impact" is repeated'],
  ['an unknown clause', 'proven_by: [s8.3]', 'proven_by: [s8.33]', '10:17: unknown clause or check "s8.33"; did you mean s8.3?'],
  ['an unknown check', 'without: [s8.3.killed-worker-is-reaped]', 'without: [s8.3.killed-worker-is-reapd]', '15:15: unknown clause or check "s8.3.killed-worker-is-reapd"; did you mean s8.3.killed-worker-is-reaped?'],
  ['nothing that proves', 'proven_by: [s8.3]', 'proven_by: []', '10:16: the list is empty'],
  ['a key without a binding', '    proven_by: [s8.3]', '    {}', '10:5: a key has proven_by with check or clause ids, or not_applicable with the reason'],
  ['a key bound and not applicable', '    proven_by: [s8.3]\n', '    proven_by: [s8.3]\n    not_applicable: no\n', '10:16: a key is proven by checks or not applicable, not both'],
  ['a check without a file', '        file: selftest/pgtap/lease.sql\n', '', '41:9: missing key "file"'],
  ['a check neither built nor planned', '        planned: the rule is not written yet\n', '', '56:9: a check has file and expects, or planned with the reason why it is not built yet'],
  ['a planned check with a file', '        until:', '        file: selftest/pgtap/claim.sql\n        until:', '59:15: a planned check has no file and expects nothing: remove them, or planned when it is built'],
  ['a file that is not there', 'selftest/pgtap/lease.sql', 'selftest/pgtap/leases.sql', '44:15: no file "selftest/pgtap/leases.sql"; did you mean selftest/pgtap/lease.sql?'],
  ['a file outside the project', 'selftest/pgtap/lease.sql', '../lease.sql', '44:15: "../lease.sql" must be a path inside the project, relative to its root'],
  ['a file of another kind', 'selftest/timed/kill.yaml', 'selftest/pgtap/claim.sql', '36:15: kind timed reads .yaml files, not "selftest/pgtap/claim.sql"'],
  ['a parameter of another kind', 'expects: 12', 'expects: 12\n        params: { run: all }', '46:19: unknown key "run" (params of kind pgtap)'],
  ['a mistyped parameter', 'params: { run: kill }', 'params: { runs: kill }', '40:19: unknown key "runs"; did you mean run? (params of kind timed)'],
  ['a count with a blank', 'kills_reaped: 4', 'kills reaped: 4', '38:25: "kills reaped": a count is named in lower-case letters, digits, _ and -'],
  ['a need of no meaning', 'limit_seconds: 30', 'needs: [superusr]', '39:17: expected own_server, superuser, server_kill, extension_files or pgtap, found the text "superusr"; did you mean superuser?'],
  ['an end before the beginning', "until: '3.0'", "until: '2.0'", '59:16: until "2.0" does not come after since "2.0", so it never applies'],
  ['a digest that was cut', '8d5b75c172ef', '8d5b', '7:15: a sha256 is 64 hexadecimal digits'],
  ['Vietnamese without diacritics', 'vi: Job được giữ bằng lease.', 'vi: Job duoc giu bang lease.', '28:11: the Vietnamese text has no diacritic: is it Vietnamese?'],
  ['two paragraphs', 'en: A job is held under a lease.', 'en: "A job is held.\\n\\nUnder a lease."', '27:11: a statement is one paragraph: begin it with >-'],
  ['an empty clause list', goodManifest.slice(goodManifest.indexOf('clauses:')), 'clauses: []\n', '22:10: the list is empty'],
  ['an exception in the release profile', 'require_planned: true', 'without: [s8.4]', '17:3: missing key "require_planned"\n18:5: unknown key "without"'],
];

test.for(mistakes)('%s is one problem, at its place', ([, from, to, problem]) => {
  expect(problemsOf(broken([from, to]))).toEqual(problem.split('\n'));
});

test('the same suite may serve two clauses but not one clause twice', () => {
  const second = `      - id: s8.3.lease-again
        title: Again.
        kind: pgtap
        file: selftest/pgtap/lease.sql
        expects: 3
  - id: s8.4`;
  expect(problemsOf(broken(['  - id: s8.4', second]))).toEqual([
    '49:15: s8.3.lease-functions already counts what "selftest/pgtap/lease.sql" asserts for this clause',
  ]);
});

test('all problems come at once, in the order of the file', () => {
  const text = broken(
    ['proven_by: [s8.3]', 'proven_by: [s8.33]'],
    ['impact: 1\n', 'impact: high\n'],
    ['expects: 12', 'expcts: 12'],
    ['label: §8.4', 'label: §8.3'],
  );
  expect(problemsOf(text)).toEqual([
    '10:17: unknown clause or check "s8.33"; did you mean s8.3?',
    '29:13: expected a number, found the text "high"',
    '45:9: unknown key "expcts"; did you mean expects?',
    '47:12: label "§8.3" is already used in line 24',
  ]);
});

test.for([
  ['nothing at all', '', '1:1: expected keys with values, found nothing'],
  ['a bare word', 'hello', '1:1: expected keys with values, found the text "hello"'],
  ['an open quote', "a: 'x", "1:6: not YAML: missing closing 'quote"],
  ['a tab', 'a: 1\n\tb: 2\n', '2:1: not YAML: tabs are not allowed as indentation'],
  ['two documents', 'a: 1\n---\nb: 2\n', '2:1: a second document begins here; one file holds one'],
  ['an alias of nothing', 'a: *b\n', '1:4: no anchor "&b" before it'],
] as const)('%s is one problem', ([, text, problem]) => {
  expect(problemsOf(text)).toEqual([problem]);
});

test('a file with Windows line ends and a byte order mark has the same places', () => {
  const windows = (text: string) => `\uFEFF${text.replaceAll('\n', '\r\n')}`;
  expect(problemsOf(windows(goodManifest))).toEqual([]);
  const text = broken(['proven_by: [s8.3]', 'proven_by: [s8.33]'], ['expects: 12', 'expects: 0']);
  expect(problemsOf(windows(text))).toEqual(problemsOf(text));
});
