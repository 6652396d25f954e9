/**
 * Reads TAP as a suite emits it, line by line, and keeps for each test where it came from.
 *
 * The protocol is tap-parser's; what it calls "ok" is not what counts here. Empty output, a plan of
 * nothing, SKIP and TODO are all "ok" to a TAP parser and prove nothing, so each is told apart.
 */
import { Parser, type Result } from 'tap-parser';
import type { Where } from '../../types.ts';

export type TapTest = {
  id: number;
  name: string;
  ok: boolean;
  /** Present when the test did not really run, with the suite's reason. */
  excused?: { as: 'skip' | 'todo'; reason: string };
  at: Where;
  /** Diagnostics after the test, without the leading `#`. */
  diagnostics: readonly string[];
};
export type TapReport = {
  tests: readonly TapTest[];
  planned: number | undefined;
  /** The plan came after the tests, so it could not have caught one that never ran. */
  planCameLast: boolean;
  /** The plan was 1..0: nothing was tested, with the suite's reason for it. */
  skippedAll?: string;
  /** Why this output is not what it announced, a sentence each. Excused tests are not among them. */
  problems: readonly string[];
};
export type TapReader = {
  line(text: string, at: Where): void;
  end(): TapReport;
};

export function tapReader(): TapReader {
  const parser = new Parser();
  const results: Result[] = [];
  const places: Where[] = [];
  const diagnostics: string[][] = [];
  let planned: number | undefined;
  let planCameLast = false;
  let bailedOut: string | undefined;
  let nothingBecause = '';
  parser.on('assert', (result: Result) => results.push(result));
  parser.on('plan', (plan: { start: number; end: number; comment?: string }) => {
    planned = Math.max(0, plan.end - plan.start + 1);
    planCameLast = places.length > 0;
    nothingBecause = plan.comment ?? '';
  });
  parser.on('bailout', (reason: string) => (bailedOut = reason));

  return {
    line(text, at) {
      // tap-parser holds a test back until it has seen the next line, so places are kept here, in
      // the order of the tests.
      if (/^(?:not )?ok\b/.test(text)) {
        places.push(at);
        diagnostics.push([]);
      } else if (/^\s*#/.test(text) && !/^\s*# Looks like you /.test(text)) {
        diagnostics.at(-1)?.push(text.replace(/^\s*# ?/, ''));
      }
      parser.write(`${text}\n`);
    },
    end() {
      // tap-parser makes up an empty plan for empty input; only a plan that was read counts.
      const read = planned;
      parser.end();
      const tests = results.map((result, i) => test(result, places[i], diagnostics[i]));
      const problems = [
        ...(bailedOut === undefined ? [] : [`bailed out: ${bailedOut || 'no reason given'}`]),
        ...planProblems(read, places.length),
        ...numberingProblems(results),
      ];
      const skipped = read === 0 && places.length === 0 ? { skippedAll: nothingBecause } : {};
      return { tests, planned: read, planCameLast, ...skipped, problems };
    },
  };
}

function test(result: Result, at: Where | undefined, diagnostics: string[] | undefined): TapTest {
  return {
    id: result.id,
    name: result.name,
    ok: result.ok,
    ...(result.todo ? { excused: { as: 'todo' as const, reason: words(result.todo) } } : {}),
    ...(result.skip ? { excused: { as: 'skip' as const, reason: words(result.skip) } } : {}),
    at: at ?? { file: '', line: 1, col: 1 },
    diagnostics: diagnostics ?? [],
  };
}

function words(directive: string | boolean): string {
  return typeof directive === 'string' ? directive : '';
}

function planProblems(planned: number | undefined, ran: number): string[] {
  if (planned === undefined) {
    return [`there is no plan: ${count(ran)} ran, and nobody said how many should`];
  }
  if (ran < planned) return [`the plan is short: ${count(planned)} planned, ${ran} ran`];
  if (ran > planned) return [`the plan is exceeded: ${count(planned)} planned, ${ran} ran`];
  return [];
}

function numberingProblems(results: readonly Result[]): string[] {
  const wrong = results.findIndex((result, i) => result.id !== i + 1);
  const found = results[wrong];
  if (!found) return [];
  return [
    `test ${wrong + 1} is numbered ${found.id}: something else prints lines that look like TAP`,
  ];
}

function count(tests: number): string {
  return tests === 1 ? '1 test' : `${tests} tests`;
}
