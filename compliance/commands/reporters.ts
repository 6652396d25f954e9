/** `--reporter name[:path]`: who reads a run, and where what they write goes. */
import { appendFile, mkdir, writeFile } from 'node:fs/promises';
import { dirname, relative, resolve } from 'node:path';
import { KitError, messageOf } from '../errors.ts';
import { didYouMean } from '../manifest/suggest.ts';
import { humanReporter, type HumanOptions } from '../report/human.ts';
import type { Report } from '../report/report.ts';
import type { OnEvent } from '../run/events.ts';
import { exits } from '../verdict/exit.ts';
import type { GateOptions } from './gate.ts';
import type { Io } from './io.ts';

export type Reporters = {
  onEvent: OnEvent;
  /** Ends live drawing; safe to call twice. */
  stop(): Promise<void>;
  /** Writes every report. @throws KitError 64 when a file cannot be written. */
  end(report: Report): Promise<void>;
};

type Wanted = { name: string; path: string | undefined };

/** Each of these is a pure function of the report, loaded when it is asked for. */
const machines: Readonly<Record<string, () => Promise<(report: Report) => string>>> = {
  json: async () => (await import('../report/json.ts')).toJson,
  junit: async () => (await import('../report/junit.ts')).toJunit,
  ctrf: async () => (await import('../report/ctrf.ts')).toCtrf,
  tap: async () => (await import('../report/tap.ts')).toTap,
  md: async () => (await import('../report/md.ts')).toMarkdown,
};

/** The names that `--reporter` knows. */
export const reporterNames = ['cli', ...Object.keys(machines)];

/**
 * The reporters that were asked for. The report for people goes to standard output unless a machine
 * report without a path takes its place.
 *
 * @throws KitError 64 for an unknown name, or when two of them want standard output.
 */
export function openReporters(
  options: Pick<GateOptions, 'reporters' | 'lang' | 'quiet' | 'verbose' | 'timings' | 'out'>,
  io: Io,
  run: Pick<HumanOptions, 'heading' | 'reproduce'>,
): Reporters {
  const wanted = options.reporters.map((text) => parseReporter(text, io.env));
  const toStdout = wanted.filter(({ path }) => path === undefined);
  if (toStdout.length > 1)
    throw new KitError(
      exits.usage,
      `only one reporter can have standard output, not ${toStdout.map(({ name }) => name).join(' and ')}`,
      'give the others a path: --reporter junit:junit.xml',
    );
  const onScreen = toStdout[0]?.name ?? 'cli';
  const human =
    onScreen === 'cli'
      ? humanReporter({
          ...run,
          write: (text) => {
            io.out.write(text);
          },
          color: io.color,
          width: io.width,
          lang: options.lang,
          quiet: options.quiet,
          verbose: options.verbose,
          timings: options.timings,
          ...(io.terminal === undefined ? {} : { terminal: io.terminal }),
          ...(options.out === undefined ? {} : { evidence: shown(options.out, io.cwd) }),
        })
      : undefined;
  return {
    onEvent: (event) => human?.onEvent(event),
    stop: async () => human?.stop(),
    async end(report) {
      human?.end(report);
      for (const { name, path } of wanted) {
        const load = machines[name];
        if (load === undefined) continue;
        const text = (await load())(report);
        if (path === undefined) io.out.write(text);
        else await save(resolve(io.cwd, path), text, path === io.env.GITHUB_STEP_SUMMARY);
      }
    },
  };
}

/** A path as people would type it from here. */
function shown(path: string, cwd: string): string {
  const near = relative(cwd, resolve(cwd, path));
  return near.startsWith('..') || near === '' ? path : near;
}

function parseReporter(text: string, env: Io['env']): Wanted {
  const colon = text.indexOf(':');
  const name = colon < 0 ? text : text.slice(0, colon);
  const path = colon < 0 ? undefined : text.slice(colon + 1);
  if (!reporterNames.includes(name))
    throw new KitError(
      exits.usage,
      `unknown reporter "${name}"${didYouMean(name, reporterNames)}`,
      `there are: ${reporterNames.join(', ')}`,
    );
  if (name === 'cli' && path !== undefined)
    throw new KitError(exits.usage, 'the reporter "cli" writes to standard output only');
  if (path === '')
    throw new KitError(
      exits.usage,
      `--reporter ${text}: the path is missing`,
      `write ${name}:FILE`,
    );
  // A summary without a path goes where GitHub shows it.
  return { name, path: path ?? (name === 'md' ? env.GITHUB_STEP_SUMMARY : undefined) };
}

async function save(path: string, text: string, append: boolean): Promise<void> {
  try {
    await mkdir(dirname(path), { recursive: true });
    await (append ? appendFile(path, text) : writeFile(path, text));
  } catch (error) {
    throw new KitError(exits.usage, `the report cannot be written: ${messageOf(error)}`);
  }
}
