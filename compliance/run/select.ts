/**
 * Which clauses and checks a run judges: `--only` and `--profile` (kit.md). Pure.
 */
import { KitError } from '../errors.ts';
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
 * The clauses to judge, in the manifest's order. Without `only`, all of them. An id in `only` is a
 * clause, which brings the checks that the profile includes, or a check, which is taken even where
 * the profile leaves it out.
 *
 * @throws KitError 64 for an id that the manifest does not have, with the nearest one.
 */
export function select(
  manifest: Manifest,
  profile: Profile,
  only: readonly string[],
): readonly SelectedClause[] {
  const clauses = manifest.clauses.filter(({ modes }) => modes.includes('gate'));
  refuseUnknown(clauses, only);
  const asked = new Set(only);
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

function refuseUnknown(clauses: readonly Clause[], only: readonly string[]): void {
  const known = clauses.flatMap(({ id, checks }) => [id, ...checks.map((check) => check.id)]);
  const unknown = only.filter((id) => !known.includes(id));
  if (unknown.length === 0) return;
  throw new KitError(
    exits.usage,
    unknown.map((id) => `unknown clause or check "${id}"${suggestion(id, known)}`).join('\n'),
    'dieu45 list shows every clause and its checks',
  );
}

/** A label such as `§8.3`, or a bare `8.3`, means clause s8.3; anything else may be a slip. */
function suggestion(id: string, known: readonly string[]): string {
  const bare = `s${id.replace(/^[§s]/, '')}`;
  return known.includes(bare) ? `; did you mean ${bare}?` : didYouMean(id, known);
}
