/** The report for people: a line a clause as it finishes, then failures in full, then the last line. */
import type { ClauseStatus, Lang } from '../types.ts';
import { meaningOf } from '../verdict/exit.ts';
import type { OnEvent } from '../run/events.ts';
import { taskName } from '../run/plan.ts';
import { lastLine } from '../verdict/merge.ts';
import { failureBlocks } from './failures.ts';
import type { Layout } from './lines.ts';
import { clauseLine, layoutOf } from './lines.ts';
import { startLive, type Live } from './live.ts';
import type { Report } from './report.ts';
import { duration, type Style, styleOf, symbols, visible } from './style.ts';
import { timingLines } from './timings.ts';
import { counted, statusWord, wordsOf } from './words.ts';

export type HumanOptions = {
  write: (text: string) => void;
  color: boolean;
  width: number;
  lang: Lang;
  /** Only failures and the last line. */
  quiet: boolean;
  /** A line a check, and everything that a check tells of its progress. */
  verbose: boolean;
  timings: boolean;
  /** Drawn on while the run goes on; without it, plain lines. */
  terminal?: NodeJS.WriteStream;
  /** The first line: what is about to run. */
  heading: string;
  reproduce: (checkId: string) => string;
  /** Where the evidence was written, as the user named it. */
  evidence?: string;
};

export type Reporter = {
  onEvent: OnEvent;
  /** Ends live drawing; called on every path, before `end` and before any error is shown. */
  stop(): Promise<void>;
  end(report: Report): void;
};

export function humanReporter(options: HumanOptions): Reporter {
  const { write, lang, quiet, verbose } = options;
  const style = styleOf(options.color);
  let layout: Layout | undefined;
  let live: Live | undefined;
  const say = (line: string): void => {
    if (!quiet) write(`${line}\n`);
  };

  const onEvent: OnEvent = (event) => {
    if (event.is === 'selected') {
      layout = layoutOf(event.clauses, { lang, style, width: options.width });
      say(style.dim(options.heading));
      if (options.terminal !== undefined && !quiet && !verbose)
        live = startLive(event.clauses, layout, options.terminal);
    }
    live?.onEvent(event);
    if (live !== undefined || layout === undefined) return;
    if (event.is === 'clause_done') say(clauseLine(event.result, layout));
    if (!verbose) return;
    if (event.is === 'phase') say(style.dim(`  ${event.text}`));
    if (event.is === 'task_started') say(style.dim(`  ${taskName(event.task)}`));
    if (event.is === 'progress')
      say(style.dim(visible(`  ${event.task.specs[0]?.id ?? ''}: ${event.text}`)));
    if (event.is === 'check_done') {
      const { spec, verdict } = event.result;
      const { status } = verdict;
      say(
        `  ${style.status(status, `${symbols[status]} ${spec.id}`)}  ${statusWord(status, lang)}`,
      );
    }
  };

  return {
    onEvent,
    stop: async () => {
      await live?.stop();
    },
    end(report) {
      const blocks = failureBlocks(report, {
        lang,
        style,
        reproduce: options.reproduce,
        most: verbose ? Infinity : 5,
      });
      if (blocks.length > 0) write(`\n${blocks.join('\n')}`);
      if (options.timings) write(`\n${timingLines(report.run.spans).join('\n')}\n`);
      if (!quiet) write(`\n${summary(report, style, options)}\n`);
      write(`${lastLine(report.totals)}\n`);
    },
  };
}

/** What came of the clauses, where and how it ran, and what the exit code means. */
function summary(report: Report, style: Style, { lang, evidence }: HumanOptions): string {
  const words = wordsOf(lang);
  const { run, exit } = report;
  const facts = [
    duration(run.elapsedMs),
    `${words.seed} ${run.seed}`,
    ...(run.serverVersion === undefined ? [] : [`PostgreSQL ${run.serverVersion}`]),
    ...(evidence === undefined ? [] : [`${words.evidence}: ${evidence}`]),
  ].join(' · ');
  const code = `${words.exit} ${exit.code}: ${meaningOf(exit.code, lang)}`;
  return [
    style.dim(clauseCounts(report, lang)),
    style.dim(facts),
    exit.code === 0 ? style.dim(code) : style.bold(code),
  ].join('\n');
}

/** `17 clauses: 3 passed, 14 not reviewed`: what is not proven yet shows in a green run too. */
function clauseCounts({ clauses }: Report, lang: Lang): string {
  const counts = new Map<ClauseStatus, number>();
  for (const { status } of clauses) counts.set(status, (counts.get(status) ?? 0) + 1);
  const parts = [...counts].map(([status, count]) => `${count} ${statusWord(status, lang)}`);
  return `${counted(clauses.length, 'clause', lang)}: ${parts.join(', ')}`;
}
