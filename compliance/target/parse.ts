/**
 * The text of `--target`, taken apart (kit.md, "Where the server comes from"). Pure: nothing is
 * looked up or started here.
 */
import { isAbsolute, resolve } from 'node:path';
import { KitError } from '../errors.ts';
import { readUrl } from './address.ts';
import { DEFAULT_MAJOR, MAJORS, type Major } from './versions.ts';

export type TargetSpec =
  | { kind: 'embedded'; major: Major }
  | { kind: 'local'; bin: string }
  | { kind: 'container'; image: string }
  | { kind: 'url'; url: string };

const FORMS =
  'write embedded, embedded:16, local:/path/to/bin, container:postgres:17 or postgres://user@host/database';

/**
 * Takes a `--target` text apart. A relative `local:` path is taken from `cwd`.
 * Throws KitError 64 with the forms that exist when the text is none of them.
 */
export function parseTarget(text: string, cwd: string): TargetSpec {
  const target = text.trim();
  if (/^postgres(ql)?:\/\//i.test(target)) return { kind: 'url', url: parseUrl(target) };
  const [head, rest] = splitOnce(target);
  switch (head) {
    case 'embedded':
      return { kind: 'embedded', major: rest === undefined ? DEFAULT_MAJOR : parseMajor(rest) };
    case 'local':
      if (!rest) {
        throw new KitError(
          64,
          `--target ${text}: the folder of the server's programs is missing`,
          hintLocal,
        );
      }
      return { kind: 'local', bin: isAbsolute(rest) ? rest : resolve(cwd, rest) };
    case 'container':
      if (!rest || /\s/.test(rest)) {
        throw new KitError(
          64,
          `--target ${text}: the image is missing`,
          'write container:postgres:17',
        );
      }
      return { kind: 'container', image: rest };
    default:
      throw new KitError(64, `unknown target ${JSON.stringify(text)}`, FORMS);
  }
}

const hintLocal =
  'write local:/path/to/bin, the folder that holds initdb and postgres, for example local:/usr/lib/postgresql/15/bin';

function splitOnce(text: string): [string, string | undefined] {
  const colon = text.indexOf(':');
  return colon < 0 ? [text, undefined] : [text.slice(0, colon), text.slice(colon + 1)];
}

function parseMajor(text: string): Major {
  const major = MAJORS.find((known) => String(known) === text);
  if (major === undefined) {
    throw new KitError(
      64,
      `there is no embedded PostgreSQL ${JSON.stringify(text)}`,
      `write embedded:N with N one of ${MAJORS.join(', ')}`,
    );
  }
  return major;
}

/** A URL that node can take apart; its text is never repeated in an error, since it may hold a password. */
function parseUrl(text: string): string {
  if (!readUrl(text)) {
    throw new KitError(
      64,
      'the URL of --target cannot be read',
      'write postgres://user@host:5432/database; percent-encode special characters in its parts',
    );
  }
  return text;
}
