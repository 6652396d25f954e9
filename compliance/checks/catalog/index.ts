/**
 * The check kind `catalog`: a query over the catalog, or the data, that must return no row.
 *
 * One assertion for the rule, and the count `looked_at` of what it compared. It runs in a read-only
 * transaction, so that the same rule may look at a live database.
 */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { CoverageError } from '../../errors.ts';
import type { Observation, RunCheck, Session } from '../../types.ts';
import { missingContractObject } from '../missing.ts';
import { readRule, type Rule } from './rule.ts';

/** Findings shown in full; the rest is counted. */
const SHOWN = 20;

/** @throws CoverageError when the rule compares nothing, and the server's error when the rule itself is wrong. */
export const run: RunCheck = async function* (task, sandbox, { root }) {
  const source = await readFile(path.resolve(root, task.file), 'utf8');
  const rule = await readRule(task.file, root, source);
  await using session = await sandbox.session('catalog');
  yield* observe(rule, session);
};

async function* observe(rule: Rule, session: Session): AsyncGenerator<Observation> {
  try {
    for (const statement of rule.stage) await session.query(statement);
    await session.query('begin transaction read only');
    const [count] = await session.query<{ looked_at: number }>(rule.countQuery);
    const lookedAt = count?.looked_at ?? 0;
    if (lookedAt === 0) {
      throw new CoverageError(`${rule.at.file}: the list of what must be there is empty`);
    }
    yield { is: 'count', name: 'looked_at', value: lookedAt };
    yield found(rule, await session.query(rule.query));
  } catch (thrown) {
    const missing = missingFrom(thrown);
    if (missing === undefined) throw thrown;
    yield { is: 'assertion', name: missing.name, ok: false, seen: missing.seen, at: rule.at };
  } finally {
    await session.query('rollback');
  }
}

function found(rule: Rule, rows: readonly Record<string, unknown>[]): Observation {
  const base = { is: 'assertion' as const, name: rule.title, at: rule.at };
  const [first, ...others] = rows;
  if (!first) return { ...base, ok: true };
  const rest = others.slice(0, SHOWN - 1).map(finding);
  const unshown = rows.length - SHOWN;
  return {
    ...base,
    ok: false,
    expected: 'no row',
    seen: rows.length === 1 ? finding(first) : `${rows.length} rows, the first: ${finding(first)}`,
    trace: unshown > 0 ? [...rest, `… and ${unshown} more`] : rest,
  };
}

/** `column=value` for every column that says something. */
function finding(row: Record<string, unknown>): string {
  return Object.entries(row)
    .filter(([, value]) => value !== null)
    .map(
      ([column, value]) => `${column}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
    )
    .join(' ');
}

function missingFrom(thrown: unknown): { name: string; seen: string } | undefined {
  if (!(thrown instanceof Error) || !('code' in thrown) || typeof thrown.code !== 'string') {
    return undefined;
  }
  const name = missingContractObject(thrown.code, thrown.message);
  return name === undefined
    ? undefined
    : { name, seen: `${thrown.message} (SQLSTATE ${thrown.code})` };
}
