import { expect, test } from 'vitest';
import { availableBytes, runsPrograms } from './memory.ts';

test.each([
  ['tmpfs /dev/shm tmpfs rw,nosuid,nodev 0 0', true],
  ['shm /dev/shm tmpfs rw,nosuid,nodev,noexec,relatime,size=65536k 0 0', false],
  ['tmpfs /dev/shm tmpfs ro 0 0', false],
  ['/dev/sda1 / ext4 rw 0 0', false],
  ['', false],
  // The last mount on a place is the one that is seen.
  ['tmpfs /dev/shm tmpfs rw 0 0\ntmpfs /dev/shm tmpfs rw,noexec 0 0', false],
])('in %j programs may run in memory: %j', (mounts, runs) => {
  expect(runsPrograms(mounts)).toBe(runs);
});

test.each([
  [{ meminfo: 'MemTotal: 9 kB\nMemAvailable:   1048576 kB\n' }, 2 ** 30],
  [{ meminfo: 'MemAvailable: 1048576 kB', limit: 'max\n', used: '5\n' }, 2 ** 30],
  [{ meminfo: 'MemAvailable: 1048576 kB', limit: '1000\n', used: '400\n' }, 600],
  [{}, 0],
])('of %j so much is there: %d', (files, bytes) => {
  expect(availableBytes(files)).toBe(bytes);
});
