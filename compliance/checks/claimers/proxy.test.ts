import { createServer, connect, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { cutAfterCommit, messages } from './proxy.ts';

/** A message of the protocol: its type, then its length with itself, then its body. */
function message(type: string, body = ''): Buffer {
  const bytes = Buffer.alloc(5 + body.length);
  bytes.write(type, 0);
  bytes.writeInt32BE(4 + body.length, 1);
  bytes.write(body, 5);
  return bytes;
}

test('messages are recognised however they are cut into chunks', () => {
  const all = Buffer.concat([message('C', 'SELECT 1'), message('Z', 'I'), message('N', 'note')]);
  for (let size = 1; size <= all.length; size += 1) {
    const seen = messages();
    const types: number[] = [];
    for (let at = 0; at < all.length; at += size) types.push(...seen(all.subarray(at, at + size)));
    expect(String.fromCharCode(...types)).toBe('CZN');
  }
});

test('an armed proxy lets the request through and cuts when the answer is complete', async () => {
  const received: string[] = [];
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (bytes) => {
      received.push(String(bytes));
      socket.write(message('C', 'UPDATE 1'));
      socket.write(message('Z', 'I'));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await using proxy = await cutAfterCommit(`postgresql://u@127.0.0.1:${port}/d`);
  const client = connect(Number(new URL(proxy.url).port), '127.0.0.1');
  const answers: string[] = [];
  client.on('data', (bytes) => answers.push(String(bytes)));
  client.write('first');
  await once(client, 'data');
  const heard = answers.length;
  proxy.arm();
  client.write('second');
  await once(client, 'close');
  expect(received).toEqual(['first', 'second']);
  expect(answers.length).toBeLessThanOrEqual(heard + 1);
  server.close();
});
