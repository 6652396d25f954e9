/**
 * A small proxy before the server that can cut a connection at the worst moment: after the server has
 * committed, before the client has heard of it. The server says ReadyForQuery when a statement's
 * transaction has ended, so that message is where the cut is made.
 */
import { createServer, connect as dial, type AddressInfo, type Socket } from 'node:net';
import { once } from 'node:events';

export type CutProxy = AsyncDisposable & {
  /** The same database, through the proxy. */
  url: string;
  /** The next answer that arrives is dropped and the connection with it. */
  arm(): void;
};

/** READY_FOR_QUERY of the PostgreSQL protocol. */
const readyForQuery = 'Z'.charCodeAt(0);

/** Opens a proxy for one connection to the server of a libpq URL. */
export async function cutAfterCommit(url: string): Promise<CutProxy> {
  const server = createServer();
  const sockets = new Set<Socket>();
  let armed = false;
  server.on('connection', (client) => {
    const upstream = dial(addressOf(url));
    const seen = messages();
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('error', () => undefined);
    }
    const close = (): void => {
      client.destroy();
      upstream.destroy();
    };
    client.on('data', (bytes) => upstream.write(bytes));
    client.on('close', close);
    upstream.on('close', close);
    upstream.on('data', (bytes) => {
      const types = seen(bytes);
      if (!armed) client.write(bytes);
      else if (types.includes(readyForQuery)) close();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: throughPort(url, port),
    arm: () => {
      armed = true;
    },
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Reads the types of the messages that end in each chunk; a message may span several chunks. */
export function messages(): (bytes: Buffer) => number[] {
  let rest = Buffer.alloc(0);
  return (bytes) => {
    rest = Buffer.concat([rest, bytes]);
    const types: number[] = [];
    // One byte of type, then a length that counts itself.
    while (rest.length >= 5) {
      const length = 1 + rest.readInt32BE(1);
      if (rest.length < length) break;
      types.push(rest[0] ?? 0);
      rest = rest.subarray(length);
    }
    return types;
  };
}

/** A host that begins with a slash is the folder of a Unix socket, as in libpq. */
function addressOf(url: string): { path: string } | { host: string; port: number } {
  const { hostname, port: text, searchParams } = new URL(url);
  const port = Number(text === '' ? (searchParams.get('port') ?? 5432) : text);
  const host = searchParams.get('host') ?? decodeURIComponent(hostname);
  return host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port };
}

function throughPort(url: string, port: number): string {
  const through = new URL(url);
  through.searchParams.delete('host');
  through.searchParams.delete('port');
  through.hostname = '127.0.0.1';
  through.port = String(port);
  return through.href;
}
