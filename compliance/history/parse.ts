/** One line of a history file → an event, or an error that says what is wrong with it. Pure. */
import type { HistoryEvent } from './events.ts';
import type { Fn } from './calls.ts';

type Shape = Readonly<Record<string, 'string' | 'number' | 'boolean' | 'object' | 'any'>>;

const line: Shape = { op: 'string', proc: 'string', ns: 'number', f: 'string' };
/** The fields that must be there, by the kind of event. `object` is never null. */
const shapes: Readonly<Record<HistoryEvent['is'], Shape>> = {
  header: { version: 'number', seed: 'number', scenario: 'string', config: 'object' },
  invoke: { ...line, pid: 'number', args: 'object' },
  ok: { ...line, fromUs: 'number', atUs: 'number', tx: 'any', answer: 'object' },
  fail: { ...line, reason: 'string' },
  info: { ...line, because: 'string' },
  fault: { kind: 'string', proc: 'string', ns: 'number' },
  gone: { pid: 'number', ns: 'number' },
  blocked: { pid: 'number', by: 'object', running: 'string', lock: 'string', ns: 'number' },
  alarm: { source: 'string', reason: 'string', job: 'any', atUs: 'number', ns: 'number' },
  phase: { name: 'string', ns: 'number' },
  row: { job: 'string', key: 'string', kind: 'string', status: 'string', attempts: 'number' },
  dead_letter: { id: 'string', job: 'string', code: 'string', open: 'boolean' },
  audit: { seq: 'number', job: 'string', command: 'string', refused: 'boolean' },
  emitted: { job: 'string', type: 'string', severity: 'string', atUs: 'number' },
  sweep: { id: 'number', command: 'string', startedUs: 'number', finishedUs: 'number' },
  change: { seq: 'number', job: 'string', tx: 'string', by: 'string', atUs: 'number' },
  end: { lines: 'number' },
};

/** What each call's arguments and answer must hold for a judge to read them. */
const argsOf: Readonly<Record<Fn, Shape>> = {
  enqueue: { jobs: 'object' },
  claim: { kinds: 'object', limit: 'number' },
  progress: { job: 'string', token: 'string' },
  renew: { job: 'string', token: 'string' },
  succeed: { job: 'string', token: 'string' },
  fail_transient: { job: 'string', token: 'string' },
  fail_permanent: { job: 'string', token: 'string' },
  reap: { limit: 'number' },
  promote: { limit: 'number' },
  replay: { deadLetter: 'string' },
};
const lease: Shape = { from: 'string', to: 'string', attempts: 'number' };
const answerOf: Readonly<Record<Fn, Shape>> = {
  enqueue: { results: 'object' },
  claim: { jobs: 'object' },
  progress: lease,
  renew: lease,
  succeed: lease,
  fail_transient: lease,
  fail_permanent: lease,
  reap: { reaped: 'number', dead: 'number', skipped: 'object' },
  promote: { promoted: 'number' },
  replay: { job: 'string' },
};

/** The event, or a text that says why the line is none. */
export function parseEvent(text: string): HistoryEvent | string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return 'this line is not JSON';
  }
  if (!isObject(value)) return 'a line must be a JSON object';
  const is = value.is;
  if (typeof is !== 'string' || !Object.hasOwn(shapes, is))
    return `"is" must be one of ${Object.keys(shapes).join(', ')}`;
  const problem = missing(value, shapes[is as HistoryEvent['is']], is) ?? callProblem(value, is);
  return problem ?? (value as HistoryEvent);
}

function callProblem(value: Record<string, unknown>, is: string): string | undefined {
  const f = value.f;
  if (f === undefined) return undefined;
  if (typeof f !== 'string' || !Object.hasOwn(argsOf, f))
    return `"f" must be one of ${Object.keys(argsOf).join(', ')}`;
  if (is === 'invoke')
    return missing(value.args as Record<string, unknown>, argsOf[f as Fn], `args of ${f}`);
  if (is === 'ok')
    return missing(value.answer as Record<string, unknown>, answerOf[f as Fn], `answer of ${f}`);
  return undefined;
}

function missing(value: Record<string, unknown>, shape: Shape, of: string): string | undefined {
  for (const field in shape) {
    const wanted = shape[field];
    const found = value[field];
    if (wanted === 'any' ? found !== undefined : typeof found === wanted && found !== null)
      continue;
    return `${of} needs "${field}"${wanted === 'any' ? '' : ` as ${String(wanted)}`}`;
  }
  return undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
