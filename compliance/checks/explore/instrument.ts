/**
 * Writes stops into a PL/pgSQL function: before each statement that touches a table or looks at the
 * clock, a call that waits until the controller lets it go on. Text is put in at the parser's line
 * numbers; everything else stays as it is, comments included. Pure.
 */
import { touchesTables, type Footprint } from './footprint.ts';
import { statementsOf, type Body, type Statement } from './statements.ts';

/** A place where an operation can be held up. */
export type Stop = {
  id: number;
  /** The function, as `schema.name`. */
  name: string;
  /** Line of the body; 0 for the defaults of its declarations. */
  line: number;
  /** The first line of the statement, for people. */
  text: string;
  footprint: Footprint;
  /** Whether the statement passes over rows that others hold. */
  skips: boolean;
};

export type Instrumented = {
  /** `create or replace function …` with the stops in it; the original when there is nothing to stop at. */
  definition: string;
  stops: readonly Stop[];
  /** Why there are statements that nothing can stop before; empty when there are none. */
  problems: readonly string[];
};

/** Functions that tell the time; the steered one takes the place of the server's. */
const CLOCKS = ['clock_timestamp', 'pg_catalog.clock_timestamp', 'dieu45_steer.clock'];

export function looksAtClock({ calls }: Footprint): boolean {
  return CLOCKS.some((name) => calls.has(name));
}

/**
 * @param nextId the id of the first stop; the others follow
 * @throws what the parser throws
 */
export function instrument(name: string, definition: string, nextId: number): Instrumented {
  const parts = /^([\s\S]*?\bAS (\$function\w*\$))([\s\S]*)\2\s*$/.exec(definition);
  const [, head = '', quote = '', source = ''] = parts ?? [];
  if (parts === null) throw new Error(`cannot find the body of ${name}`);
  const body = statementsOf(definition);
  const lines = source.split('\n');
  const halted = body.statements.filter(needsStop);
  const problems = [
    ...halted.flatMap((one) => placeProblems(one, lines, body)),
    ...bodyProblems(body),
  ];
  const stops: Stop[] = [];
  const stopAt = (line: number, text: string, footprint: Footprint): string => {
    const id = nextId + stops.length;
    const skips = /\bskip\s+locked\b/i.test(text);
    stops.push({ id, name, line, text: inBrief(text), footprint, skips });
    return `assert dieu45_explore.stop(${id});`;
  };
  const wrap = needsStop({ kind: 'declare', footprint: body.declarations });
  const opening = wrap ? ` begin ${stopAt(0, 'declare …', body.declarations)}` : '';
  const before = new Map(
    halted.map(({ line, footprint }) => [line, stopAt(line, textFrom(lines, line), footprint)]),
  );
  const text = lines.map((line, index) => {
    const stop = before.get(index + 1);
    return stop === undefined ? line : `${stop} ${line}`;
  });
  text[0] = `${text[0] ?? ''}${opening}`;
  const closing = wrap ? ' ; end' : '';
  const written = `${head}${text.join('\n')}${closing}\n${quote}`;
  return { definition: stops.length === 0 ? definition : written, stops, problems };
}

/** ASSERT and not PERFORM: it changes neither FOUND nor what GET DIAGNOSTICS says. */
function needsStop({ kind, footprint }: Pick<Statement, 'kind' | 'footprint'>): boolean {
  if (touchesTables(footprint)) return true;
  return looksAtClock(footprint) && kind !== 'raise';
}

/** Words that begin a line without beginning the statement on it. */
const NO_BEGINNING = /^(?:begin|then|else|elsif|loop|exception|when|declare|end)\b/i;

function placeProblems(
  { line, kind, queries }: Statement,
  lines: readonly string[],
  body: Body,
): string[] {
  const text = lines[line - 1]?.trimStart() ?? '';
  const before = lines
    .slice(0, line - 1)
    .findLast((one) => one.trim() !== '' && !one.trim().startsWith('--'));
  const together = body.statements.filter((other) => other.line === line);
  return [
    ...(NO_BEGINNING.test(text) || together.length > 1
      ? [`line ${line}: a statement that does not begin its line: ${text.trim()}`]
      : []),
    ...(before?.trimEnd().endsWith('>>')
      ? [`line ${line}: a label stands before the statement`]
      : []),
    ...(queries > 1 ? [`line ${line}: ${queries} queries in one ${kind}`] : []),
    ...(kind === 'while'
      ? [`line ${line}: the condition of a loop reads a table each time round`]
      : []),
  ];
}

function bodyProblems({ dynamic }: Body): string[] {
  return dynamic ? ['it executes SQL that is not known before'] : [];
}

/** The text from a line to the end of its statement. */
function textFrom(lines: readonly string[], line: number): string {
  const rest = lines
    .slice(line - 1)
    .join(' ')
    .replaceAll(/\s+/g, ' ')
    .trim();
  return rest.slice(0, rest.indexOf(';') + 1 || undefined);
}

/** A statement in one short line: `update public.job_queue q set status = …`. */
function inBrief(text: string): string {
  return text.length <= 60 ? text : `${text.slice(0, 59)}…`;
}
