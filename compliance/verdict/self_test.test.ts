import { expect, test } from 'vitest';
import type { Report } from '../report/report.ts';
import { answerKeys, exitOfKeys } from './self_test.ts';

const at = { file: 'm.yaml', line: 1, col: 1 };
const report = {
  clauses: [
    {
      id: 's7',
      checks: [
        { id: 's7.a', status: 'passed' },
        { id: 's7.b', status: 'passed' },
      ],
    },
    {
      id: 's8.1',
      checks: [
        { id: 's8.1.a', status: 'passed' },
        { id: 's8.1.b', status: 'not_reviewed' },
      ],
    },
    {
      id: 's8.2',
      checks: [
        { id: 's8.2.a', status: 'failed' },
        { id: 's8.2.b', status: 'error' },
      ],
    },
    {
      id: 's8.3',
      checks: [
        { id: 's8.3.a', status: 'error' },
        { id: 's8.3.b', status: 'passed' },
      ],
    },
    { id: 's8.4', checks: [{ id: 's8.4.a', status: 'unknown' }] },
  ],
} as unknown as Pick<Report, 'clauses'>;

test.each([
  ['every check of the clause passed', { provenBy: ['s7'], at }, 'proven', 0],
  ['one check is named, and it passed', { provenBy: ['s8.1.a'], at }, 'proven', 0],
  ['a check of the clause is planned', { provenBy: ['s8.1'], at }, 'not_reviewed', 2],
  ['a check failed, whatever else broke', { provenBy: ['s7', 's8.2'], at }, 'refuted', 1],
  ['a check broke', { provenBy: ['s8.3'], at }, 'error', 70],
  ['too little was observed', { provenBy: ['s8.4'], at }, 'not_reviewed', 2],
  ['the check did not run', { provenBy: ['s9.nothing'], at }, 'not_reviewed', 2],
  [
    'the key speaks of the document only',
    { notApplicable: 'of the document', at },
    'not_applicable',
    0,
  ],
] as const)('%s: %o is %s', (_name, binding, status, code) => {
  const answers = answerKeys([{ key: 'k', claim: 'yes' }], { k: binding }, report);
  expect(answers[0]?.status).toBe(status);
  expect(exitOfKeys(answers)).toBe(code);
});

test('a key that the manifest does not know is not reviewed, never passed over', () => {
  const [answer] = answerKeys([{ key: 'new', claim: 'yes' }], {}, report);
  expect(answer?.status).toBe('not_reviewed');
});
