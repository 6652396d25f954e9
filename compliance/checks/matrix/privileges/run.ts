/**
 * Runs the privilege matrix: what each role can really do, by trying it, against the file; then the
 * grants, owners and roles of the catalog, against the same file. All in one transaction that is
 * rolled back, with the fresh role in it.
 */
import type { Session } from '../../../types.ts';
import { assertionOf, type Cell } from '../cell.ts';
import type { Matrix } from '../matrix.ts';
import { attemptAll, openAttempts, passed, writes, type Attempt, type Result } from './attempts.ts';
import { readCatalog, readRoles, type Catalog, type RelationFound } from './catalog.ts';
import { catalogCells, roleCell } from './compare.ts';
import { FRESH, mayCall, may, readable, relationsOf, type RelationPlan } from './model.ts';
import { privilegesFile, verbs, type PrivilegesFile } from './schema.ts';

export const privileges: Matrix<typeof privilegesFile> = {
  schema: privilegesFile,
  async *run({ data }, sandbox, how) {
    await using session = await sandbox.session('matrix');
    await openAttempts(session);
    await session.query('begin');
    try {
      await session.query(`create role ${FRESH}`);
      const catalog = await readCatalog(session, Object.keys(data.closed_schemas));
      const cells = [...catalogCells(data, catalog), ...(await roleCells(session, data))];
      for (const cell of cells) yield assertionOf(data.clause, cell);
      let attempts = 0;
      for (const role of [...data.roles, FRESH]) {
        how.signal.throwIfAborted();
        how.progress(role);
        const planned = plannedFor(data, catalog, role);
        const results = await attemptAll(
          session,
          planned.flatMap(({ attempts: all }) => all),
        );
        attempts += results.length;
        for (const one of planned) {
          const its = results.splice(0, one.attempts.length);
          yield assertionOf(data.clause, one.judge(its));
        }
      }
      yield { is: 'count', name: 'attempts', value: attempts };
    } finally {
      await session.query('rollback');
    }
  },
};

async function roleCells(session: Session, file: PrivilegesFile): Promise<Cell[]> {
  const found = await readRoles(session, file.roles);
  return file.roles.map((role) => roleCell(role, found));
}

type Planned = { attempts: Attempt[]; judge(results: readonly Result[]): Cell };

function plannedFor(file: PrivilegesFile, catalog: Catalog, role: string): Planned[] {
  const who = role === FRESH ? 'a role with no grant' : role;
  return [
    ...Object.keys(file.functions).map((signature) => call(file, catalog, role, who, signature)),
    ...file.host.functions.map((signature) => call(file, catalog, role, who, signature)),
    ...relationsOf(file).flatMap((plan) => {
      const found = catalog.relations.find(
        ({ schema, name }) => schema === 'public' && name === plan.name,
      );
      return [read(file, role, who, plan, found), ...write(file, role, who, plan, found)];
    }),
    sequences(file, catalog, role, who),
    ...Object.keys(file.closed_schemas).map((schema) => closed(file, catalog, role, who, schema)),
    create(catalog, role, who),
  ];
}

function call(
  file: PrivilegesFile,
  { functions }: Catalog,
  role: string,
  who: string,
  signature: string,
): Planned {
  const found = functions.find((one) => one.schema === 'public' && one.signature === signature);
  const allowed = mayCall(file, role, signature);
  return {
    attempts: found ? [{ role, sql: found.call }] : [],
    judge: ([result]) => ({
      name: `${who} ${allowed ? 'may' : 'may not'} call ${signature}`,
      expected: allowed,
      seen: result === undefined ? 'no such function' : told(result),
    }),
  };
}

/** True and false for what the file speaks of; what is neither is told as it came. */
function told(result: Result): boolean | string {
  return result === 'denied' || result === 'impossible'
    ? false
    : result === 'done' || result === 'refused'
      ? true
      : result;
}

