/**
 * No password, host name or home directory stands in a bundle (kit.md): they are replaced before
 * anything is written. Pure.
 */

export type Redact = (text: string) => string;

/** What must not be told, and what stands in its place. */
export type Private = { text: string; as: string };

/** What this machine and this target have to hide. `home` and `tmp` are folders, `root` the project's. */
export function privateTexts(given: {
  root: string;
  home: string;
  tmp: string;
  hostname: string;
  target: string;
}): Private[] {
  return [
    ...urlParts(given.target),
    { text: given.root, as: '.' },
    { text: given.home, as: '~' },
    { text: given.tmp, as: '<tmp>' },
    { text: given.hostname, as: '<host>' },
  ];
}

/** Replaces each text where it stands as a word of its own; longer ones first. */
export function redactor(texts: readonly Private[]): Redact {
  const wanted = texts
    .filter(({ text }) => text.length > 2 && text !== 'localhost')
    .toSorted((a, b) => b.text.length - a.text.length);
  if (wanted.length === 0) return (text) => text;
  const names = new Map(wanted.map(({ text, as }) => [text, as]));
  const any = wanted.map(({ text }) => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')).join('|');
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}_])(?:${any})(?![\\p{L}\\p{N}_-])`, 'gu');
  return (text) => text.replace(pattern, (found) => names.get(found) ?? found);
}

/** The same for every string in a value; keys stay as they are. */
export function redactDeep<T>(value: T, redact: Redact): T {
  const walk = (one: unknown): unknown => {
    if (typeof one === 'string') return redact(one);
    if (Array.isArray(one)) return one.map(walk);
    if (typeof one !== 'object' || one === null) return one;
    return Object.fromEntries(Object.entries(one).map(([key, inner]) => [key, walk(inner)]));
  };
  return walk(value) as T;
}

function urlParts(target: string): Private[] {
  if (!/^postgres(ql)?:/i.test(target) || !URL.canParse(target)) return [];
  const url = new URL(target);
  const password = url.searchParams.get('password') ?? decodeURIComponent(url.password);
  return [
    { text: target, as: '<url>' },
    { text: password, as: '<password>' },
    { text: url.hostname, as: '<host>' },
  ];
}
