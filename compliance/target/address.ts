/**
 * Where a `postgres://` target is, after the URL, the `PG*` variables and libpq's defaults were put
 * together. Pure. The text that comes out says everything, so that a worker process needs no
 * environment to reach the same server.
 */
import { KitError } from '../errors.ts';
import type { Env } from './fetch.ts';

export type Address = {
  /** A host name, an address, or the folder of a unix socket. */
  host: string;
  port: string;
  user: string;
  password: string | undefined;
  database: string;
  sslmode: string;
  /** Whether the user chose it; otherwise TLS is used when the server has it, as libpq does. */
  sslmodeGiven: boolean;
  /** Further parameters of the URL, as they are. */
  params: Readonly<Record<string, string>>;
};

/** Variables that libpq reads for a parameter that the URL leaves out. */
const TLS_VARIABLES = {
  sslmode: 'PGSSLMODE',
  sslrootcert: 'PGSSLROOTCERT',
  sslcert: 'PGSSLCERT',
  sslkey: 'PGSSLKEY',
} as const;
const SSLMODES = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'];
/** Parts of the address itself, and a name that the kit sets per session. */
const NOT_KEPT = ['host', 'port', 'user', 'password', 'dbname', 'sslmode', 'application_name'];

/** Stands for a host that the URL leaves out after a user, which libpq allows and WHATWG URLs do not. */
const NO_HOST = 'no-host.invalid';

/** A `postgres://` URL as libpq writes them, or undefined when it cannot be read. */
export function readUrl(text: string): URL | undefined {
  const whole = text.replace(/^([^/]*:\/\/[^/?#]*@)(?=[/?#]|$)/, `$1${NO_HOST}`);
  return URL.canParse(whole) ? new URL(whole) : undefined;
}

/** Reads a URL that `parseTarget` took. Throws KitError 64 for an sslmode that does not exist. */
export function readAddress(text: string, env: Env, systemUser: string): Address {
  const url = readUrl(text);
  if (!url) throw new KitError(64, 'the URL of the target cannot be read');
  const params = Object.fromEntries(url.searchParams);
  const given = (part: string): string | undefined =>
    part === '' || part === NO_HOST ? undefined : decodeURIComponent(part);
  const user = params.user ?? given(url.username) ?? env.PGUSER ?? systemUser;
  for (const [name, variable] of Object.entries(TLS_VARIABLES)) {
    const value = env[variable];
    if (params[name] === undefined && value) params[name] = value;
  }
  const { sslmode } = params;
  if (sslmode !== undefined && !SSLMODES.includes(sslmode)) {
    throw new KitError(
      64,
      `unknown sslmode ${JSON.stringify(sslmode)}`,
      `write one of ${SSLMODES.join(', ')}`,
    );
  }
  return {
    host:
      params.host ?? given(url.hostname.replace(/^\[(.*)\]$/, '$1')) ?? env.PGHOST ?? 'localhost',
    port: params.port ?? given(url.port) ?? env.PGPORT ?? '5432',
    user,
    password: params.password ?? given(url.password) ?? env.PGPASSWORD,
    database: params.dbname ?? given(url.pathname.slice(1)) ?? env.PGDATABASE ?? user,
    sslmode: sslmode ?? 'prefer',
    sslmodeGiven: sslmode !== undefined,
    params: Object.fromEntries(Object.entries(params).filter(([name]) => !NOT_KEPT.includes(name))),
  };
}

/** Whether the server is reached through a unix socket, where TLS does not exist. */
export function isSocket(address: Address): boolean {
  return address.host.startsWith('/');
}

/** A libpq URL for one database of that server. Holds the password where there is one. */
export function urlOf(address: Address, database: string): string {
  const { host, port, user, password } = address;
  const secret = password === undefined ? '' : `:${encodeURIComponent(password)}`;
  const name = isSocket(address) ? 'localhost' : host.includes(':') ? `[${host}]` : host;
  const params = new URLSearchParams({ ...address.params, sslmode: address.sslmode });
  // node-postgres otherwise reads `require` as `verify-full`.
  params.set('uselibpqcompat', 'true');
  if (isSocket(address)) params.set('host', host);
  return `postgresql://${encodeURIComponent(user)}${secret}@${name}:${port}/${encodeURIComponent(database)}?${params.toString()}`;
}

/** For messages: no password, no parameters. */
export function describeAddress({ host, port, user, database }: Address): string {
  return `${user}@${host}:${port}/${database}`;
}
