import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { KitError } from '../errors.ts';
import { parseRatified, ratifiedSchema } from './ratified.ts';
import { jsonSchemaOf } from './schema.ts';

const good = `questions:
  - id: DP3-Q1
    question: { en: How many?, vi: Bao nhiêu lần? }
    routed_to: Council
    clause: s8.1
    key: queue.retry.max_attempts.default
    proposed: '5'
    recommended: { value: '5', because: { en: Enough., vi: Vừa đủ. } }
    decision: open
`;

function problemsOf(text: string): string[] {
  try {
    parseRatified(text, 'r.yaml', ['s8.1', 's8.2']);
    return [];
  } catch (thrown) {
    if (!(thrown instanceof KitError)) throw thrown;
    expect(thrown.exitCode).toBe(65);
    return thrown.message.split('\n');
  }
}

test('an open question is read as open', () => {
  expect(parseRatified(good, 'r.yaml', ['s8.1'])).toEqual([
    {
      id: 'DP3-Q1',
      question: { en: 'How many?', vi: 'Bao nhiêu lần?' },
      routedTo: 'Council',
      clause: 's8.1',
      key: 'queue.retry.max_attempts.default',
      proposed: '5',
      recommended: { value: '5', because: { en: 'Enough.', vi: 'Vừa đủ.' } },
      decision: { is: 'open' },
      at: { file: 'r.yaml', line: 2, col: 5 },
    },
  ]);
});

test('a ratified question has its value and date', () => {
  const ratified = good.replace('open', "ratified\n    value: '3'\n    date: 2026-06-30");
  expect(parseRatified(ratified, 'r.yaml', ['s8.1'])[0]?.decision).toEqual({
    is: 'ratified',
    value: '3',
    date: '2026-06-30',
  });
});

// prettier-ignore
const mistakes: readonly [what: string, from: string, to: string, problem: string][] = [
  ['a decision without value and date', 'open', 'ratified', 'r.yaml:2:5: missing key "value"\nr.yaml:2:5: missing key "date"'],
  ['an open question with a value', 'open', "open\n    value: '3'", 'r.yaml:10:12: an open question has no value: remove it, or set decision to ratified'],
  ['a mistyped decision', 'open', 'opened', 'r.yaml:9:15: expected open or ratified, found the text "opened"; did you mean open?'],
  ['a day that does not exist', 'open', "ratified\n    value: '3'\n    date: 2026-02-30", 'r.yaml:11:11: a date is written as 2026-05-26'],
  ['a mistyped key', 'routed_to', 'routed', 'r.yaml:4:5: unknown key "routed"; did you mean routed_to?'],
  ['an unknown clause', 'clause: s8.1', 'clause: s8.11', 'r.yaml:5:13: unknown clause "s8.11"; did you mean s8.1?'],
  ['a value without quotes', "proposed: '5'", 'proposed: 5', "r.yaml:7:15: expected text, found 5; write it in quotes: '5'"],
  ['a repeated question', 'decision: open\n', `decision: open\n${good.slice(good.indexOf('  - id'))}`, 'r.yaml:10:9: question "DP3-Q1" is repeated'],
];

test.for(mistakes)('%s is told at its place', ([, from, to, problem]) => {
  expect(good).toContain(from);
  expect(problemsOf(good.replace(from, to))).toEqual(problem.split('\n'));
});

test.for(mistakes)('editors see what the parser sees: %s', ([what, from, to]) => {
  const accepts = new Ajv({ strict: false, validateFormats: false }).compile(
    jsonSchemaOf(ratifiedSchema),
  );
  const acrossEntries = ['an unknown clause', 'a repeated question'].includes(what);
  expect(accepts(parse(good.replace(from, to)))).toBe(acrossEntries);
});

test('the file of the project asks each question of DP3 §11 once', () => {
  const text = readFileSync(new URL('../../selftest/ratified.yaml', import.meta.url), 'utf8');
  const clauses = ['s8.1', 's8.2', 's8.3', 's8.4', 'd31', 'dp3.5'];
  expect(parseRatified(text, 'selftest/ratified.yaml', clauses).map(({ id }) => id)).toEqual(
    Array.from({ length: 7 }, (_, index) => `DP3-Q${index + 1}`),
  );
});
