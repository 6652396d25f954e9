/**
 * The check kind `race`: named sessions, steps, and every order in which they can be taken
 * (clauses.md). A move is a whole step.
 */
import { checkBy } from './perform.ts';
import { openTheatre } from './theatre.ts';

export const run = checkBy({ open: openTheatre });
