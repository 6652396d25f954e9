import { test } from 'vitest';
import { run } from './index.ts';
import { installQueue, openServer, runCheck } from '../race/testing.ts';
test('explore', async () => {
  await using server = await openServer();
  await server.template('queue', installQueue);
  await using sandbox = await server.sandbox('queue');
  const t = performance.now();
  const seen = await runCheck(
    run,
    process.env.RACE ?? 'selftest/explore/reap-and-complete.yaml',
    sandbox,
  );
  console.log(performance.now() - t);
  for (const x of seen)
    if (x.is === 'assertion' && !x.ok)
      console.log(x.name, '\n', x.expected, '\n', x.seen, '\n', (x.trace ?? []).join('\n'));
  const sums: Record<string, number> = {};
  for (const one of seen)
    if (one.is === 'count') sums[one.name] = (sums[one.name] ?? 0) + one.value;
  console.log(sums);
}, 900000);
