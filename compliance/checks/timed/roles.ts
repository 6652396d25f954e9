/** What one process of a timed scenario does, as data; see `perform.ts` for how it does it. */
export type TimedRole = {
  name: string;
  kinds: readonly string[];
  /** TTL that it claims with; null: the configured default. */
  ttlSeconds: number | null;
} &
  /** Claims one job, begins it, and kills itself with SIGKILL. */
  (
    | { does: 'die' }
    /** Claims one job and renews its lease until it is told that all is calm; then it succeeds. */
    | { does: 'renew'; everyMs: number }
    /** Claims whatever comes, at once, and succeeds. */
    | { does: 'rescue'; pollMs: number }
    /** Claims at the end of a transaction that was open for so long; then it succeeds. */
    | { does: 'claim_late'; openMs: number }
  );
