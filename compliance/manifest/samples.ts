/** A small manifest without a mistake, for tests to break in one place each. */
export const goodManifest = `document:
  id: sample
  version: '1.0'
  release: '2.0'
  sources:
    - file: design.txt
      sha256: 8d5b75c172ef64b548555cbb85d8fe6c8680ae56e8ce3de7c2f665fea728c45f
self_test:
  defines_lease:
    proven_by: [s8.3]
  no_mutation_authored:
    not_applicable: speaks of the document only
profiles:
  ci:
    without: [s8.3.killed-worker-is-reaped]
    require_planned: false
  release:
    require_planned: true
  post-migrate:
    kinds: [catalog]
    require_planned: false
clauses:
  - id: s8.3
    label: §8.3
    title: { en: Lease, vi: Thuê việc }
    statement:
      en: A job is held under a lease.
      vi: Job được giữ bằng lease.
    impact: 1
    since: '2.0'
    modes: [gate, validate]
    checks:
      - id: s8.3.killed-worker-is-reaped
        title: A killed worker is reaped.
        kind: timed
        file: selftest/timed/kill.yaml
        expects: 4
        must_observe: { kills_reaped: 4 }
        limit_seconds: 30
        params: { run: kill }
      - id: s8.3.lease-functions
        title: The lease functions do what is documented.
        kind: pgtap
        file: selftest/pgtap/lease.sql
        expects: 12
  - id: s8.4
    label: §8.4
    title: { en: Dead letter, vi: Thư chết }
    statement:
      en: A job that may not run again becomes a dead letter.
      vi: Job không được chạy nữa trở thành dead letter.
    impact: 0.9
    since: '2.0'
    modes: [gate]
    checks:
      - id: s8.4.no-requeue-function
        title: Nothing can requeue.
        kind: catalog
        until: '3.0'
        planned: the rule is not written yet
`;

/** The files that it names, as they would stand on disk. */
export const goodFiles = {
  isFile: (path: string): boolean => onDisk.includes(path),
  beside: (path: string): string[] =>
    onDisk.filter((file) => file.startsWith(path.slice(0, path.lastIndexOf('/') + 1))),
};

const onDisk = ['selftest/timed/kill.yaml', 'selftest/pgtap/lease.sql', 'selftest/pgtap/claim.sql'];
