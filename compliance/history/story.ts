/**
 * A history as the judges read it: operations with their outcomes, and for each job its story.
 * Each part keeps the line it came from (counted from 0), so that a fault can name its evidence.
 */
import type { Fn, Ns, Us } from './calls.ts';
import type {
  Alarm,
  Audit,
  Blocked,
  Change,
  DeadLetter,
  Emitted,
  FaultEvent,
  Header,
  Row,
  Sweep,
} from './events.ts';

/** What an event carries once its line is known. */
export type At<Event> = Omit<Event, 'is'> & { line: number };

/** One operation, from its invocation to what became of it. */
export type Op = {
  id: string;
  proc: string;
  pid: number;
  f: Fn;
  /** Line of the invocation, and of the outcome (the invocation's again when there is none). */
  line: number;
  endLine: number;
  startNs: Ns;
  /** When its outcome was known to its process; for an unknown one when its backend was gone, or Infinity. */
  endNs: Ns;
  end: 'ok' | 'fail' | 'info';
  /** Why it failed: a refusal's code or an SQLSTATE. */
  reason: string | null;
  /** The server's clock just before and after it; NaN when no answer came. */
  fromUs: Us;
  atUs: Us;
  tx: string | null;
  /** The job and token it named; null for calls that name none. */
  job: string | null;
  token: string | null;
  /** An accepted lease call: the state it led to, whether it only repeated, the new end of the lease. */
  to: string | null;
  already: boolean;
  untilUs: Us | null;
  /** The jobs that an enqueue named. */
  enqueues: readonly Enqueue[] | null;
};
export type ClaimOp = Op & {
  kinds: readonly string[];
  limit: number;
  ttlSeconds: number | null;
  heldMs: number;
  grants: readonly Grant[];
};
export type ReapOp = Op & {
  limit: number;
  reaped: number;
  dead: number;
  skipped: readonly string[];
};

/** One job of one enqueue call. */
export type Enqueue = {
  op: Op;
  key: string;
  kind: string;
  priority: number;
  dueUs: Us | null;
  /** Null when the outcome is unknown or it was refused. */
  job: string | null;
  created: boolean;
};

/** A lease that a claim's answer handed out. */
export type Grant = {
  op: ClaimOp;
  job: string;
  token: string;
  untilUs: Us;
  kind: string;
  priority: number;
  attempts: number;
  enqueuedUs: Us;
  key: string | null;
};

export type JobStory = {
  job: string;
  enqueues: Enqueue[];
  grants: Grant[];
  /** Calls that named the job: lease calls, and replays. */
  calls: Op[];
  changes: At<Change>[];
  audits: At<Audit>[];
  row: At<Row> | null;
  deadLetters: At<DeadLetter>[];
  emitted: At<Emitted>[];
};

export type Digest = {
  header: Header;
  /** All lines that were read. */
  lines: number;
  ops: readonly Op[];
  claims: readonly ClaimOp[];
  reaps: readonly ReapOp[];
  jobs: ReadonlyMap<string, JobStory>;
  /** Enqueues by key, in the order of their calls, whatever came of them. */
  keys: ReadonlyMap<string, readonly Enqueue[]>;
  /** Keys of enqueues whose outcome is unknown. */
  unknownKeys: ReadonlySet<string>;
  sweeps: readonly At<Sweep>[];
  blocked: readonly At<Blocked>[];
  /** The operation that ran in a transaction, where its answer arrived. */
  opOfTx: ReadonlyMap<string, Op>;
  /** The faults that were struck. */
  faults: readonly At<FaultEvent>[];
  alarms: readonly At<Alarm>[];
  /** Whether the trigger's log of row changes is part of the history. */
  logged: boolean;
  /** What is wrong with the recording itself; a judge can trust nothing then. */
  malformed: readonly string[];
};

/** The story of a job, begun when it is first heard of. */
export function storyOf(jobs: Map<string, JobStory>, job: string): JobStory {
  let story = jobs.get(job);
  if (story === undefined) {
    story = {
      job,
      enqueues: [],
      grants: [],
      calls: [],
      changes: [],
      audits: [],
      row: null,
      deadLetters: [],
      emitted: [],
    };
    jobs.set(job, story);
  }
  return story;
}

/** Whether two operations may have run at the same moment. */
export function overlap(a: Op, b: Op): boolean {
  return a.startNs <= b.endNs && b.startNs <= a.endNs;
}
