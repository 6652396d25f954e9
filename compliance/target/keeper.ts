/**
 * The keeper: a small `sh` process that owns a server's folder and is the parent of everything that
 * runs in it. It lives as long as the pipe from the kit is open. However the kit ends (normally, by
 * Ctrl-C, by an uncaught error, by SIGKILL), the pipe closes, and the keeper stops the server,
 * releases its shared memory and removes the folder. There is one way to clean up, and every run
 * takes it.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { KitError } from '../errors.ts';
import type { Identity } from './identity.ts';

/**
 * Protocol: the kit writes a word a line, the keeper answers a word and a number a line.
 *
 * - Signals are ignored, and so are they in the children until those install their own handlers,
 *   which initdb and postgres do. Ctrl-C therefore reaches the kit alone.
 * - Things run in the background, so that the end of the pipe is seen meanwhile.
 * - At the end SIGQUIT goes to the process group, and the server shuts down at once. It is repeated
 *   while the file `running` stands, since a process that has no handler yet misses it. initdb, which
 *   takes a second, is waited for: its backends do not release shared memory when they are signalled.
 * - initdb and a standalone backend refuse a user without a name (a container's `--user 12345`). In a
 *   user namespace of their own they see themselves as `nobody`, and what they make still belongs to the user.
 * - A server that was killed leaves its lock file, which names its shared memory: that is released.
 *   Where there is no ipcrm, a standalone backend takes it over and releases it at its end; it may
 *   have to wait until the last orphaned backend is gone. initdb keeps what it made when it fails
 *   (`-n`), so that this works for its backends too.
 */
const SCRIPT = `
trap '' HUP INT QUIT TERM PIPE
folder=$1
bin=
as=
release() {
  lock=$folder/data/postmaster.pid
  [ -f "$lock" ] || return 0
  { for line in 1 2 3 4 5 6; do read -r skipped; done; read -r key id; } <"$lock"
  if [ -n "$id" ] && ipcrm -m "$id" 2>/dev/null; then return 0; fi
  tries=0
  while [ -f "$lock" ] && [ "$tries" -lt 50 ]; do
    $as "$bin/postgres" --single -D "$folder/data" template1 </dev/null >>"$folder/log" 2>&1 && break
    tries=$((tries + 1))
    sleep 0.1
  done
}
mkdir -m 700 -- "$folder" || exit 73
echo folder 0
while IFS= read -r word; do
  case $word in
    bin=*) bin=\${word#bin=} ;;
    unnamed) as='unshare -U' ;;
    initdb=*)
      (
        $as "$bin/initdb" -N -n -D "$folder/data" -U postgres -A trust -E UTF8 --locale="\${word#initdb=}" \\
          </dev/null >>"$folder/log" 2>&1
        echo "initdb $?"
      ) & ;;
    start)
      : >"$folder/running"
      (
        "$bin/postgres" -D "$folder/data" </dev/null >>"$folder/log" 2>&1
        code=$?
        rm -f "$folder/running"
        echo "stopped $code"
      ) & ;;
  esac
done
tries=0
while [ -f "$folder/running" ] && [ "$tries" -lt 600 ]; do
  kill -QUIT 0
  tries=$((tries + 1))
  sleep 0.05
done
wait
release
rm -rf -- "$folder"
`;

export type Keeper = {
  folder: string;
  pid: number;
  /** Gives the keeper the folder of the server's programs. */
  programs(bin: string): void;
  /** Lets initdb run although the user has no name. */
  unnamed(): void;
  /** Runs initdb; resolves with its exit code. */
  initdb(locale: string): Promise<number>;
  /** Starts the server; the returned promise resolves with the exit code when it ends. */
  start(): Promise<number>;
  /** Stops whatever runs and removes the folder. Safe to call twice. */
  close(): Promise<void>;
};

/**
 * Starts a keeper with a new folder, as another user when `identity` says so.
 * Throws KitError 69 when the folder cannot be made or the user cannot be taken on.
 */
export async function startKeeper(
  folder: string,
  identity: Identity | undefined,
  env: Record<string, string>,
): Promise<Keeper> {
  const child = spawn('/bin/sh', ['-c', SCRIPT, 'dieu45-keeper', folder], {
    stdio: ['pipe', 'pipe', 'pipe'],
    cwd: '/',
    env,
    detached: true,
    ...identity,
  });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  // The keeper may be gone when a word is written; its exit tells the story, not EPIPE.
  child.stdin.on('error', () => undefined);
  const answers = readAnswers(child);
  const gone = new Promise<void>((resolve) =>
    child.once('close', () => {
      resolve();
    }),
  );
  try {
    await answers.next('folder');
  } catch (error) {
    throw new KitError(
      69,
      `cannot make a folder for the server at ${folder}: ${stderr.trim() || String(error)}`,
      'set TMPDIR to a folder that may be written to',
    );
  }
  const ask = (word: string): void => {
    child.stdin.write(`${word}\n`);
  };
  return {
    folder,
    pid: child.pid ?? -1,
    programs(bin) {
      ask(`bin=${bin}`);
    },
    unnamed() {
      ask('unnamed');
    },
    initdb(locale) {
      ask(`initdb=${locale}`);
      return answers.next('initdb');
    },
    start() {
      ask('start');
      return answers.next('stopped');
    },
    async close() {
      child.stdin.end();
      await gone;
    },
  };
}

/** Turns the keeper's lines into promises, one per expected word. */
function readAnswers(child: ChildProcess): { next(word: string): Promise<number> } {
  type Waiter = { word: string; resolve(code: number): void; reject(error: Error): void };
  let waiters: Waiter[] = [];
  let ended: Error | undefined;
  let rest = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const [word, code] = line.split(' ');
      const waiter = waiters.find((one) => one.word === word);
      waiters = waiters.filter((one) => one !== waiter);
      waiter?.resolve(Number(code));
    }
  });
  const end = (error: Error): void => {
    ended = error;
    for (const waiter of waiters) waiter.reject(error);
    waiters = [];
  };
  child.once('error', end);
  child.once('close', (code) => {
    end(new Error(`the server's keeper ended with code ${code ?? 'none'}`));
  });
  return {
    next: (word) =>
      new Promise((resolve, reject) => {
        if (ended) reject(ended);
        else waiters.push({ word, resolve, reject });
      }),
  };
}
