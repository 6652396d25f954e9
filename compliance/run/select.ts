/**
 * Which clauses and checks a run judges: `--only` and `--profile` (kit.md). Pure.
 */
import { KitError } from '../errors.ts';
import { findNamed } from '../manifest/names.ts';
import { didYouMean } from '../manifest/suggest.ts';
import type { CheckSpec, Clause, Manifest, Profile } from '../types.ts';
import { exits } from '../verdict/exit.ts';

/** A clause with the checks that were chosen, and the ids of those that the profile leaves out. */
export type SelectedClause = {
  clause: Clause;
  specs: readonly CheckSpec[];
  leftOut: readonly string[];
};

/**
 * The clauses to judge, in the manifest's order. Without `only`, all of them. A name in `only` is a
 * clause (`s8.3`, `§8.3`), which brings the checks that the profile includes, or a check, which is taken even where
 * the profile leaves it out.
 *
 * @throws KitError 64 for names that the manifest does not have, with the nearest ones.
 */
export function select(
  manifest: Manifest,
  profile: Profile,
  only: readonly string[],
): readonly SelectedClause[] {
  const clauses = manifest.clauses.filter(({ modes }) => modes.includes('gate'));
  const asked = resolve({ ...manifest, clauses }, only);
  return clauses.flatMap((clause): SelectedClause[] => {
    const byClause = only.length === 0 || asked.has(clause.id);
    const named = (spec: CheckSpec): boolean => asked.has(spec.id);
    if (!byClause && !clause.checks.some(named)) return [];
    const wanted = clause.checks.filter((spec) => byClause || named(spec));
    const specs = wanted.filter((spec) => named(spec) || includes(profile, spec));
    return [
      {
        clause,
        specs,
        leftOut: wanted.filter((spec) => !specs.includes(spec)).map(({ id }) => id),
      },
    ];
  });
}

/** The profile of this name. @throws KitError 64, with the nearest name. */
export function profileOf(manifest: Manifest, name: string): Profile {
  const profile = Object.hasOwn(manifest.profiles, name) ? manifest.profiles[name] : undefined;
  if (profile !== undefined) return profile;
  const known = Object.keys(manifest.profiles);
  throw new KitError(
    exits.usage,
    `unknown profile "${name}"${didYouMean(name, known)}`,
    `the manifest has: ${known.join(', ')}`,
  );
}

function includes(profile: Profile, spec: CheckSpec): boolean {
  if (profile.without.includes(spec.id)) return false;
  return profile.kinds === undefined || profile.kinds.includes(spec.kind);
}

/** The ids of what was named, all unknown names refused at once. */
function resolve(manifest: Manifest, names: readonly string[]): Set<string> {
  const ids = new Set<string>();
  const refused: KitError[] = [];
  for (const name of names) {
    try {
      const { clause, check } = findNamed(manifest, name);
      ids.add(check?.id ?? clause.id);
    } catch (error) {
      if (!(error instanceof KitError)) throw error;
      refused.push(error);
    }
  }
  const [first] = refused;
  if (first === undefined) return ids;
  throw new KitError(exits.usage, refused.map(({ message }) => message).join('\n'), first.hint);
}
