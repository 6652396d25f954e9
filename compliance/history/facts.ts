/**
 * Final reads → the facts of a job's story. There are millions of them in a long run, so each keeps
 * only what a judge reads, and equal texts are kept once.
 */
import type { Audit, Change, DeadLetter, Emitted, Row } from './events.ts';
import type { JobStory } from './story.ts';

/** Gives back the first of all equal texts that it was given; for small vocabularies. */
export type Intern = <T extends string | null>(text: T) => T;

export function interner(): Intern {
  const words = new Map<string, string>();
  return (text) => {
    if (text === null) return text;
    const known = words.get(text);
    if (known !== undefined) return known as typeof text;
    words.set(text, text);
    return text;
  };
}

/** Adds a fact to its job's story; false when the line is doubled or not in its order. */
export function addFact(
  story: JobStory,
  event: Row | DeadLetter | Audit | Emitted | Change,
  line: number,
  intern: Intern,
): boolean {
  const { job } = story;
  switch (event.is) {
    case 'row': {
      const { key, priority, attempts, enqueuedUs, untilUs } = event;
      const [kind, status] = [intern(event.kind), intern(event.status)];
      const first = story.row === null;
      story.row ??= { job, key, kind, priority, status, attempts, enqueuedUs, untilUs, line };
      return first;
    }
    case 'dead_letter': {
      const { id, code, open } = event;
      const first = !story.deadLetters.some((letter) => letter.id === id);
      story.deadLetters.push({ id, job, code: intern(code), open, line });
      return first;
    }
    case 'audit': {
      const { seq, attempt, refused, atUs } = event;
      const [command, from, to] = [intern(event.command), intern(event.from), intern(event.to)];
      const reason = intern(event.reason);
      story.audits.push({ seq, job, command, from, to, attempt, refused, reason, atUs, line });
      return inOrder(story.audits);
    }
    case 'emitted': {
      const { type, severity, atUs } = event;
      story.emitted.push({ job, type: intern(type), severity: intern(severity), atUs, line });
      return true;
    }
    case 'change': {
      if (undoes(story, event)) {
        story.changes.length = 0;
        return true;
      }
      const { seq, tx, atUs, claimable, attempts, untilWasUs, untilUs } = event;
      const [by, from, to] = [intern(event.by), intern(event.from), intern(event.to)];
      const tokenWas = knownToken(story, event.tokenWas);
      const token = knownToken(story, event.token);
      const was = { tokenWas, untilWasUs, from };
      story.changes.push({
        seq,
        job,
        tx,
        by,
        atUs,
        to,
        claimable,
        attempts,
        token,
        untilUs,
        ...was,
        line,
      });
      return inOrder(story.changes);
    }
  }
}

/**
 * A row that one transaction inserts and deletes again was never there for anybody: an enqueue that
 * finds its key taken may do that.
 */
function undoes({ changes }: JobStory, { to, tx }: Change): boolean {
  return to === null && changes[0]?.from === null && changes.every((one) => one.tx === tx);
}

/** The same token as one that the story already holds, where it does. */
export function knownToken<T extends string | null>(story: JobStory, token: T): T | string {
  if (token === null) return token;
  return (
    story.grants.findLast((grant) => grant.token === token)?.token ??
    story.changes.findLast((change) => change.token === token)?.token ??
    token
  );
}

function inOrder(list: readonly { seq: number }[]): boolean {
  const [before, last] = list.slice(-2);
  return before === undefined || last === undefined || before.seq < last.seq;
}
