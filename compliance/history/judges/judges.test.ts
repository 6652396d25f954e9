import { describe, expect, test } from 'vitest';
import { digest } from '../digest.ts';
import { judgeNames } from '../finding.ts';
import { corruptedLeases } from './corrupted_leases.ts';
import { corruptedRecords } from './corrupted_records.ts';
import { judges } from './index.ts';
import { told } from './told.ts';

const good = told();
const corruptions = [...corruptedLeases, ...corruptedRecords];

describe('on a valid history', () => {
  test.each(judgeNames)('%s finds nothing and can tell', (name) => {
    expect(judges[name](digest(good))).toMatchObject({ ok: true, undecidable: [] });
  });
  test('the recording is sound', () => {
    expect(digest(good).malformed).toEqual([]);
  });
});

describe('on a corrupted history', () => {
  test.each(corruptions)('%s notices %s', (name, _what, says, lines, corrupt) => {
    const corrupted = corrupt([...good]);
    expect(corrupted).not.toEqual(good);
    const { ok, faults } = judges[name](digest(corrupted));
    expect(ok).toBe(false);
    const fault = faults.find((one) => says.test(one.says));
    expect(faults.map((one) => one.says).join('\n')).toMatch(says);
    expect(fault?.lines).toHaveLength(lines);
  });

  test('every judge has a corruption that it notices', () => {
    expect(new Set(corruptions.map(([name]) => name))).toEqual(new Set(judgeNames));
  });
});
