import { expect, test } from 'vitest';
import { problemsOf, QUEUE_ROLES, type ServerFacts } from './rights.ts';

const fresh: ServerFacts = {
  versionNum: 170010,
  standby: false,
  user: 'ci',
  superuser: false,
  createDatabase: true,
  createRole: true,
  roles: [],
};
const role = (name: string, more: Partial<ServerFacts['roles'][number]> = {}) => ({
  name,
  members: [],
  member: false,
  grantable: true,
  ...more,
});
const all = QUEUE_ROLES.map((name) => role(name));

test.each<[string, Partial<ServerFacts>, boolean, RegExp[]]>([
  ['a user that may make databases and roles', {}, false, []],
  ['a superuser', { superuser: true, roles: all }, false, []],
  [
    'roles that are there already, and the right to use them',
    { createRole: false, roles: all },
    false,
    [],
  ],
  ['version 12', { versionNum: 120022 }, false, [/12 is too old/]],
  ['a standby', { standby: true }, false, [/standby/]],
  [
    'no right to make databases',
    { createDatabase: false },
    false,
    [/ci lacks the right to create databases/],
  ],
  [
    'no right to make roles',
    { createRole: false },
    false,
    [/create the roles dot_executor, dot_producer, w/],
  ],
  [
    'no right to make the one that lacks',
    { createRole: false, roles: all.slice(1) },
    false,
    [/create the roles dot_executor$/],
  ],
  [
    'roles with members',
    { roles: [role('dot_executor', { members: ['app', 'web'] })] },
    false,
    [/in use on this server: dot_executor \(app, web\)$/],
  ],
  ['roles with members, reused', { roles: [role('dot_executor', { members: ['app'] })] }, true, []],
  [
    'a role that cannot be taken on',
    { roles: [role('dot_auditor', { grantable: false })] },
    false,
    [/may not act as dot_auditor/],
  ],
  [
    'the same for a member',
    { roles: [role('dot_auditor', { grantable: false, member: true })] },
    false,
    [],
  ],
  [
    'the same for a superuser',
    { superuser: true, roles: [role('dot_auditor', { grantable: false })] },
    false,
    [],
  ],
  [
    'everything at once',
    { versionNum: 120000, standby: true, createDatabase: false, createRole: false },
    false,
    [/too old/, /standby/, /create databases/, /create the roles/],
  ],
])('%s: every problem is named, with what to type', (_, facts, reuse, expected) => {
  const problems = problemsOf({ ...fresh, ...facts }, reuse);
  expect(problems).toHaveLength(expected.length);
  for (const [index, { message, hint }] of problems.entries()) {
    expect(message).toMatch(expected[index] ?? /never/);
    expect(hint).not.toBe('');
  }
});
