/** The sessions of one scenario and the state they begin in; opened once, used for every order. */
import { messageOf } from '../../errors.ts';
import type { Sandbox, Session, Where } from '../../types.ts';
import { ask, captured, type Answer } from './answer.ts';
import { stepByStep, type Memory } from './performer.ts';
import type { Performer } from './play.ts';
import { isStatement, type Scenario } from './scenario.ts';
import { openStage, type Stage } from './stage.ts';
import { SET_AHEAD, steerClock } from './steer.ts';
import type { Variables } from './variables.ts';
import { watcher, type Watcher } from './watcher.ts';
import { known } from './known.ts';

export type Theatre = AsyncDisposable & {
  /** Sets up, reads and compares; never part of a scenario. */
  control: Session;
  /** Holds rows in serial replays. */
  locker: Session;
  stage: Stage;
  sessions: ReadonlyMap<string, Session>;
  watch: Watcher;
  /** What it found: `steered_functions` read the steered clock, 0 when the real one is read. */
  counts: Readonly<Record<string, number>>;
  /** Brings the database into the state that the orders of this scenario begin in. */
  prepare(scenario: Scenario): Promise<Variables>;
  /** Those who play an order; `whole`: a move is a whole step, whatever it is in orders. */
  cast(scenario: Scenario, memory: Memory, whole?: 'whole'): Performer[];
};

/** The set-up of a scenario did not do what it must; `code` is the server's SQLSTATE, if it spoke. */
export type SetupFailure = Error & { at?: Where; code?: string };

/**
 * The state after the set-up is kept and put back before each order. After this long it is made anew,
 * or leases that the set-up was granted could run out.
 */
const SETUP_AGE_MS = 20_000;

export type Opening = {
  /** Names and roles of the sessions, the same in every case. */
  sessions: readonly { name: string; role?: string }[];
  clock: Scenario['clock'];
};

/** Opens the sessions, remembers the state, and steers the clock where the scenario wants that. */
export async function openTheatre(sandbox: Sandbox, opening: Opening): Promise<Theatre> {
  // What fails on the way is closed with the sandbox.
  const opened: Session[] = [];
  const open = async (name: string, role?: string): Promise<Session> => {
    const session = await sandbox.session(name, role);
    opened.push(session);
    return session;
  };
  const control = await open('race control');
  const locker = await open('race locker');
  const sessions = new Map<string, Session>();
  for (const { name, role } of opening.sessions) sessions.set(name, await open(name, role));
  // The detector should end a deadlock soon; only a superuser may say so.
  if (sandbox.server.can.has('superuser')) {
    for (const { client } of sessions.values()) {
      await client.query(`select set_config('deadlock_timeout', '50ms', false)
                            from pg_catalog.pg_roles where rolname = session_user and rolsuper`);
    }
  }
  const { clock } = opening;
  const steered = clock === 'steered' ? await steerClock(control) : 0;
  const superuser = sandbox.server.can.has('superuser');
  const stage = await openStage(await open('race keeper'), superuser);
  let ready: { setup: Scenario['setup']; captured: Variables; at: number } | undefined;
  const pids = new Map([...sessions].map(([name, { pid }]) => [name, pid]));
  return {
    control,
    locker,
    stage,
    sessions,
    watch: watcher(control, pids),
    counts: { steered_functions: steered },
    async prepare(scenario) {
      const fresh = ready !== undefined && performance.now() - ready.at < SETUP_AGE_MS;
      if (!fresh || ready?.setup !== scenario.setup) {
        await stage.clear();
        if (clock === 'steered') await ask(control, SET_AHEAD, { seconds: 0 });
        const captured = await setUp(scenario, sandbox, control);
        await stage.save();
        ready = { setup: scenario.setup, captured, at: performance.now() };
      } else {
        await stage.restore();
      }
      const seconds = advancedIn(scenario);
      if (clock === 'steered') await ask(control, SET_AHEAD, { seconds });
      return { ...unset(scenario), ...scenario.variables, ...ready.captured };
    },
    cast: (scenario, memory) =>
      scenario.sessions.map((plan) =>
        stepByStep(plan, known(sessions.get(plan.name), plan.name), memory),
      ),
    async [Symbol.asyncDispose]() {
      await Promise.all(opened.map((session) => session[Symbol.asyncDispose]()));
    },
  };
}

/** How far ahead the set-up leaves the steered clock. */
function advancedIn({ setup }: Scenario): number {
  return setup.reduce((sum, step) => sum + ('advanceSeconds' in step ? step.advanceSeconds : 0), 0);
}

/** Runs the set-up and returns what it captured. */
async function setUp(scenario: Scenario, sandbox: Sandbox, control: Session): Promise<Variables> {
  let found: Variables = {};
  let ahead = 0;
  for (const step of scenario.setup) {
    if (isStatement(step)) {
      const answer = await ask(control, step.sql, { ...scenario.variables, ...found });
      refuseFailure(answer, step.at);
      found = { ...found, ...captured(answer, step.capture) };
    } else if ('shiftSeconds' in step) {
      await sandbox.shift(step.shiftSeconds);
    } else {
      ahead += step.advanceSeconds;
      await ask(control, SET_AHEAD, { seconds: ahead });
    }
  }
  return found;
}

/** What steps capture is null until they have run. */
function unset({ sessions, setup }: Scenario): Variables {
  const captures = [
    ...sessions.flatMap(({ steps }) => steps),
    ...setup.filter((step) => isStatement(step)),
  ].flatMap(({ capture }) => Object.keys(capture));
  return Object.fromEntries(captures.map((name) => [name, null]));
}

/** An error, or a refusal, which is a value: neither may be taken for a set-up. */
function refuseFailure(answer: Answer, at: Where): void {
  const where = `${at.file}:${at.line}:${at.col}`;
  if (answer.is === 'error') {
    throw Object.assign(new Error(`${where}: the set-up failed: ${answer.message}`), {
      at,
      code: answer.code,
    });
  }
  const refused = answer.is === 'value' && (answer.value as { refused?: unknown } | null)?.refused;
  if (refused === true) {
    throw Object.assign(new Error(`${where}: the set-up was refused: ${JSON.stringify(answer)}`), {
      at,
    });
  }
}

/** Reads a thrown set-up failure; undefined when it was something else. */
export function setupFailure(
  thrown: unknown,
): { message: string; code?: string; at: Where } | undefined {
  const { at, code } = thrown as { at?: Where; code?: string };
  if (at === undefined) return undefined;
  return { message: messageOf(thrown), at, ...(code === undefined ? {} : { code }) };
}
