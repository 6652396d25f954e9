/** History files: written line by line, read as a stream, never held whole in memory. */
import { createReadStream, openSync, closeSync, writeSync } from 'node:fs';
import { KitError, messageOf } from '../errors.ts';
import { exits } from '../verdict/exit.ts';
import type { HistoryEvent } from './events.ts';
import { parseEvent } from './parse.ts';

export type HistoryWriter = Disposable & { write(event: HistoryEvent): void };

/**
 * Opens a history for appending. Each event is handed to the operating system before `write`
 * returns, so that it outlives a SIGKILL of this process.
 */
export function writeHistory(path: string): HistoryWriter {
  const file = openSync(path, 'a');
  return {
    write: (event) => {
      writeSync(file, `${JSON.stringify(event)}\n`);
    },
    [Symbol.dispose]: () => {
      closeSync(file);
    },
  };
}

/**
 * The events of a file in order. Lines count from 1 in messages.
 * @param torn What to do with a last line that has no line end: a writer that was killed may leave
 *   one. `drop` for the files of worker processes, `refuse` for a finished history.
 * @throws KitError 65 naming file and line when a line is no event.
 */
export async function* readHistory(
  path: string,
  torn: 'drop' | 'refuse' = 'refuse',
): AsyncGenerator<HistoryEvent> {
  let number = 0;
  for await (const { text, whole } of linesOf(path)) {
    number += 1;
    if (!whole && torn === 'drop') return;
    const event = parseEvent(text);
    if (typeof event === 'string')
      throw new KitError(
        exits.manifest,
        `${path}:${number}: ${event}`,
        'a history is written by `dieu45 gate --out DIR`, under DIR/evidence',
      );
    yield event;
  }
}

/** The events of the given lines (counted from 0), in that order; used to show a trace. */
export async function pickEvents(
  path: string,
  lines: readonly number[],
): Promise<Map<number, HistoryEvent>> {
  const wanted = new Set(lines);
  const found = new Map<number, HistoryEvent>();
  let number = 0;
  for await (const event of readHistory(path)) {
    if (wanted.has(number)) found.set(number, event);
    if (found.size === wanted.size) break;
    number += 1;
  }
  return found;
}

async function* linesOf(path: string): AsyncGenerator<{ text: string; whole: boolean }> {
  const stream = createReadStream(path, { encoding: 'utf8', highWaterMark: 1 << 20 });
  let rest = '';
  try {
    for await (const chunk of stream) {
      const parts = (rest + String(chunk)).split('\n');
      rest = parts.pop() ?? '';
      for (const text of parts) yield { text, whole: true };
    }
  } catch (error) {
    throw new KitError(exits.usage, `${path} cannot be read: ${messageOf(error)}`);
  }
  if (rest !== '') yield { text: rest, whole: false };
}
