import {
  isAlias,
  isMap,
  isNode,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  visit,
  type Document,
  type Node,
  type Pair,
} from 'yaml';
import type { Where } from '../types.ts';
import type { Problem } from './problem.ts';

export type Path = readonly PropertyKey[];

/** A YAML text that remembers where each value stands. */
export type Source = {
  file: string;
  /** The text as plain values; undefined when it cannot be read at all. */
  data: unknown;
  /** Mistakes of syntax, repeated keys and unknown aliases. */
  problems: readonly Problem[];
  /** Where a value begins; the nearest thing around it when there is no such value. */
  at(path: Path): Where;
  /** Where the key of a value begins; for an item of a list, the item. */
  atKey(path: Path): Where;
  /** A scalar as it was typed, before YAML read a number into it. */
  typed(path: Path): string | undefined;
};

/** Reads YAML 1.2 with places. Never throws: what is wrong stands in `problems`. */
export function readSource(text: string, file: string): Source {
  const lines = new LineCounter();
  const doc = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const where = (offset: number): Where => {
    const { line, col } = lines.linePos(offset);
    return { file, line: Math.max(1, line), col: Math.max(1, col) };
  };
  const problems: Problem[] = [
    ...syntaxProblems(doc, text).map(({ offset, message }) => ({ ...where(offset), message })),
    ...unknownAliases(doc).map(({ offset, message }) => ({ ...where(offset), message })),
  ];
  const readable = problems.length === 0 || doc.errors.every((e) => e.code === 'DUPLICATE_KEY');
  const unresolved = problems.length > doc.errors.length;
  return {
    file,
    data: readable && !unresolved ? (doc.toJS() as unknown) : undefined,
    problems,
    at: (path) => where(offsetAt(doc, path, 'value')),
    atKey: (path) => where(offsetAt(doc, path, 'key')),
    typed: (path) => {
      const { node } = find(doc, path);
      return isScalar(node) ? node.source : undefined;
    },
  };
}

type Found = { pair?: Pair; node: unknown };

/** The node of a path, and the pair that holds it; undefined nodes where the path leaves the text. */
function find(doc: Document, path: Path): Found {
  let found: Found = { node: doc.contents };
  for (const step of path) {
    const holder = resolved(doc, found.node);
    if (isMap(holder)) {
      // The last one, as toJS reads it, when a key is repeated.
      const pair = holder.items.findLast((item) => keyOf(item) === String(step));
      found = pair === undefined ? { node: undefined } : { pair, node: pair.value };
    } else if (isSeq(holder) && typeof step === 'number') {
      found = { node: holder.items[step] };
    } else {
      return { node: undefined };
    }
  }
  return found;
}

function offsetAt(doc: Document, path: Path, which: 'key' | 'value'): number {
  const { pair, node } = find(doc, path);
  const key = pair && isNode(pair.key) ? pair.key.range?.[0] : undefined;
  // An empty value has a place of its own behind the colon, which says less than its key.
  const value = isNode(node) && !isEmpty(node) ? node.range?.[0] : undefined;
  const offset = which === 'key' ? (key ?? value) : (value ?? key);
  if (offset !== undefined) return offset;
  return path.length === 0 ? 0 : offsetAt(doc, path.slice(0, -1), 'key');
}

function isEmpty(node: Node): boolean {
  return isScalar(node) && node.source === '';
}

function resolved(doc: Document, node: unknown): unknown {
  return isAlias(node) ? node.resolve(doc) : node;
}

function keyOf(item: unknown): string | undefined {
  if (!isPair(item)) return undefined;
  return isScalar(item.key) ? String(item.key.value) : undefined;
}

type Mistake = { offset: number; message: string };

/** The parser's errors; after a break in the syntax the rest is a guess, so only the first of those. */
function syntaxProblems(doc: Document, text: string): Mistake[] {
  const repeated = doc.errors.filter((error) => error.code === 'DUPLICATE_KEY');
  const broken = doc.errors.filter((error) => error.code !== 'DUPLICATE_KEY').slice(0, 1);
  return [
    ...repeated.map(({ pos: [offset] }) => ({
      offset,
      message: `the key "${/^[^:\n]*/.exec(text.slice(offset))?.[0].trim() ?? ''}" is repeated`,
    })),
    ...broken.map((error) => ({ offset: error.pos[0], message: sentence(error) })),
    ...doc.warnings.slice(0, 1).map((error) => ({ offset: error.pos[0], message: error.message })),
  ];
}

function sentence(error: { code: string; message: string }): string {
  if (error.code === 'MULTIPLE_DOCS') return 'a second document begins here; one file holds one';
  const [first = error.message] = error.message.split('\n');
  return `not YAML: ${first.charAt(0).toLowerCase()}${first.slice(1)}`;
}

function unknownAliases(doc: Document): Mistake[] {
  const found: Mistake[] = [];
  visit(doc, {
    Alias(_key, node) {
      if (node.resolve(doc) !== undefined) return;
      found.push({
        offset: node.range?.[0] ?? 0,
        message: `no anchor "&${node.source}" before it`,
      });
    },
  });
  return found;
}
