/** What every figure must be over one row of the table, and over all. Pure. */
import type { Json, JsonObject } from '../json.ts';
import { flat, type Step } from '../steps.ts';
import type { Fixture, HealthFile } from './schema.ts';

/** An age that may have grown by as much as the filling of the table took, `slack` seconds. */
export function approximately(seconds: number, slack: number): Json {
  return { between: [seconds - 1, seconds + slack] };
}

/** One fixture or many, in the order in which they are driven. */
export type Row = {
  fixture: Fixture;
  kind: string;
  /** Seconds that pass after it was driven, in the steps of later ones. */
  passedSince: number;
};

/** All fixtures, each as often as it says; `only` one of them, once. */
export function rowsOf({ fixtures }: HealthFile, only?: string): Row[] {
  const named = Object.entries(fixtures).filter(([name]) => only === undefined || name === only);
  const rows = named.flatMap(([name, fixture]) =>
    Array.from({ length: only === undefined ? fixture.times : 1 }, (_, index) => ({
      fixture,
      kind: only === undefined ? `${name}_${index + 1}` : name,
    })),
  );
  return rows.map((row, index) => ({
    ...row,
    passedSince: rows
      .slice(index + 1)
      .reduce((sum, { fixture }) => sum + passing(flat(fixture.steps)), 0),
  }));
}

export function passing(steps: readonly Step[]): number {
  return steps.reduce(
    (sum, step) =>
      sum + (typeof step === 'object' && 'pass_seconds' in step ? step.pass_seconds : 0),
    0,
  );
}

/** Sum of what the rows count, greatest age of them; undefined for a signal that is a fact. */
export function signalExpectation(
  name: string,
  rows: readonly Row[],
  file: HealthFile,
  slack: number,
): Json | undefined {
  const plan = file.signals[name];
  if (plan === undefined || plan.is === 'fact') return undefined;
  if (plan.is === 'count') {
    return rows.reduce((sum, { fixture }) => sum + (fixture.signals[name] ?? 0), 0);
  }
  const ages = rows.flatMap(({ fixture, passedSince }) => {
    const age = fixture.signals[name];
    return age === undefined ? [] : [age + passedSince];
  });
  return ages.length === 0 ? null : approximately(Math.max(...ages), slack);
}

/** The answer of fn_dead_letter_health, with the oldest as seconds. */
export function deadLetterHealth(rows: readonly Row[], slack: number): Json {
  const open = rows.flatMap(({ fixture }) =>
    fixture.letters.filter(({ resolution }) => resolution === null),
  );
  const codes: Record<string, number> = {};
  for (const { failure_code: code } of open) codes[code] = (codes[code] ?? 0) + 1;
  const ages = rows.flatMap(({ fixture, passedSince }) =>
    fixture.oldest_open_seconds === undefined ? [] : [fixture.oldest_open_seconds + passedSince],
  );
  return {
    only: {
      open_count_event: open.filter(({ layer }) => layer === 'event').length,
      open_count_job: open.filter(({ layer }) => layer === 'job').length,
      oldest_first_failed_at: ages.length === 0 ? null : approximately(Math.max(...ages), slack),
      by_failure_code: { only: codes },
    },
  };
}

/** Rows of v_job_retry_pressure by kind. */
export function pressure(rows: readonly Row[]): Json {
  return {
    only: Object.fromEntries(
      rows.flatMap(({ kind, fixture }) =>
        fixture.pressure ? [[kind, { only: fixture.pressure }]] : [],
      ),
    ),
  };
}

/**
 * Rows of v_lease_active by the kind of their job. The view counts from the start of the transaction,
 * which is before the rows were made, so that a lease may have more left than it had.
 */
export function leases(rows: readonly Row[], slack: number): Json {
  return {
    only: Object.fromEntries(
      rows.flatMap(({ kind, fixture: { lease }, passedSince }) => {
        if (!lease) return [];
        const left = lease.left_seconds - passedSince;
        return [
          [
            kind,
            {
              lease_holder: lease.holder,
              ttl_remaining: { between: [left - slack, left + slack] },
            },
          ],
        ];
      }),
    ),
  };
}

/** Rows of v_dead_letter_all, sorted as run.ts sorts them. `:kind` is the kind of the fixture's job. */
export function letters(rows: readonly Row[]): JsonObject[] {
  const all = rows.flatMap(({ kind, fixture }) =>
    fixture.letters.map((letter): JsonObject => ({
      ...letter,
      event_type: letter.event_type.replace(':kind', kind),
    })),
  );
  return sortedRows(all);
}

export function sortedRows<T extends JsonObject>(rows: readonly T[]): T[] {
  const key = ({ layer, event_type, failure_code, resolution }: JsonObject): string =>
    JSON.stringify([layer, event_type, failure_code, resolution]);
  return [...rows].sort((a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0));
}
