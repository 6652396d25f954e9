/**
 * A suite made to fit into one transaction that is rolled back, for databases that must stay as they are.
 *
 * The suite's own BEGIN and ROLLBACK are left out, since ours stand around it. What would keep its
 * changes (a COMMIT, or statements after its ROLLBACK) is refused before anything runs.
 */
import type { Step } from '../checks/pgtap/script.ts';
import { showWhere } from '../checks/pgtap/script.ts';
import { KitError } from '../errors.ts';

export type Enclosed = {
  /** `begin` with the modes that the suite asked for. */
  begin: string;
  steps: readonly Step[];
};

const BEGINS = /^(?:begin|start\s+transaction)\b/i;
const KEEPS = /^(?:commit|end|prepare\s+transaction)\b/i;
const UNDOES = /^(?:rollback|abort)\b(?!\s+(?:work\s+|transaction\s+)?to\b)/i;

/** @throws KitError 65 with `file:line:col` for a suite that would keep its changes. */
export function enclose(steps: readonly Step[]): Enclosed {
  let begin = 'begin';
  const kept: Step[] = [];
  let undone = false;
  for (const step of steps) {
    if (step.is !== 'sql') {
      kept.push(step);
    } else if (KEEPS.test(step.sql) || undone) {
      throw new KitError(
        65,
        `${showWhere(step.at)}: this would keep its changes in the database`,
        'run it without --in-place: each file then has a database of its own',
      );
    } else if (UNDOES.test(step.sql)) {
      undone = true;
    } else if (!BEGINS.test(step.sql)) {
      kept.push(step);
    } else if (!kept.some(({ is }) => is === 'sql')) {
      begin = step.sql;
    }
  }
  return { begin, steps: kept };
}
