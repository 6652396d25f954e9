/**
 * The operations that a history records: for each function of the queue, what was asked and what
 * was answered (contract §4). Times are microseconds since 1970 by the database's clock.
 */

/** Microseconds since 1970-01-01 UTC, read from the database's `clock_timestamp()`. */
export type Us = number;
/** Nanoseconds of the machine's monotonic clock since the run began; comparable across processes. */
export type Ns = number;

/** One job as an enqueue names it. `dueUs` is set when it may not be claimed before then. */
export type NewJob = { key: string; kind: string; priority: number; dueUs?: Us };
/** What an enqueue says of one job; `refused` holds the refusal's code. */
export type Enqueued =
  { job: string; created: boolean; finished?: boolean } | { refused: string; job?: undefined };

/** One job as a claim hands it out: a lease. */
export type Granted = {
  job: string;
  token: string;
  untilUs: Us;
  kind: string;
  priority: number;
  attempts: number;
  maxAttempts: number;
  enqueuedUs: Us;
  /** The key that the enqueuer wrote into the payload, so that an unknown enqueue is recognised. */
  key: string | null;
};

export type ClaimArgs = {
  kinds: readonly string[];
  limit: number;
  /** Null: the configured default. */
  ttlSeconds: number | null;
  /** The claim sat in an open transaction for this long before it was committed or rolled back. */
  heldMs?: number;
};
export type LeaseArgs = { job: string; token: string };
/** What a lease call answers when it is accepted. */
export type LeaseAnswer = {
  from: string;
  to: string;
  attempts: number;
  /** New end of the lease, for a renewal. */
  untilUs?: Us;
  /** The call had been applied before; nothing changed now (contract D13). */
  already?: boolean;
};

/** Arguments and answer by function. */
export type Calls = {
  enqueue: { args: { jobs: readonly NewJob[] }; answer: { results: readonly Enqueued[] } };
  claim: { args: ClaimArgs; answer: { jobs: readonly Granted[] } };
  progress: { args: LeaseArgs; answer: LeaseAnswer };
  renew: { args: LeaseArgs & { ttlSeconds: number | null }; answer: LeaseAnswer };
  succeed: { args: LeaseArgs; answer: LeaseAnswer };
  fail_transient: { args: LeaseArgs; answer: LeaseAnswer };
  fail_permanent: { args: LeaseArgs; answer: LeaseAnswer };
  reap: {
    args: { limit: number };
    answer: { reaped: number; dead: number; skipped: readonly string[] };
  };
  promote: { args: { limit: number }; answer: { promoted: number } };
  replay: { args: { deadLetter: string }; answer: { job: string } };
};
export type Fn = keyof Calls;

/** The calls that need the current token of a lease. */
export const leaseCalls = [
  'progress',
  'renew',
  'succeed',
  'fail_transient',
  'fail_permanent',
] as const satisfies readonly Fn[];
export type LeaseCall = (typeof leaseCalls)[number];

/** Whether a function is a call on one lease. */
export function isLeaseCall(f: Fn): f is LeaseCall {
  return (leaseCalls as readonly Fn[]).includes(f);
}

/** Whether an accepted call of this function ends the lease. */
export function endsLease(f: Fn): boolean {
  return f === 'succeed' || f === 'fail_transient' || f === 'fail_permanent';
}
