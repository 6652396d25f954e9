/** The words of `scripts/bench`. Pure. */
import { parseArgs } from 'node:util';
import { KitError, messageOf } from '../errors.ts';

export type BenchOptions = {
  /** As `--target` of the gate takes it. */
  target: string;
  rounds: number;
  seconds: number;
  /** Ready jobs that a round begins with. */
  jobs: number;
  clients: readonly number[];
  batches: readonly number[];
};

export const USAGE =
  'usage: scripts/bench [--target embedded] [--rounds 5] [--seconds 2] [--jobs 5000] [--clients 1,4] [--batches 1,50]';

/** @throws KitError 64 */
export function readOptions(args: readonly string[]): BenchOptions {
  const values = parsed(args);
  return {
    target: values.target,
    rounds: whole('rounds', values.rounds),
    seconds: whole('seconds', values.seconds),
    jobs: whole('jobs', values.jobs),
    clients: values.clients.split(',').map((text) => whole('clients', text)),
    batches: values.batches.split(',').map((text) => whole('batches', text)),
  };
}

function parsed(args: readonly string[]): Record<keyof BenchOptions, string> {
  try {
    return parseArgs({
      args: [...args],
      options: {
        target: { type: 'string', default: 'embedded' },
        rounds: { type: 'string', default: '5' },
        seconds: { type: 'string', default: '2' },
        jobs: { type: 'string', default: '5000' },
        clients: { type: 'string', default: '1,4' },
        batches: { type: 'string', default: '1,50' },
      },
    }).values;
  } catch (error) {
    throw new KitError(64, messageOf(error), USAGE);
  }
}

function whole(name: string, text: string): number {
  if (/^[1-9][0-9]{0,6}$/.test(text)) return Number(text);
  throw new KitError(64, `--${name} takes whole numbers above 0, not "${text}"`, USAGE);
}
