/**
 * The last line of scripts/test: `N passed, N failed, N skipped`, and its exit code.
 *
 *   node scripts/tally.js VITEST_JSON VITEST_EXIT_CODE PASSED FAILED
 *
 * PASSED and FAILED are what was checked before vitest ran. A test file that could not be loaded has
 * no failed test, and an error outside of tests has no file: both count as one failure.
 */
import { readFileSync } from 'node:fs';

const [, , path, code, passedBefore, failedBefore] = process.argv;

let passed = Number(passedBefore);
let failed = Number(failedBefore);
let skipped = 0;
let broken = 0;
try {
  for (const file of JSON.parse(readFileSync(path, 'utf8')).testResults) {
    const count = (status) => file.assertionResults.filter((one) => one.status === status).length;
    const failures = count('failed');
    passed += count('passed');
    skipped += file.assertionResults.length - failures - count('passed');
    broken += failures > 0 || file.status !== 'failed' ? failures : 1;
  }
} catch {
  // No results: vitest did not get that far, and its exit code says so.
}
if (Number(code) !== 0 && broken === 0) broken = 1;
failed += broken;

console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
process.exitCode = failed > 0 ? 1 : 0;
