/**
 * Reads a psql script — a file-style pgTAP suite — into the steps that psql would take.
 *
 * Supported: `\set \unset \pset \i \ir \echo :name :'name' :"name"`. Every other backslash command
 * is an error with its place: a suite that silently lost a command would prove something else.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { KitError, messageOf } from '../../errors.ts';
import type { Where } from '../../types.ts';
import { parseCommandLine, type Command } from './commands.ts';
import { lex, loadScanner } from './lexer.ts';
import { gatherer } from './statements.ts';

export type Step =
  | { is: 'sql'; sql: string; at: Where }
  /** A line that the script itself prints. */
  | { is: 'echo'; text: string; at: Where };

const SUPPORTED = ['set', 'unset', 'pset', 'i', 'ir', 'echo'];
const MAX_DEPTH = 32;

/**
 * The steps of a script and of everything that it includes, in order.
 * `file` is relative to `root`, or absolute; `at.file` is written the same way.
 * @throws KitError 65 with `file:line:col` for what cannot be read or is not supported.
 */
export async function readScript(file: string, root: string): Promise<readonly Step[]> {
  await loadScanner();
  const steps: Step[] = [];
  readInto(steps, { file, root, variables: new Map(), depth: 0 }, undefined);
  return steps;
}

type Reading = { file: string; root: string; variables: Map<string, string>; depth: number };

function readInto(steps: Step[], reading: Reading, from: Where | undefined): void {
  const script = readText(reading, from);
  const whereIs = places(reading.file, script);
  const lexed = lex(script);
  if ('unterminatedAt' in lexed) {
    throw scriptError(
      whereIs(lexed.unterminatedAt),
      'a quote or comment opens here and never closes',
    );
  }
  const { take, rest } = gatherer();
  const push = (statement: { sql: string; start: number }): void => {
    steps.push({ is: 'sql', sql: statement.sql, at: whereIs(statement.start) });
  };
  for (const piece of lexed.pieces) {
    if (piece.is === 'sql') {
      take(piece.tokens, script, reading.variables).forEach(push);
      continue;
    }
    const parsed = parseCommandLine(piece.text, reading.variables);
    if ('problem' in parsed) {
      throw scriptError(whereIs(piece.start + parsed.offset), parsed.problem);
    }
    for (const command of parsed.commands) {
      obey(steps, reading, command, whereIs(piece.start + command.offset));
    }
  }
  const last = rest();
  if (last) push(last);
}

function obey(steps: Step[], reading: Reading, command: Command, at: Where): void {
  const [first, ...others] = command.args;
  switch (command.name) {
    case 'set':
      if (first !== undefined) reading.variables.set(first, others.join(''));
      return;
    case 'unset':
      if (first !== undefined) reading.variables.delete(first);
      return;
    case 'pset':
      // Rows are always read unaligned and without headings, which is what suites ask for.
      return;
    case 'echo':
      steps.push({ is: 'echo', text: command.args.join(' '), at });
      return;
    case 'i':
    case 'ir': {
      if (first === undefined) throw scriptError(at, `\\${command.name} needs a file`);
      const folder = command.name === 'ir' ? path.dirname(reading.file) : '';
      const file = path.isAbsolute(first) ? first : path.join(folder, first);
      readInto(steps, { ...reading, file, depth: reading.depth + 1 }, at);
      return;
    }
    default:
      throw scriptError(
        at,
        `\\${command.name} is not supported`,
        `a suite may use ${SUPPORTED.map((name) => `\\${name}`).join(' ')}`,
      );
  }
}

function readText(reading: Reading, from: Where | undefined): string {
  const at = from ?? { file: reading.file, line: 1, col: 1 };
  if (reading.depth > MAX_DEPTH) {
    throw scriptError(
      at,
      `${reading.file} includes itself, or includes go deeper than ${MAX_DEPTH}`,
    );
  }
  try {
    return readFileSync(path.resolve(reading.root, reading.file), 'utf8').replace(/^\uFEFF/, '');
  } catch (thrown) {
    throw scriptError(at, `cannot read ${reading.file}: ${messageOf(thrown)}`);
  }
}

/** Turns an index of the script into line and column. */
function places(file: string, script: string): (index: number) => Where {
  const starts = [0];
  for (let end = script.indexOf('\n'); end !== -1; end = script.indexOf('\n', end + 1)) {
    starts.push(end + 1);
  }
  return (index) => {
    const after = starts.findIndex((start) => start > index);
    const line = after === -1 ? starts.length : after;
    return { file, line, col: index - (starts[line - 1] ?? 0) + 1 };
  };
}

/** `file:line:col` as every message writes it. */
export function showWhere(at: Where): string {
  return `${at.file}:${at.line}:${at.col}`;
}

function scriptError(at: Where, message: string, hint?: string): KitError {
  return new KitError(65, `${showWhere(at)}: ${message}`, hint);
}
