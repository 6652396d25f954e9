/** The `self_test:` block of a design document (DP3 §12): its keys and what the document claims. Pure. */
import { KitError } from '../errors.ts';
import type { Where } from '../types.ts';

export type SelfTestClaim = { key: string; claim: string; at: Where };

/**
 * Reads the block: the line `self_test:` and the deeper lines below it, one `key: value` each, up to the
 * first line that is not deeper. Throws KitError 65 with file:line:col when there is no block, a line in
 * it is no `key: value`, or a key stands twice; all problems at once.
 */
export function readSelfTestBlock(text: string, file: string): SelfTestClaim[] {
  const lines = text.split(/\r?\n/);
  const start = lines.findIndex((line) => /^\s*self_test:\s*$/.test(line));
  if (start < 0) {
    throw new KitError(
      65,
      `${file}:1:1: no self_test: block`,
      'name a design document that has one',
    );
  }
  const depth = indentOf(lines[start] ?? '');
  const claims: SelfTestClaim[] = [];
  const problems: string[] = [];
  for (const [index, line] of lines.entries()) {
    if (index <= start) continue;
    if (line.trim() === '' || indentOf(line) <= depth) break;
    const at = { file, line: index + 1, col: indentOf(line) + 1 };
    const found = /^\s*([^\s:][^:]*):\s*(.*)$/.exec(line);
    if (found === null) {
      problems.push(`${place(at)}: expected "key: value"`);
      continue;
    }
    const [, key = '', claim = ''] = found;
    if (claims.some((other) => other.key === key)) {
      problems.push(`${place(at)}: ${key} stands twice`);
    }
    claims.push({ key, claim: claim.trim(), at });
  }
  if (claims.length === 0 && problems.length === 0) {
    problems.push(`${file}:${start + 1}:1: the self_test: block is empty`);
  }
  if (problems.length > 0) throw new KitError(65, problems.join('\n'));
  return claims;
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}

function place({ file, line, col }: Where): string {
  return `${file}:${line}:${col}`;
}
