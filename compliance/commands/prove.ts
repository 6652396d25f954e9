/**
 * `dieu45 prove`: breaks the substrate on purpose, mutant by mutant, and shows which check of which
 * clause catches each. A check that has never been red proves nothing.
 */
import { randomInt } from 'node:crypto';
import { availableParallelism, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { KitError } from '../errors.ts';
import { loadManifest } from '../manifest/load.ts';
import { didYouMean } from '../manifest/suggest.ts';
import { attempts } from '../prove/attempts.ts';
import { hunt, scores, type Hunted } from '../prove/hunt.ts';
import { loadMutants, type Mutant } from '../prove/mutant.ts';
import { pick, seeded } from '../checks/random.ts';
import { proofDetails, proofLine } from '../prove/text.ts';
import { styleOf } from '../report/style.ts';
import { plan, wantsOwnServer } from '../run/plan.ts';
import { schedule } from '../run/schedule.ts';
import { profileOf, select } from '../run/select.ts';
import { openTarget } from '../target/index.ts';
import type { Manifest } from '../types.ts';
import { exits, type ExitCode } from '../verdict/exit.ts';
import { buildTemplate, TEMPLATE } from './gate.ts';
import type { Io } from './io.ts';
import { manifestPath } from './manifest_path.ts';

export type ProveOptions = {
  target?: string;
  manifest?: string;
  sql?: string;
  /** Ids of mutants (`F36`, which means its variants too) or of clauses; empty means all. */
  only: readonly string[];
  /** So many, drawn by the seed. */
  sample?: number;
  seed?: number;
  jobs?: number;
  /** Percent of the mutants that must be killed by the clause they name. */
  floor: number;
};

const MUTANTS = 'selftest/mutants';

/**
 * @returns 0; 1 when fewer are killed than the floor asks, or a mutant is stale or refused.
 * @throws KitError 64 for unknown names, 65 for bad files, 69 for a target that cannot be used, 70 when
 * the unchanged substrate is not green.
 */
export async function prove(options: ProveOptions, io: Io): Promise<ExitCode> {
  const manifest = await loadManifest(manifestPath(options, io));
  const mutants = chosen(await loadMutants(MUTANTS, manifest.root), manifest, options);
  const seed = options.seed ?? randomInt(2 ** 31);
  const sampled = draw(mutants, options.sample ?? mutants.length, seed);
  const style = styleOf(io.color);
  io.out.write(
    `dieu45 prove · ${sampled.length} of ${mutants.length} mutants · ${options.target ?? 'embedded'} · seed ${seed}\n`,
  );
  const target = openTarget(options.target ?? 'embedded', {
    env: io.env,
    tmpDir: tmpdir(),
    root: io.root,
  });
  await using server = await target.open(io.signal);
  await buildTemplate(server, resolve(io.cwd, options.sql ?? join(manifest.root, 'sql')));
  const { tasks } = plan(select(manifest, profileOf(manifest, 'ci'), []), {
    can: server.can,
    release: manifest.document.release,
  });
  const shared = tasks.filter((task) => !wantsOwnServer(task));
  const attempt = attempts({
    server,
    template: TEMPLATE,
    root: manifest.root,
    seed,
    signal: io.signal,
  });
  const began = performance.now();
  const done: Hunted[] = [];
  await schedule({
    items: sampled,
    jobs: options.jobs ?? availableParallelism(),
    waits: () => false,
    weight: () => 0,
    signal: io.signal,
    run: async (mutant) => {
      const hunted = await hunt(mutant, shared, attempt);
      done.push(hunted);
      const detailed = options.only.length > 0;
      io.out.write(
        `${[proofLine(hunted, style), ...(detailed ? proofDetails(hunted) : [])].join('\n')}\n`,
      );
    },
  });
  io.signal.throwIfAborted();
  return conclude(done, manifest, { floor: options.floor, ms: performance.now() - began }, io);
}

function chosen(all: readonly Mutant[], { clauses }: Manifest, { only }: ProveOptions): Mutant[] {
  const unknown = all.find(({ clause }) => !clauses.some(({ id }) => id === clause));
  if (unknown !== undefined)
    throw new KitError(
      exits.manifest,
      `${unknown.at.file}: ${unknown.id} names the clause ${unknown.clause}, which there is not`,
    );
  const names = new Set(all.flatMap(({ id, clause }) => [id, id.slice(0, 3), clause]));
  const wrong = only.find((name) => !names.has(name));
  if (wrong !== undefined)
    throw new KitError(
      exits.usage,
      `unknown mutant or clause "${wrong}"${didYouMean(wrong, [...names])}`,
      `the mutants are in ${MUTANTS}`,
    );
  return only.length === 0
    ? [...all]
    : all.filter(({ id, clause }) => [id, id.slice(0, 3), clause].some((it) => only.includes(it)));
}

function draw(mutants: readonly Mutant[], count: number, seed: number): Mutant[] {
  const random = seeded(seed);
  const left = [...mutants];
  while (left.length > count) left.splice(pick(random, left.length), 1);
  return left;
}

function conclude(
  hunted: readonly Hunted[],
  { clauses }: Manifest,
  { floor, ms }: { floor: number; ms: number },
  io: Io,
): ExitCode {
  io.out.write('\n');
  for (const { clause, killed, of, checks } of scores(
    hunted,
    clauses.map(({ id }) => id),
  ))
    io.out.write(`${clause} is protected by ${checks} checks that kill ${killed} of ${of}\n`);
  const killed = hunted.filter(({ fate }) => fate === 'killed').length;
  const broken = hunted.filter(({ fate }) => fate === 'stale' || fate === 'refused').length;
  const score = (100 * killed) / Math.max(1, hunted.length);
  const rate = (hunted.length / ms) * 60_000;
  io.out.write(
    `${killed} of ${hunted.length} mutants killed by the clause they name (${score.toFixed(0)} %, floor ${floor} %) · ${rate.toFixed(1)} a minute\n`,
  );
  return score < floor || broken > 0 ? exits.failed : exits.passed;
}
