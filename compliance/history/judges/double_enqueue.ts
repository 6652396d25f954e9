/**
 * Double enqueue: one key made two jobs, though the first was active or had just finished (contract
 * D17 keeps a finished key for longer than any run lasts).
 */
import { finding, linesOf, short, type Fault, type HistoryJudge } from '../finding.ts';
import { overlap, type At, type Digest, type Enqueue } from '../story.ts';
import type { Row } from '../events.ts';

export const doubleEnqueue: HistoryJudge = (digest) => {
  const faults: Fault[] = [];
  const rows = rowsByKey(digest);
  let contended = 0;
  for (const [key, enqueues] of digest.keys) {
    if (
      enqueues.some((one, index) => index > 0 && overlap(one.op, (enqueues[index - 1] ?? one).op))
    )
      contended += 1;
    const fault = twoRows(key, enqueues, rows.get(key) ?? []) ?? twoAnswers(key, enqueues);
    if (fault !== undefined) faults.push(fault);
  }
  const counts = { keys: digest.keys.size, contended_keys: contended };
  return finding(
    'double-enqueue',
    faults,
    counts,
    counts.keys === 0 ? ['nothing was enqueued'] : [],
  );
};

function rowsByKey({ jobs }: Digest): Map<string, At<Row>[]> {
  const rows = new Map<string, At<Row>[]>();
  for (const { row } of jobs.values()) {
    if (row === null) continue;
    const same = rows.get(row.key);
    if (same === undefined) rows.set(row.key, [row]);
    else same.push(row);
  }
  return rows;
}

function twoRows(
  key: string,
  enqueues: readonly Enqueue[],
  rows: readonly At<Row>[],
): Fault | undefined {
  const [first, second] = rows;
  if (first === undefined || second === undefined) return undefined;
  const says = `key ${key} made two jobs, ${short(first.job)} and ${short(second.job)}`;
  const answers = enqueues.filter(({ job }) => job === first.job || job === second.job);
  return {
    says,
    job: second.job,
    lines: linesOf(...answers.map(({ op }) => op.endLine), first.line, second.line),
  };
}

function twoAnswers(key: string, enqueues: readonly Enqueue[]): Fault | undefined {
  const created = enqueues.filter((one) => one.created);
  const [first, second] = created;
  if (first === undefined || second === undefined) return undefined;
  const says = `two enqueues of key ${key} were both told that they had created the job`;
  return { says, job: first.job, lines: linesOf(first.op.endLine, second.op.endLine) };
}
