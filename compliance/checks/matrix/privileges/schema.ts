/** The form of `selftest/privileges.yaml`. */
import { z } from 'zod';

const role = z.string().regex(/^[a-z][a-z0-9_]*$/, 'a role is named in lower-case letters');
const signature = z
  .string()
  .regex(/^[a-z][a-z0-9_]*\([^()]*\)$/, 'a function is named with its types, as fn_job_get(uuid)');
const relation = z.string().regex(/^[a-z][a-z0-9_]*$/, 'a table is named without its schema');
const columns = z.union([
  z.literal('all'),
  z.strictObject({ all_but: z.array(z.string().min(1)).min(1) }),
]);
const readers = z.record(role, columns);

export const verbs = ['select', 'insert', 'update', 'delete', 'truncate'] as const;
export type Verb = (typeof verbs)[number];

export const privilegesFile = z.strictObject({
  matrix: z.literal('privileges'),
  clause: z.string().min(1),
  title: z.string().min(1),
  owner: role,
  roles: z.array(role).min(1),
  functions: z.record(signature, z.array(role)),
  tables: z.record(relation, readers),
  views: z.record(relation, readers),
  sequences: z.array(relation),
  host: z.strictObject({
    functions: z.array(signature),
    tables: z.record(
      relation,
      z.strictObject({ owner: z.array(z.enum(verbs)), readers: readers.default({}) }),
    ),
    sequences: z.array(relation),
  }),
  public_schema: z.record(role, z.array(z.enum(['usage', 'create']))),
  closed_schemas: z.record(
    z.string().min(1),
    z.strictObject({ asked_by_views: z.record(signature, z.array(role)).default({}) }),
  ),
});
export type PrivilegesFile = z.infer<typeof privilegesFile>;
