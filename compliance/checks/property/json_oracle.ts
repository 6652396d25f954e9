/**
 * What an item of a batch and a payload ought to get, worked out from the contract alone and not
 * from the queue: the judge that generated JSON is held against. Pure.
 */
import { isObject } from './shape.ts';
import { charLength } from './sql_text.ts';

/** §2 "signal, not data": the limits of a payload. */
const MAX_BYTES = 8192;
const MAX_NUMBERS = 64;

/** Is this a signal? `text` is the server's own text of the jsonb. */
export function isSignal(text: string): boolean {
  const value: unknown = JSON.parse(text);
  return isObject(value) && Buffer.byteLength(text) <= MAX_BYTES && !holdsVector(value);
}

/** An array of more than 64 numbers and nothing else, at any depth. */
function holdsVector(value: unknown): boolean {
  const open: unknown[] = [value];
  for (let one = open.pop(); one !== undefined; one = open.pop()) {
    if (typeof one !== 'object' || one === null) continue;
    const inner: unknown[] = Object.values(one);
    if (
      Array.isArray(one) &&
      inner.length > MAX_NUMBERS &&
      inner.every((item) => typeof item === 'number')
    )
      return true;
    open.push(...inner.filter((item) => item !== undefined));
  }
  return false;
}

/** `unsure` where only the server can tell, as with the text of a time. */
export type Opinion = 'good' | 'bad' | 'unsure';

/** May this item be stored? Its executor must be the one that is registered. */
export function opinionOf(item: unknown, executor: string): Opinion {
  if (!isObject(item)) return 'bad';
  const opinions = [
    ...Object.entries(item).map(([key, value]) => keyOpinion(key, value)),
    ...REQUIRED.map((key) => (item[key] === undefined ? 'bad' : 'good')),
    item.executor === executor ? 'good' : 'bad',
  ];
  return opinions.includes('bad') ? 'bad' : opinions.includes('unsure') ? 'unsure' : 'good';
}

const REQUIRED = ['job_kind', 'event_domain', 'executor', 'idempotency_key', 'payload'];

function keyOpinion(key: string, value: unknown): Opinion {
  switch (key) {
    case 'job_kind':
      return typeof value === 'string' && isKind(value) ? 'good' : 'bad';
    case 'event_domain':
    case 'executor':
    case 'idempotency_key':
      return nameOpinion(value);
    case 'actor':
      return value === null ? 'good' : nameOpinion(value);
    case 'payload':
      return isSignal(JSON.stringify(value)) ? 'good' : 'bad';
    case 'priority':
      return value === null ? 'good' : integerOpinion(value);
    case 'process_after':
      if (value === null) return 'good';
      return typeof value === 'string' ? 'unsure' : 'bad';
    default:
      return 'bad';
  }
}

/** A float can hold every integer of 32 bits, but it reads 1e-400 as 0. */
function integerOpinion(value: unknown): Opinion {
  if (typeof value !== 'number' || !Number.isInteger(value)) return 'bad';
  if (value === 0) return 'unsure';
  return value >= -(2 ** 31) && value <= 2 ** 31 - 1 ? 'good' : 'bad';
}

/** dieu45_probe is for administrators, as whom the property calls. */
function isKind(text: string): boolean {
  return /^[a-z][a-z0-9_]{0,62}$/.test(text) && !['default', 'lease_reaper'].includes(text);
}

function nameOpinion(value: unknown): Opinion {
  if (typeof value !== 'string' || charLength(value) > 200) return 'bad';
  if (/[\u0001-\u001f\u007f-\u009f]/u.test(value) || /^[ ]*$/.test(value)) return 'bad';
  // Which other characters are blanks is for the server's locale to say.
  return value.trim() === '' ? 'unsure' : 'good';
}
