import { appendFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { HistoryEvent } from './events.ts';
import { pickEvents, readHistory, writeHistory } from './file.ts';
import { told } from './judges/told.ts';
import { judgeFile } from './judge_file.ts';
import { closeOpenCalls, mergeByTime, type Timed } from './merge.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'dieu45-history-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function collect(events: AsyncIterable<HistoryEvent>): Promise<HistoryEvent[]> {
  const all: HistoryEvent[] = [];
  for await (const event of events) all.push(event);
  return all;
}

function save(name: string, events: readonly HistoryEvent[]): string {
  const path = join(folder, name);
  using file = writeHistory(path);
  events.forEach((event) => {
    file.write(event);
  });
  return path;
}

test('a history is read back as it was written', async () => {
  const path = save('good.jsonl', told());
  expect(await collect(readHistory(path))).toEqual(told());
  expect([...(await pickEvents(path, [0, 3])).values()]).toEqual([told()[0], told()[3]]);
});

test.each([
  ['{"is":"ok"', /:2: this line is not JSON/],
  ['[]', /:2: a line must be a JSON object/],
  ['{"is":"okay"}', /:2: "is" must be one of header, invoke/],
  ['{"is":"gone","pid":"7","ns":1}', /:2: gone needs "pid" as number/],
  [
    '{"is":"invoke","op":"1","proc":"w","ns":1,"f":"steal","pid":1,"args":{}}',
    /"f" must be one of/,
  ],
  [
    '{"is":"invoke","op":"1","proc":"w","ns":1,"f":"claim","pid":1,"args":{}}',
    /args of claim needs/,
  ],
])('%s is refused with file and line', async (line, message) => {
  const path = save(`bad-${Math.random()}.jsonl`, told().slice(0, 1));
  await appendFile(path, `${line}\n`);
  await expect(collect(readHistory(path))).rejects.toThrow(message);
});

test("a torn last line is left out of a killed worker's file and refused in a finished one", async () => {
  const path = save('torn.jsonl', told().slice(0, 3));
  await appendFile(path, '{"is":"gone","pi');
  expect(await collect(readHistory(path, 'drop'))).toHaveLength(3);
  await expect(collect(readHistory(path))).rejects.toThrow(/torn\.jsonl:4: /);
});

test('a call without an outcome becomes unknown, and files merge by time', () => {
  const timed = told().filter((event): event is Timed => 'ns' in event);
  const one = timed.filter((event) => 'proc' in event && event.proc === 'w1');
  const other = timed.filter((event) => !one.includes(event));
  const killed = closeOpenCalls(one.slice(0, -1), 'the process was killed');
  expect(killed.at(-1)).toMatchObject({ is: 'info', because: 'the process was killed' });
  expect(mergeByTime([one, other])).toEqual(timed);
});

test('a fault is shown by its events, a line each', async () => {
  const path = save(
    'fault.jsonl',
    told().map((event) =>
      event.is === 'row' && event.key === 'a' ? { ...event, status: 'queued' } : event,
    ),
  );
  const { findings } = await judgeFile(path, ['double-terminal']);
  expect(findings[0]?.faults[0]?.trace).toEqual([
    expect.stringMatching(
      /^ +\d+ {2}\+\d\.\d{6} s {2}w1 succeed answered at .*: in_progress → succeeded$/,
    ),
    expect.stringMatching(/^ +\d+ {2}at the end {2}row .* \(a\): queued, 1 attempts$/),
  ]);
});
