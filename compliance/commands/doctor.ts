/** `doctor`: what is here, what is missing, and what to type. It changes nothing. */
import { styleOf } from '../report/style.ts';
import { type ExitCode, exits } from '../verdict/exit.ts';
import { lookAround } from './doctor_looks.ts';
import type { Io } from './io.ts';

const symbols = { here: '✓', missing: '–', needed: '✗' } as const;
const statuses = { here: 'passed', missing: 'not_reviewed', needed: 'failed' } as const;

/** @returns 0 when the gate can run here with its default target, else 69. */
export async function doctor(io: Io): Promise<ExitCode> {
  const findings = await lookAround(io);
  const style = styleOf(io.color);
  const columns = Math.max(...findings.map(({ name }) => name.length));
  for (const { name, state, text, hint } of findings) {
    const symbol = style.status(statuses[state], symbols[state]);
    io.out.write(`${symbol} ${name.padEnd(columns)}  ${text}\n`);
    if (hint !== undefined) io.out.write(style.dim(`  ${' '.repeat(columns)}  → ${hint}\n`));
  }
  const broken = findings.some(({ state }) => state === 'needed');
  io.out.write(`\n${broken ? 'the gate cannot run here yet' : `ready: ${io.self} gate`}\n`);
  return broken ? exits.target : exits.passed;
}
