/** The sessions of one scenario and the state they begin in; opened once, used for every order. */
import { messageOf } from '../../errors.ts';
import type { Sandbox, Session, Where } from '../../types.ts';
import { ask, captured, type Answer } from './answer.ts';
import { stepByStep, type Memory } from './performer.ts';
import type { Performer } from './play.ts';
import { isStatement, type Scenario } from './scenario.ts';
import { openStage, type Stage } from './stage.ts';
import { ADVANCE, REWIND, steerClock } from './steer.ts';
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
  /** How many functions read the steered clock; 0 when the real one is read. */
  steered: number;
  prepare(scenario: Scenario): Promise<Variables>;
  cast(scenario: Scenario, memory: Memory): Performer[];
};

/** The set-up of a scenario did not do what it must; `code` is the server's SQLSTATE, if it spoke. */
export type SetupFailure = Error & { at?: Where; code?: string };

type Opening = {
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
  const steered = opening.clock === 'steered' ? await steerClock(control) : 0;
  const stage = await openStage(sandbox, control);
  const pids = new Map([...sessions].map(([name, { pid }]) => [name, pid]));
  return {
    control,
    locker,
    stage,
    sessions,
    watch: watcher(control, pids),
    steered,
    async prepare(scenario) {
      await stage.reset();
      if (steered > 0) await control.query(REWIND);
      return setUp(scenario, sandbox, control);
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

async function setUp(scenario: Scenario, sandbox: Sandbox, control: Session): Promise<Variables> {
  let variables: Variables = { ...unset(scenario), ...scenario.variables };
  for (const step of scenario.setup) {
    if (isStatement(step)) {
      const answer = await ask(control, step.sql, variables);
      refuseFailure(answer, step.at);
      variables = { ...variables, ...captured(answer, step.capture) };
    } else if ('shiftSeconds' in step) {
      await sandbox.shift(step.shiftSeconds);
    } else {
      await ask(control, ADVANCE, { seconds: step.advanceSeconds });
    }
  }
  return variables;
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
