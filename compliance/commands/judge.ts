/** `judge HISTORY`: judges one recorded history alone, as the gate would. */
import { resolve } from 'node:path';
import { KitError } from '../errors.ts';
import { judgeNames, type JudgeName } from '../history/finding.ts';
import { judgeFile, type ShownFinding } from '../history/judge_file.ts';
import { nearest } from '../manifest/suggest.ts';
import { styleOf, symbols, type Style } from '../report/style.ts';
import type { CheckStatus } from '../types.ts';
import { type ExitCode, exits } from '../verdict/exit.ts';
import type { Io } from './io.ts';

export type JudgeOptions = {
  history: string;
  /** Names of judges; empty means all. */
  only: readonly string[];
};

/**
 * One line a judge, with the trace of each fault; the last line counts them.
 *
 * @returns 0; 1 when a judge found a fault; 2 when one cannot tell.
 * @throws KitError 64 for an unknown judge or a file that cannot be read, 65 when it is no history.
 */
export async function judge({ history, only }: JudgeOptions, io: Io): Promise<ExitCode> {
  const names = only.length === 0 ? judgeNames : only.map(nameOf);
  const { digest, findings } = await judgeFile(resolve(io.cwd, history), names);
  const style = styleOf(io.color);
  const { scenario, seed } = digest.header;
  io.out.write(
    `${history}: ${scenario}, seed ${seed}, ${digest.lines} lines, ${digest.jobs.size} jobs\n`,
  );
  for (const finding of findings) io.out.write(linesOf(finding, style).join('\n') + '\n');
  const count = (status: CheckStatus): number =>
    findings.filter((finding) => statusOf(finding) === status).length;
  const [failed, unknown] = [count('failed'), count('unknown')];
  io.out.write(`${count('passed')} passed, ${failed} failed, ${unknown} undecidable\n`);
  if (failed > 0) return exits.failed;
  return unknown > 0 ? exits.unproven : exits.passed;
}

function nameOf(text: string): JudgeName {
  const known = judgeNames.find((name) => name === text);
  if (known !== undefined) return known;
  const hint = nearest(text, judgeNames);
  throw new KitError(
    exits.usage,
    `there is no judge "${text}"${hint === undefined ? '' : `; did you mean ${hint}?`}`,
    `the judges are ${judgeNames.join(', ')}`,
  );
}

function statusOf({ ok, undecidable }: ShownFinding): 'passed' | 'failed' | 'unknown' {
  if (!ok) return 'failed';
  return undecidable.length > 0 ? 'unknown' : 'passed';
}

function linesOf(finding: ShownFinding, style: Style): string[] {
  const status = statusOf(finding);
  const counts = Object.entries(finding.counts).map(([name, value]) => `${name} ${value}`);
  const head = `${symbols[status]} ${finding.judge.padEnd(16)}`;
  const lines = [`${style.status(status, head)} ${style.dim(counts.join(', '))}`];
  for (const { says, trace } of finding.faults)
    lines.push(`    ${says}`, ...trace.map((line) => style.dim(`    ${line}`)));
  const hidden = finding.found - finding.faults.length;
  if (hidden > 0) lines.push(`    and ${hidden} more`);
  for (const reason of finding.undecidable.slice(0, 3)) lines.push(`    cannot tell: ${reason}`);
  return lines;
}
