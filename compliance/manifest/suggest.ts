import { distance } from 'fastest-levenshtein';

/** The candidate that was probably meant by a mistyped word, or undefined when none is near. */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  const typed = fold(word);
  // A third of the letters may differ, and never more than three: further off, a guess misleads.
  let best: string | undefined;
  let bestDistance = Math.min(3, Math.ceil(typed.length / 3)) + 1;
  for (const candidate of candidates) {
    const folded = fold(candidate);
    // A word that breaks off is near what it begins, however much is missing.
    const begun = typed.length >= 4 && folded.startsWith(typed);
    const apart = begun ? Math.min(2, distance(typed, folded)) : distance(typed, folded);
    if (apart < bestDistance) [best, bestDistance] = [candidate, apart];
  }
  return best;
}

/** `; did you mean s8.3?`, or nothing. */
export function didYouMean(word: string, candidates: Iterable<string>): string {
  const guess = nearest(word, candidates);
  return guess === undefined ? '' : `; did you mean ${guess}?`;
}

/** Case and the choice between hyphen, underscore and blank are no difference of meaning. */
function fold(word: string): string {
  return word.toLowerCase().replace(/[-_ ]/g, '-');
}
