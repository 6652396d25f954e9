import { PassThrough } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import type { Task } from '../types.ts';
import { layoutOf } from './lines.ts';
import { startLive } from './live.ts';
import { variety } from './samples.ts';
import { styleOf } from './style.ts';

const selected = variety.map(({ clause, checks }) => ({
  clause,
  specs: checks.map(({ spec }) => spec),
  leftOut: [],
}));
const layout = layoutOf(selected, { lang: 'en', style: styleOf(false), width: 80 });

/** A terminal that only keeps what is written to it. */
function terminal() {
  const stream = Object.assign(new PassThrough(), { isTTY: true, columns: 80, rows: 24 });
  let text = '';
  stream.setEncoding('utf8').on('data', (more: string) => (text += more));
  return { stream: stream as unknown as NodeJS.WriteStream, text: () => text };
}

const task = (index: number): Task => {
  const specs = selected[index]?.specs ?? [];
  return { kind: 'pgtap', file: 'selftest/pgtap/x.sql', specs };
};

test('the last drawing has one line a clause, and the cursor is back', async () => {
  const screen = terminal();
  const live = startLive(selected, layout, screen.stream);
  live.onEvent({ is: 'phase', text: 'starting embedded' });
  live.onEvent({ is: 'ready', versionNum: 170_010 });
  live.onEvent({ is: 'task_started', task: task(1) });
  live.onEvent({ is: 'progress', task: task(1), text: 'killing\nworker \u001b[2J2' });
  for (const result of variety) {
    for (const check of result.checks) live.onEvent({ is: 'check_done', result: check });
    live.onEvent({ is: 'clause_done', result });
  }
  await live.stop();
  const lines = stripVTControlCharacters(screen.text()).trimEnd().split(/\r?\n/);
  expect(lines.slice(-variety.length).map((line) => line.slice(0, 7).trim())).toEqual([
    '✓ §1',
    '✗ §8.3',
    '○ §9',
    '~ §10',
    '– §11',
    '! §12',
  ]);
  expect(screen.text().lastIndexOf('\u001b[?25h')).toBeGreaterThan(
    screen.text().lastIndexOf('\u001b[?25l'),
  );
  expect(screen.text()).not.toContain('\u001b[2J');
});

test('stopped halfway, it ends at once and twice is once', async () => {
  const screen = terminal();
  const live = startLive(selected, layout, screen.stream);
  await live.stop();
  await live.stop();
  expect(stripVTControlCharacters(screen.text())).toContain('§8.3');
});