function read(
  file: PrivilegesFile,
  role: string,
  who: string,
  plan: RelationPlan,
  found: RelationFound | undefined,
): Planned {
  const columns = found?.columns ?? [];
  const expected = readable(file, role, plan, columns);
  return {
    attempts: (found ? writes(found, 'select') : []).map((sql) => ({ role, sql })),
    judge: (results) => ({
      name: `${who} reads ${columnsText(expected, columns)} of ${plan.name}`,
      expected,
      seen: found
        ? columns.filter((_, index) => passed(results[index] ?? 'denied'))
        : `there is no ${plan.kind} ${plan.name}`,
    }),
  };
}

function columnsText(some: readonly string[], all: readonly string[]): string {
  if (some.length === 0) return 'no column';
  return some.length === all.length ? 'every column' : `${some.length} of ${all.length} columns`;
}

function write(
  file: PrivilegesFile,
  role: string,
  who: string,
  plan: RelationPlan,
  found: RelationFound | undefined,
): Planned[] {
  return verbs
    .filter((verb) => verb !== 'select' && (verb !== 'truncate' || plan.kind === 'table'))
    .map((verb) => {
      const expected = may(file.owner, role, plan, verb);
      return {
        attempts: (found ? writes(found, verb) : []).map((sql) => ({ role, sql })),
        judge: (results) => ({
          name: `${who} ${expected ? 'may' : 'may not'} ${verb} ${verb === 'insert' ? 'into' : verb === 'delete' ? 'from' : ''} ${plan.name}`.replace(
            '  ',
            ' ',
          ),
          expected,
          seen: found
            ? // A view that nobody can write through is no breach of the owner's right to it.
              results.some((result) => passed(result)) ||
              (expected && results.includes('impossible'))
            : `there is no ${plan.kind} ${plan.name}`,
        }),
      };
    });
}

function sequences(
  file: PrivilegesFile,
  { relations }: Catalog,
  role: string,
  who: string,
): Planned {
  const found = relations.filter(({ kind, schema }) => kind === 'sequence' && schema === 'public');
  const asked = found.flatMap(({ name }) =>
    [
      `select nextval('public.${name}')`,
      `select setval('public.${name}', 1)`,
      `select last_value from public.${name}`,
    ].map((sql) => ({ name, sql })),
  );
  const expected = role === file.owner ? [...file.sequences] : [];
  return {
    attempts: asked.map(({ sql }) => ({ role, sql })),
    judge: (results) => ({
      name: `${who} uses ${expected.length === 0 ? 'no sequence' : 'its own sequences alone'}`,
      expected,
      seen: [
        ...new Set(
          asked.filter((_, index) => passed(results[index] ?? 'denied')).map(({ name }) => name),
        ),
      ],
    }),
  };
}

/** Nothing in a closed schema can be named by anybody but the owner. */
function closed(
  file: PrivilegesFile,
  catalog: Catalog,
  role: string,
  who: string,
  schema: string,
): Planned {
  const owner = role === file.owner;
  const things = [
    ...catalog.functions
      .filter((one) => one.schema === schema)
      .map(({ signature, call: sql }) => ({ name: signature, sql })),
    ...catalog.relations
      .filter((one) => one.schema === schema)
      .flatMap((one) =>
        verbs
          .flatMap((verb) => writes(one, verb).slice(0, 1))
          .map((sql) => ({ name: one.name, sql })),
      ),
  ];
  // What the helpers do when called without arguments is not asked: the owner's calls stay out.
  const tried = owner ? things.slice(-1) : things;
  return {
    attempts: tried.map(({ sql }) => ({ role, sql })),
    judge: (results) => ({
      name: `${who} ${owner ? 'may use' : 'reaches nothing in'} schema ${schema}`,
      expected: { there: true, reached: owner ? tried.map(({ name }) => name) : [] },
      seen: {
        there: things.length > 0,
        reached: [
          ...new Set(
            tried.filter((_, index) => passed(results[index] ?? 'denied')).map(({ name }) => name),
          ),
        ],
      },
    }),
  };
}

function create({ public_may_create }: Catalog, role: string, who: string): Planned {
  return {
    attempts: [{ role, sql: 'create table public.dieu45_attempt ()' }],
    judge: ([result]) => ({
      name: `${who} may create in schema public no more than PUBLIC may`,
      expected: public_may_create,
      seen: told(result ?? 'denied'),
    }),
  };
}
