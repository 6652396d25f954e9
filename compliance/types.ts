/**
 * The vocabulary of the kit: what a check is, what it may say, and what comes of it.
 *
 * Data flows one way: manifest → task → sandbox → observations → verdict → report. A check never
 * decides its own verdict; it yields observations, and one pure function (verdict/judge.ts) turns
 * them into one. Types only: nothing here runs.
 */
import type pg from 'pg';

/** A place in a source file; line and column count from 1. */
export type Where = { file: string; line: number; col: number };

export type Lang = 'en' | 'vi';
export type Text = Readonly<Record<Lang, string>>;

export type Kind =
  'catalog' | 'pgtap' | 'race' | 'explore' | 'claimers' | 'timed' | 'matrix' | 'property' | 'plan';
export type CheckStatus =
  'passed' | 'failed' | 'error' | 'unknown' | 'not_applicable' | 'not_reviewed';
export type ClauseStatus = CheckStatus | 'waived' | 'attested';
/** What a check needs of its server beyond a database. */
export type Need = 'own_server' | 'superuser' | 'server_kill' | 'extension_files' | 'pgtap';

/** One check of one clause, as the manifest states it. */
export type CheckSpec = {
  /** `<clause>.<kebab-name>`, for example `s8.3.killed-worker-is-reaped`. */
  id: string;
  clause: string;
  /** One English sentence: what a green of this check shows. */
  title: string;
  kind: Kind;
  /** Path relative to the project root, for example `selftest/pgtap/lease.sql`; empty when planned. */
  file: string;
  params: Readonly<Record<string, unknown>>;
  /** How many assertions must arrive: fewer or more is a coverage error, never green; 0 when planned. */
  expects: number;
  /** Counts that must be reached for a green to mean anything; too little makes it unknown. */
  mustObserve: Readonly<Record<string, number>>;
  needs: readonly Need[];
  limitMs: number;
  /** First release that it applies to, and the first that it no longer does; its clause's where unset. */
  since?: string;
  until?: string;
  /** Set when the check is not built yet: why, and it is not_reviewed. */
  planned?: string;
  at: Where;
};

export type Clause = {
  id: string;
  /** For display only: `§8.3`. */
  label: string;
  title: Text;
  statement: Text;
  /** What a breach does to those who rely on the queue, and how much of that, 0–1. */
  harm?: Text;
  impact: number;
  /** First release that it applies to, and the first that it no longer does. */
  since: string;
  until?: string;
  modes: readonly ('gate' | 'validate')[];
  /** Set when the clause does not apply at all, with the reason. */
  notApplicable?: string;
  /** sha256 of the statement that the checks were last reviewed against; loading compares it. */
  textHash: string;
  checks: readonly CheckSpec[];
  at: Where;
};

export type Manifest = {
  /** Absolute path of the file, and of the folder that check files are relative to. */
  path: string;
  root: string;
  document: {
    id: string;
    version: string;
    /** The release that is judged unless told otherwise: '2.0'. */
    release: string;
    sources: readonly { file: string; sha256: string }[];
  };
  /** Key → the check or clause ids that prove it, or why it cannot be proven. */
  selfTest: Readonly<Record<string, SelfTestKey>>;
  profiles: Readonly<Record<string, Profile>>;
  clauses: readonly Clause[];
};
export type SelfTestKey =
  { provenBy: readonly string[]; at: Where } | { notApplicable: string; at: Where };
export type Profile = {
  /** Checks excluded from this profile, by id. */
  without: readonly string[];
  /** Only checks of these kinds; every kind where unset. */
  kinds?: readonly Kind[];
  /** A planned check counts against the profile (release) or is merely skipped (ci). */
  requirePlanned: boolean;
  /** Checks take whole what their files sample. */
  exhaustive: boolean;
};

/**
 * Checks that share one execution: same kind, file and params.run. One sandbox, one run; each
 * observation is then judged for the spec that it names.
 */
export type Task = {
  kind: Kind;
  file: string;
  specs: readonly CheckSpec[];
};

