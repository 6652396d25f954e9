/**
 * What a history file holds: JSON lines. A header; then operations as they happened, each an
 * `invoke` followed by `ok`, `fail` or `info`; then what was read once after the last worker
 * stopped; then `end`.
 *
 * `ok` is an answer that arrived after its transaction had committed. `fail` is certain to have
 * changed nothing but the audit: a refusal or a rolled-back transaction. `info` is unknown: the
 * process died or the answer was lost, and the call may or may not have happened.
 */
import type { Calls, Fn, Ns, Us } from './calls.ts';

/** Everything a judge must know of the queue's configuration; it did not change during the run. */
export type RunConfig = {
  maxAttempts: { default: number; byKind: Readonly<Record<string, number>> };
  ttlSeconds: { default: number; byKind: Readonly<Record<string, number>> };
  cadenceMs: number;
};
export type Header = {
  is: 'header';
  version: 1;
  scenario: string;
  seed: number;
  config: RunConfig;
  /** Facts such as `server_version_num` and `synchronous_commit`, as the server gave them. */
  server: Readonly<Record<string, string>>;
};

type Line<Is extends string> = { is: Is; op: string; proc: string; ns: Ns };
export type Invoke = {
  [F in Fn]: Line<'invoke'> & {
    f: F;
    /** The backend that ran it. */
    pid: number;
    args: Calls[F]['args'];
  };
}[Fn];
/** When and where the server ran a call: its clock just before and after, and its transaction. */
export type Ran = { fromUs: Us; atUs: Us; tx: string | null };
export type Ok = { [F in Fn]: Line<'ok'> & Ran & { f: F; answer: Calls[F]['answer'] } }[Fn];
export type Fail = Line<'fail'> & Partial<Ran> & { f: Fn; reason: string };
export type Info = Line<'info'> & { f: Fn; because: string };

/** A fault that was really struck. */
export type FaultKind =
  | 'kill_worker'
  | 'stop_worker'
  | 'terminate_backend'
  | 'cut_after_commit'
  | 'kill_reaper'
  | 'kill_server';
export type FaultEvent = { is: 'fault'; kind: FaultKind; proc: string; ns: Ns };
/** The server no longer lists this backend: whatever it was doing is over. */
export type Gone = { is: 'gone'; pid: number; ns: Ns };
/** A session that was running a call was seen waiting for a lock that another session held. */
export type Blocked = {
  is: 'blocked';
  pid: number;
  by: readonly number[];
  /** The function it was running, for example `fn_job_claim`. */
  running: string;
  /** The kind of lock, for example `transactionid` or `tuple`. */
  lock: string;
  atUs: Us;
  ns: Ns;
};
/** What the gap view or health said for the first time, while the run watched them. */
export type Alarm = {
  is: 'alarm';
  source: 'gap' | 'health';
  /** The gap's reason, or the health signal. */
  reason: string;
  job: string | null;
  atUs: Us;
  ns: Ns;
};
export type Phase = { is: 'phase'; name: 'load' | 'heal' | 'drain' | 'read'; ns: Ns };

/** A row of `job_queue` at the end. */
export type Row = {
  is: 'row';
  job: string;
  key: string;
  kind: string;
  priority: number;
  status: string;
  attempts: number;
  enqueuedUs: Us;
  /** End of the lease that it still holds. */
  untilUs: Us | null;
};
export type DeadLetter = {
  is: 'dead_letter';
  id: string;
  job: string;
  code: string;
  open: boolean;
};
/** A row of the audit that names a job. */
export type Audit = {
  is: 'audit';
  seq: number;
  job: string;
  command: string;
  from: string | null;
  to: string | null;
  attempt: number | null;
  refused: boolean;
  reason: string | null;
  atUs: Us;
};
/** An event that the queue emitted of a job (contract §6). */
export type Emitted = { is: 'emitted'; job: string; type: string; severity: string; atUs: Us };
/** One completion record of a reaper or promoter (`job_sweep`). */
export type Sweep = { is: 'sweep'; id: number; command: string; startedUs: Us; finishedUs: Us };
/**
 * One change of a row of `job_queue`, as a trigger planted in the sandbox saw it. Changes of one
 * job are in the order they happened, since each holds the row's lock.
 */
export type Change = {
  is: 'change';
  seq: number;
  job: string;
  tx: string;
  /** The function that the client's statement called. */
  by: string;
  /** The database's clock after the change. */
  atUs: Us;
  from: string | null;
  to: string | null;
  claimable: boolean;
  attempts: number;
  tokenWas: string | null;
  token: string | null;
  untilWasUs: Us | null;
  untilUs: Us | null;
};
/** The last line: without it the file was cut short. `lines` counts all lines before it. */
export type End = { is: 'end'; lines: number };

export type OpEvent = Invoke | Ok | Fail | Info;
export type HistoryEvent =
  | Header
  | OpEvent
  | FaultEvent
  | Gone
  | Blocked
  | Alarm
  | Phase
  | Row
  | DeadLetter
  | Audit
  | Emitted
  | Sweep
  | Change
  | End;
