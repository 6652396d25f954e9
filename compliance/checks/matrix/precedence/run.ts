/**
 * Runs a matrix of precedence: every call with one fault, and with every two that can come together.
 * The first in the order of the file must be told, and nothing changes but the audit. Calls under
 * another isolation level run in a transaction of that level; the jobs are committed before.
 */
import { KitError } from '../../../errors.ts';
import { plantingSql } from '../../../sandbox/silently.ts';
import type { Session } from '../../../types.ts';
import { assertionOf, type Cell } from '../cell.ts';
import { drive, type Job } from '../job.ts';
import { isObject, type Json } from '../json.ts';
import type { Matrix } from '../matrix.ts';
import { namesOf, sqlWith, type Names } from '../names.ts';
import { flat } from '../steps.ts';
import { auditText, openTrials, tryAll, type Outcome, type Trial } from '../trial.ts';
import { known, unknownFaults, wrongCalls, type Wrong } from './pairs.ts';
import { precedenceFile, type PrecedenceFile } from './schema.ts';

export const precedence: Matrix<typeof precedenceFile> = {
  schema: precedenceFile,
  async *run({ data, source }, sandbox, how) {
    const unknown = unknownFaults(data);
    if (unknown.length > 0) {
      throw new KitError(65, `${source.file}: no such fault: ${unknown.join(', ')}`);
    }
    await using session = await sandbox.session('matrix');
    await openTrials(session);
    const jobs = await driveAll(session, data);
    const trouble = jobs.flatMap((job) => job.trouble);
    yield assertionOf(data.clause, {
      name: 'the jobs of this matrix come about',
      expected: [],
      seen: trouble,
    });
    const names = namesOf(jobs);
    const calls = wrongCalls(data);
    for (const level of ['read committed', 'repeatable read', 'serializable'] as const) {
      const these = calls.filter((call) => levelOf(call, data) === level);
      how.progress(level);
      for (const name of Object.keys(data.functions)) {
        how.signal.throwIfAborted();
        const its = these.filter((call) => call.function === name);
        await session.query(`begin isolation level ${level}`);
        const outcomes = await tryAll(
          session,
          its.map((call) => trialOf(call, data, names)),
        );
        await session.query('rollback');
        for (const [index, call] of its.entries()) {
          const outcome = outcomes[index];
          const at = source.atKey(['functions', name]);
          if (outcome) yield assertionOf(data.clause, { at, ...cellOf(call, data, outcome) });
        }
      }
    }
    const pairs = calls.filter(({ faults }) => faults.length === 2).length;
    yield { is: 'count', name: 'pairs', value: pairs };
  },
};

async function driveAll(session: Session, { jobs }: PrecedenceFile): Promise<Job[]> {
  const driven: Job[] = [];
  await session.query('begin');
  for (const [name, steps] of Object.entries(jobs)) {
    driven.push(await drive(session, name, flat(steps)));
  }
  await session.query('commit');
  return driven;
}

function levelOf({ faults }: Wrong, data: PrecedenceFile): string {
  const levels = faults.map((name) => known(data.faults, name ?? '').isolation);
  return levels.find((level) => level !== undefined) ?? 'read committed';
}

function trialOf(call: Wrong, data: PrecedenceFile, names: Names): Trial {
  const plan = data.functions[call.function];
  const faults = call.faults.map((name) => known(data.faults, name ?? ''));
  const given = Object.assign(
    {},
    plan?.arguments,
    ...faults.map((fault) => fault.arguments),
  ) as Record<string, string>;
  const args = Object.entries(given)
    .map(([name, value]) => `${name} => ${sqlWith(names, value)}`)
    .join(', ');
  const sql = `public.${call.function}(${args})`;
  const settings = faults.flatMap(({ setting }) => Object.entries(setting));
  return {
    ...(settings.length === 0
      ? {}
      : { arrange: settings.flatMap(([key, value]) => plantingSql(settingSql(key, value))) }),
    call: plan?.rows
      ? `select coalesce(jsonb_agg(to_jsonb(r)), '[]') from ${sql} r`
      : `select ${sql}`,
  };
}

function settingSql(key: string, value: string): string {
  const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;
  return `update public.dot_config set value = ${quoted(value)} where key = ${quoted(key)}`;
}

function cellOf(call: Wrong, data: PrecedenceFile, outcome: Outcome): Cell {
  const plan = data.functions[call.function];
  const first = known(data.faults, call.faults[0]);
  const refusal =
    isObject(first.answer) && first.answer.refused === true ? first.answer : undefined;
  const raises = plan?.rows === true && refusal !== undefined;
  const silent = raises || plan?.stable === true || refusal === undefined;
  const expected: Json = {
    answer: first.answer,
    raised: raises ? 'D4500' : null,
    changed: [],
    elsewhere: [],
    audit: silent ? [] : [`${call.function}: refused ${refusal.reason as string}`],
  };
  const { answer, error, raised, changed, elsewhere, audit } = outcome;
  return {
    name: `${call.function}: ${call.faults.map((name) => known(data.faults, name ?? '').says).join(', and ')}`,
    expected,
    seen: {
      answer: error ?? answer,
      raised: raised ?? null,
      changed,
      elsewhere,
      audit: audit.map((one) => `${one.command}: ${auditText(one)}`),
    },
  };
}
