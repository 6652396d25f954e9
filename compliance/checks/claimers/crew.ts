/** The worker processes of one run: started, replaced when a fault killed them, always ended. */
import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { execPath, hrtime } from 'node:process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { KitError } from '../../errors.ts';
import { exits } from '../../verdict/exit.ts';
import type { Ns } from '../../history/calls.ts';
import type { Command, Job, Order, Report } from './orders.ts';

export type Member = {
  /** Name without and with the incarnation: `w3`, `w3.1`. */
  name: string;
  proc: string;
  file: string;
  job: Job;
  child: ChildProcess;
  /** Resolves when it has connected; rejects when it ends before. */
  ready: Promise<void>;
  ended: Promise<{ code: number | null; signal: string | null }>;
  stderr: () => string;
};
export type Crew = AsyncDisposable & {
  /** Starts a process; the same name again is its next incarnation. */
  hire: (name: string, job: Job) => Member;
  /** All that were ever hired, dead ones included, oldest first. */
  members: () => readonly Member[];
  /** Tells everybody, and whoever is hired later as well. */
  tell: (command: Command) => void;
};

export type CrewOf = {
  url: string;
  seed: number;
  /** Where each process keeps its history file. */
  folder: string;
  originNs: bigint;
  /** What a process says, and how it ended. */
  onReport: (member: Member, report: Report) => void;
  onEnd: (member: Member, code: number | null, signal: string | null) => void;
};

/** An empty crew. Disposing it kills whoever still runs, stopped ones included, and waits for them. */
export function openCrew(of: CrewOf): Crew {
  const script = workerScript();
  const members: Member[] = [];
  const incarnations = new Map<string, number>();
  const told: Command[] = [];

  const hire = (name: string, job: Job): Member => {
    const incarnation = (incarnations.get(name) ?? 0) + 1;
    incarnations.set(name, incarnation);
    const proc = `${name}.${incarnation}`;
    const file = join(of.folder, `${proc}.jsonl`);
    // No environment but the path: PG* variables must not decide where a worker connects.
    const child = spawn(execPath, [script], { stdio: ['pipe', 'pipe', 'pipe'], env: {} });
    child.stdin.on('error', () => undefined);
    let stderr = '';
    child.stderr.on('data', (text) => (stderr += String(text)));
    let [resolve, reject]: [() => void, (reason: Error) => void] = [noop, noop];
    const ready = new Promise<void>((done, failed) => ([resolve, reject] = [done, failed]));
    const ended = new Promise<{ code: number | null; signal: string | null }>((done) => {
      child.on('close', (code, signal) => {
        done({ code, signal });
      });
    });
    const member: Member = { name, proc, file, job, child, ready, ended, stderr: () => stderr };
    createInterface({ input: child.stdout }).on('line', (line) => {
      const report = JSON.parse(line) as Report;
      if (report.is === 'ready') resolve();
      else of.onReport(member, report);
    });
    void ended.then(({ code, signal }) => {
      reject(new Error(`worker ${proc} ended before it was ready: ${stderr.trim()}`));
      of.onEnd(member, code, signal);
    });
    ready.catch(() => undefined);
    const { url, seed, originNs } = of;
    const order: Order = { proc, url, file, originNs: originNs.toString(), seed, job };
    child.stdin.write([JSON.stringify(order), ...told, ''].join('\n'));
    members.push(member);
    return member;
  };

  return {
    hire,
    members: () => members,
    tell: (command) => {
      told.push(command);
      for (const { child } of members) if (isAlive(child)) child.stdin?.write(`${command}\n`);
    },
    [Symbol.asyncDispose]: async () => {
      // SIGKILL ends a stopped process too.
      for (const { child } of members) if (isAlive(child)) child.kill('SIGKILL');
      await Promise.all(members.map(({ ended }) => ended));
    },
  };
}

function noop(): void {
  // Replaced before anything can call it.
}

/** Whether a process has not ended yet; a stopped one has not. */
export function isAlive(child: ChildProcess): boolean {
  return child.exitCode === null && child.signalCode === null;
}

/** Nanoseconds since the run began. */
export function sinceNs(originNs: bigint): Ns {
  return Number(hrtime.bigint() - originNs);
}

/** The worker beside this file when built, in the built folder when this runs from its source. */
function workerScript(): string {
  const beside = fileURLToPath(new URL('./worker.js', import.meta.url));
  if (existsSync(beside)) return beside;
  const built = fileURLToPath(new URL('../../../dist/checks/claimers/worker.js', import.meta.url));
  if (existsSync(built)) return built;
  throw new KitError(exits.kit, 'the worker process is not built', 'npm run build');
}