/** What a check may say. `check` names the spec; without it the observation is for all specs of the task. */
export type Observation = { check?: string } & (
  | {
      is: 'assertion';
      name: string;
      ok: boolean;
      expected?: string;
      seen?: string;
      at?: Where;
      /** The shortest trace that shows the fault, a line each, for people. */
      trace?: readonly string[];
    }
  | { is: 'count'; name: string; value: number }
  | { is: 'undecidable'; name: string; because: string }
  | { is: 'file'; name: string; path: string }
  | {
      is: 'measure';
      name: string;
      value: number;
      unit: 'ms' | 'buffers' | 'rows';
      bound?: readonly [number, number];
      uncertainty: number;
    }
);

/** How a task's execution ended. */
export type Ended =
  | { how: 'completed'; elapsedMs: number }
  /** `coverage`: nothing matched or a plan was short; `kit`: our own breakage. */
  | { how: 'threw'; message: string; cause: 'coverage' | 'kit'; elapsedMs: number }
  | { how: 'timed_out'; elapsedMs: number };

export type Verdict = {
  status: CheckStatus;
  /** For `error` only. */
  cause?: 'coverage' | 'kit';
  /** For `not_applicable` only: the manifest says so, or the target cannot run it. */
  by?: 'manifest' | 'target';
  /** One sentence each; empty when passed. */
  reasons: readonly string[];
};

export type CheckResult = {
  spec: CheckSpec;
  verdict: Verdict;
  observations: readonly Observation[];
  elapsedMs: number;
};
export type ClauseResult = { clause: Clause; status: ClauseStatus; checks: readonly CheckResult[] };

/** What a running check is given besides its sandbox. */
export type Run = {
  seed: number;
  /** Whatever a check's file samples is taken whole, with ten times the random cases. */
  exhaustive: boolean;
  signal: AbortSignal;
  /** Project root: `task.file` is relative to it. */
  root: string;
  /** A folder of this task alone for evidence files; the run removes it. */
  scratch: string;
  progress(text: string): void;
};
export type RunCheck = (task: Task, sandbox: Sandbox, run: Run) => AsyncIterable<Observation>;
export type Judge = (spec: CheckSpec, seen: readonly Observation[], ended: Ended) => Verdict;

/** Where a server comes from (kit.md, `--target`). */
export type Target = { name: string; open(signal: AbortSignal): Promise<Server> };

/** A running PostgreSQL server that the kit may create databases on. */
export type Server = AsyncDisposable & {
  /** As `server_version_num`: 170010. */
  versionNum: number;
  can: ReadonlySet<Need>;
  /** Connection settings for a database of this server, superuser where the target has one. */
  connection(database: string): pg.ClientConfig;
  /** Builds a template database once, by name; later sandboxes are cloned from it. */
  template(name: string, build: (session: Session) => Promise<void>): Promise<void>;
  /** A fresh database cloned from a template. */
  sandbox(template: string): Promise<Sandbox>;
  /** SIGKILL of the whole server, and start again; embedded only. */
  kill?(): Promise<void>;
  restart?(): Promise<void>;
};

/** One database of one check. Disposing it closes every session. */
export type Sandbox = AsyncDisposable & {
  database: string;
  /** A libpq URL, for worker processes. Holds no password for embedded targets. */
  url: string;
  server: Server;
  /** A named session (application_name); with a role, `set role` was done. */
  session(name: string, role?: string): Promise<Session>;
  /** Runs SQL that breaks or rigs something in this database, as its owner. */
  plant(sql: string): Promise<void>;
  /** Time travel: shifts every timestamp of the queue's rows into the past. Data moves, never the clock. */
  shift(seconds: number): Promise<void>;
};

/** One connection. `query` returns rows as plain objects; errors carry `code` (SQLSTATE). */
export type Session = AsyncDisposable & {
  name: string;
  pid: number;
  client: pg.Client;
  query<Row extends Record<string, unknown> = Record<string, unknown>>(
    sql: string,
    values?: readonly unknown[],
  ): Promise<Row[]>;
};
