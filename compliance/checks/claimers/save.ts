/** The parts of a run → one history file. */
import { appendFile, open } from 'node:fs/promises';
import type { Header } from '../../history/events.ts';
import { readHistory } from '../../history/file.ts';
import { closeOpenCalls, mergeByTime, type Timed } from '../../history/merge.ts';
import type { Session } from '../../types.ts';
import { finalLines } from './finals.ts';

export type Parts = {
  path: string;
  session: Session;
  header: Pick<Header, 'scenario' | 'seed' | 'config'>;
  /** The files of the worker processes; one that never connected wrote none. */
  files: readonly string[];
  /** The coordinator's events. */
  own: readonly Timed[];
};

/** Writes header, merged events, final reads and end. */
export async function saveHistory({ path, session, header, files, own }: Parts): Promise<void> {
  const streams: Timed[][] = [own.toSorted((a, b) => a.ns - b.ns)];
  for (const file of files) {
    const events: Timed[] = [];
    await appendFile(file, '');
    for await (const event of readHistory(file, 'drop')) if ('ns' in event) events.push(event);
    streams.push(closeOpenCalls(events, 'its process was killed'));
  }
  const first: Header = {
    is: 'header',
    version: 1,
    ...header,
    server: await serverFacts(session),
  };
  await using file = await open(path, 'w');
  let lines = 0;
  let text = '';
  const write = async (line: string): Promise<void> => {
    lines += 1;
    text += `${line}\n`;
    if (text.length < 1 << 20) return;
    await file.write(text);
    text = '';
  };
  await write(JSON.stringify(first));
  for (const event of mergeByTime(streams)) await write(JSON.stringify(event));
  for await (const line of finalLines(session)) await write(line);
  await file.write(`${text}${JSON.stringify({ is: 'end', lines })}\n`);
}

async function serverFacts(session: Session): Promise<Record<string, string>> {
  const rows = await session.query<{ name: string; setting: string }>(
    `select name, setting from pg_catalog.pg_settings
      where name in ('server_version_num', 'synchronous_commit', 'fsync', 'TimeZone',
                     'default_transaction_isolation')
      order by name`,
  );
  return Object.fromEntries(rows.map(({ name, setting }) => [name, setting]));
}
