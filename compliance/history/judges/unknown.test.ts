import { expect, test } from 'vitest';
import { digest } from '../digest.ts';
import type { HistoryEvent } from '../events.ts';
import type { JudgeName } from '../finding.ts';
import { script, sealed } from '../simulate/script.ts';
import { drop, unlogged } from './told.ts';
import { judgeDigest, judges } from './index.ts';

const mail = (key: string, priority = 0) => ({ key, kind: 'mail', priority });

function say(name: JudgeName, events: HistoryEvent[]) {
  return judges[name](digest(events));
}

test('a lost claim is no redelivery too many: what it took is read from the row log', () => {
  const tale = script();
  tale.enqueue(mail('a'));
  tale.loseClaim('w1', ['mail']);
  tale.wait(1500);
  tale.reap();
  tale.wait(600);
  expect(tale.claim('w2', ['mail'])).toHaveLength(1);
  expect(say('over-run', tale.end())).toMatchObject({ ok: true, counts: { grants: 2 } });
});

test('a death after an unknown claim cannot be told without the row log', () => {
  const tale = script();
  tale.enqueue(mail('a'));
  for (let round = 0; round < 3; round += 1) {
    tale.loseClaim('w1', ['mail']);
    tale.wait(1500);
    tale.reap();
    tale.wait(600);
  }
  const { ok, undecidable } = say('over-run', unlogged(tale.end()));
  expect(ok).toBe(true);
  expect(undecidable.join()).toMatch(/claims are unknown/);
});

test('a claim beside an unknown one is not blamed for passing over what that one may hold', () => {
  const tale = script();
  tale.enqueue(mail('a', 1), mail('b', 0));
  tale.loseClaim('w1', ['mail']);
  tale.claim('w2', ['mail']);
  const withoutDeath = drop(tale.end(), ({ is }) => is === 'gone');
  expect(say('order', withoutDeath).ok).toBe(true);
});

test('a lease that expired and met no sweep is undecidable, not late', () => {
  const tale = script();
  tale.enqueue(mail('a'));
  tale.reap();
  tale.claim('w1', ['mail']);
  tale.wait(1500);
  tale.claim('w2', ['mail']);
  const { ok, undecidable } = say('late-reap', tale.end());
  expect(ok).toBe(true);
  expect(undecidable.join()).toMatch(/no sweep started after the lease of job .* had expired/);
});

test('an enqueue whose answer was lost may have happened: its job is expected', () => {
  const tale = script();
  tale.enqueue(mail('a'));
  tale.claim('w1', ['mail']);
  const events = tale
    .end()
    .map((event) =>
      event.is === 'ok' && event.f === 'enqueue'
        ? ({ ...event, is: 'info', because: 'the answer was lost' } as const)
        : event,
    );
  expect(say('unexpected', events as HistoryEvent[]).ok).toBe(true);
  expect(say('lost', events as HistoryEvent[]).counts).toMatchObject({ enqueued: 0, recovered: 1 });
});

test('an unsound recording makes every finding undecidable, and none passed', () => {
  const tale = script();
  tale.enqueue(mail('a'));
  tale.claim('w1', ['mail']);
  const cut = tale.end().slice(0, -1);
  for (const { undecidable } of judgeDigest(digest(cut)))
    expect(undecidable).toContain('the end is missing: the file was cut short');
});

test('a history in which nothing happened proves nothing', () => {
  for (const { judge, undecidable } of judgeDigest(digest(script().end())))
    if (judge !== 'audit-gap') expect([judge, undecidable]).not.toEqual([judge, []]);
});

test('a row that its own transaction took back was never there', () => {
  const tale = script();
  tale.enqueue(mail('a'));
  const events = tale.end();
  const inserted = events.find((event) => event.is === 'change');
  if (inserted === undefined) throw new Error('the row log is empty');
  const ghost = { ...inserted, job: 'ghost', seq: 8, tx: '99' };
  const gone = { ...ghost, seq: 9, from: 'queued', to: null };
  const haunted = sealed([...events, ghost, gone]);
  for (const name of ['lost', 'audit-gap'] as const) expect(say(name, haunted).ok).toBe(true);
  const kept = sealed([...events, ghost, { ...gone, tx: '100' }]);
  expect(say('lost', kept).ok).toBe(false);
});
