import type { Io } from './io.ts';

/** An outside world for tests that remembers what was written. */
export function recordingIo(wanted: Partial<Io> & { root: string }): {
  io: Io;
  out: () => string;
  err: () => string;
} {
  const written = { out: '', err: '' };
  const sink = (to: 'out' | 'err') => ({
    write: (text: string) => {
      written[to] += text;
    },
  });
  return {
    io: {
      out: sink('out'),
      err: sink('err'),
      color: false,
      width: 80,
      cwd: wanted.root,
      env: {},
      signal: new AbortController().signal,
      self: './scripts/dieu45',
      ...wanted,
    },
    out: () => written.out,
    err: () => written.err,
  };
}
