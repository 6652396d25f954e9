/** Where each kind of check lives. A kind is loaded only when a check of it is about to run. */
import { KitError } from '../errors.ts';
import type { Kind, RunCheck } from '../types.ts';
import { exits } from '../verdict/exit.ts';

export type Registry = Partial<Readonly<Record<Kind, () => Promise<{ run: RunCheck }>>>>;

export const kinds: Registry = {
  catalog: () => import('../checks/catalog/index.ts'),
  pgtap: () => import('../checks/pgtap/index.ts'),
  matrix: () => import('../checks/matrix/index.ts'),
  property: () => import('../checks/property/index.ts'),
  race: () => import('../checks/race/index.ts'),
  explore: () => import('../checks/explore/index.ts'),
  claimers: () => import('../checks/claimers/index.ts'),
  timed: () => import('../checks/timed/index.ts'),
  plan: () => import('../checks/plan/index.ts'),
};

/** The runner of a kind. @throws KitError 70 when the kit has none for it. */
export async function runnerOf(registry: Registry, kind: Kind): Promise<RunCheck> {
  const load = registry[kind];
  if (load === undefined)
    throw new KitError(
      exits.kit,
      `this release has no runner for checks of kind "${kind}"`,
      'mark the check as `planned: <reason>` in the manifest, or use a release that has one',
    );
  return (await load()).run;
}
