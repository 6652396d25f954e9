import type { CheckSpec, Clause } from '../types.ts';

/** Less than zero when release `a` comes before `b`: '2.10' comes after '2.9'. */
export function compareReleases(a: string, b: string): number {
  const [majorA = 0, minorA = 0] = a.split('.').map(Number);
  const [majorB = 0, minorB = 0] = b.split('.').map(Number);
  return majorA - majorB || minorA - minorB;
}

/** Why a clause or check says nothing of a release, or undefined when it applies to it. */
export function outsideRelease(
  entry: Pick<Clause | CheckSpec, 'since' | 'until'>,
  release: string,
): string | undefined {
  if (entry.since !== undefined && compareReleases(release, entry.since) < 0) {
    return `applies from release ${entry.since}; this is ${release}`;
  }
  if (entry.until !== undefined && compareReleases(release, entry.until) >= 0) {
    return `applied until release ${entry.until}; this is ${release}`;
  }
  return undefined;
}
