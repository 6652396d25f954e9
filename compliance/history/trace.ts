/** Events as a person reads them, one line each. Pure. */
import type { Ok, Invoke, HistoryEvent } from './events.ts';
import { short } from './finding.ts';

/** One event as a line of a trace: its line in the file (from 1), its moment, who, and what. */
export function describe(event: HistoryEvent, line: number): string {
  return `${String(line + 1).padStart(6)}  ${momentOf(event)}  ${what(event)}`;
}

function momentOf(event: HistoryEvent): string {
  if ('ns' in event) return `+${(event.ns / 1e9).toFixed(6)} s`;
  if ('atUs' in event) return clock(event.atUs);
  return 'at the end';
}

/** The time of day by the database's clock, UTC, to the microsecond. */
export function clock(us: number): string {
  const micros = String(Math.round(us) % 1000).padStart(3, '0');
  return `${new Date(us / 1000).toISOString().slice(11, 23)}${micros}`;
}

function what(event: HistoryEvent): string {
  switch (event.is) {
    case 'invoke':
      return `${event.proc} (backend ${event.pid}) calls ${event.f} ${asked(event)}`;
    case 'ok':
      return `${event.proc} ${event.f} answered at ${clock(event.atUs)}: ${answered(event)}`;
    case 'fail':
      return `${event.proc} ${event.f} refused: ${event.reason}`;
    case 'info':
      return `${event.proc} ${event.f} unknown: ${event.because}`;
    case 'fault':
      return `fault ${event.kind} strikes ${event.proc}`;
    case 'gone':
      return `backend ${event.pid} is gone`;
    case 'blocked':
      return `backend ${event.pid} in ${event.running} waits for a ${event.lock} lock of ${event.by.join(', ')}`;
    case 'alarm':
      return `${event.source} names ${event.reason}${event.job === null ? '' : ` of ${short(event.job)}`}`;
    case 'emitted':
      return `event of ${short(event.job)}: ${event.type}, ${event.severity}`;
    case 'phase':
      return `phase ${event.name}`;
    case 'row':
      return `row ${short(event.job)} (${event.key}): ${event.status}, ${event.attempts} attempts`;
    case 'dead_letter':
      return `dead letter of ${short(event.job)}: ${event.code}${event.open ? '' : ', resolved'}`;
    case 'audit':
      return `audit ${event.seq} of ${short(event.job)}: ${event.command} ${event.from ?? 'new'} → ${event.to ?? '?'}${event.refused ? `, refused ${event.reason ?? ''}` : ''}`;
    case 'sweep':
      return `sweep ${event.id} ${event.command}: ${clock(event.startedUs)} to ${clock(event.finishedUs)}`;
    case 'change':
      return `row ${short(event.job)}: ${event.by} ${event.from ?? 'new'} → ${event.to ?? 'gone'}, token ${token(event.tokenWas)} → ${token(event.token)}${event.untilUs === null ? '' : `, until ${clock(event.untilUs)}`}`;
    case 'header':
      return `scenario ${event.scenario}, seed ${event.seed}`;
    case 'end':
      return 'end';
  }
}

function token(value: string | null): string {
  return value === null ? 'none' : short(value);
}

function asked({ f, args }: Invoke): string {
  switch (f) {
    case 'enqueue':
      return `of ${args.jobs.length} jobs`;
    case 'claim':
      return `of at most ${args.limit} of ${args.kinds.join(', ')}`;
    case 'reap':
    case 'promote':
      return `of at most ${args.limit}`;
    case 'replay':
      return `of dead letter ${short(args.deadLetter)}`;
    default:
      return `on job ${short(args.job)} with token ${short(args.token)}`;
  }
}

function answered({ f, answer }: Ok): string {
  switch (f) {
    case 'enqueue':
      return `${answer.results.length} results`;
    case 'claim':
      return answer.jobs
        .map(
          ({ job, token: given, untilUs, attempts }) =>
            `job ${short(job)}, token ${short(given)}, until ${clock(untilUs)}, attempt ${attempts}`,
        )
        .join('; ');
    case 'reap':
      return `${answer.reaped} reaped, ${answer.dead} dead`;
    case 'promote':
      return `${answer.promoted} promoted`;
    case 'replay':
      return `job ${short(answer.job)}`;
    default:
      return `${answer.from} → ${answer.to}${answer.already === true ? ', applied before' : ''}`;
  }
}
