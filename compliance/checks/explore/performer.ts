/** A session that moves from stop to stop inside its calls. */
import type { Session } from '../../types.ts';
import type { Answer } from '../race/answer.ts';
import { known } from '../race/known.ts';
import { answerOf, skipsLocked, type Memory } from '../race/performer.ts';
import type { Landing, Performer } from '../race/play.ts';
import { stepNames, type SessionPlan } from '../race/scenario.ts';
import type { Gate } from './gates.ts';
import type { Stop } from './instrument.ts';

export type Actor = { session: Session; gate: Gate };

export type Stopping = {
  stops: ReadonlyMap<number, Stop>;
  /** Stops at which the session says that it is there. */
  armed: ReadonlySet<number>;
  /** Whether it shows anything, now, to let others go first at this stop. */
  matters: (stop: Stop) => boolean;
};

/** A performer of whom one can ask whether anything is left of it, whatever it would do next. */
export type SteppedPerformer = Performer & { finished(): boolean };

type Call = { step: string; answer: Promise<Answer> };

/**
 * Does the steps of a plan, held up at the stops that matter. The first stop of a call is no move of
 * its own: nothing before it can be noticed by anybody.
 */
export function stopByStop(
  plan: SessionPlan,
  { session, gate }: Actor,
  memory: Memory,
  { stops, armed, matters }: Stopping,
): SteppedPerformer {
  const names = stepNames(plan);
  let next = 0;
  let running: Call | undefined;
  let standing: Stop | undefined;

  /** Goes on to the next stop, or to the end of the call. */
  const goOn = async (call: Call, arrival: Promise<number>): Promise<Landing> => {
    const passed = standing === undefined ? [] : [describe(standing)];
    const arrived = await Promise.race([arrival, call.answer]);
    if (typeof arrived === 'number') {
      standing = known(stops.get(arrived), `stop ${arrived}`);
      return { passed };
    }
    standing = undefined;
    running = undefined;
    return { answer: arrived, passed };
  };

  const letGo = async (call: Call): Promise<Landing> => {
    const arrival = gate.arrival();
    await gate.open();
    return goOn(call, arrival);
  };

  const begin = async (): Promise<Landing> => {
    const index = next;
    const step = known(names[index], 'a next step');
    next += 1;
    if (index === 0) {
      await gate.arm(armed);
      if (plan.transaction !== 'none') await session.client.query('begin');
    }
    const arrival = gate.arrival();
    const answer = answerOf(plan.steps[index], plan, session, memory).then((its) => {
      memory.answers.set(step, its);
      return its;
    });
    running = { step, answer };
    const landing = await goOn(running, arrival);
    return landing.answer === undefined ? letGo(running) : landing;
  };

  return {
    name: plan.name,
    finished: () => running === undefined && next >= names.length,
    upcoming() {
      const step = running?.step ?? names[next];
      if (step === undefined) return undefined;
      if (standing === undefined)
        return { step, label: step, skips: skipsLocked(plan.steps[next]), alone: false };
      const { skips } = standing;
      return { step, label: describe(standing), skips, alone: !matters(standing) };
    },
    move: () => (running === undefined ? begin() : letGo(running)),
  };
}

/** `claim_rows 12: update public.job_queue q …` */
export function describe({ name, line, text }: Stop): string {
  return `${name.replace(/^\w+\./, '')} ${line}: ${text}`;
}
