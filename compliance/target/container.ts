/**
 * The `container:` target (kit.md): a server of an image, started for this run alone and removed with
 * its data at every end. Testcontainers is loaded only here, since it takes most of a second.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { StartedTestContainer } from 'testcontainers';
import { KitError, messageOf } from '../errors.ts';
import { makeServer } from '../sandbox/server.ts';
import type { Need, Server } from '../types.ts';
import { aborting } from './aborting.ts';

const PORT = 5432;
/** Pulling an image may take minutes; a server that does not answer after that never will. */
const START_LIMIT_MS = 120_000;
/** As for the url target, without what needs the server's files or processes. */
const CAN: ReadonlySet<Need> = new Set<Need>(['own_server', 'superuser', 'pgtap']);

/**
 * Starts a container of an image that understands POSTGRES_PASSWORD, as the official ones do.
 * Throws KitError 69 when there is no engine, no such image or no server in it; rejects with the
 * signal's reason when aborted. Nothing is left behind in either case.
 */
export async function openContainer(
  image: string,
  options: { signal: AbortSignal; progress: (text: string) => void },
): Promise<Server> {
  const { signal, progress } = options;
  const password = randomBytes(18).toString('base64url');
  progress(`starting a container of ${image}`);
  const container = await unlessAborted(started(image, password), signal);
  const settings = settingsOf(container, password);
  try {
    return await makeServer({
      can: CAN,
      connection: (database) => ({ ...settings, database }),
      url: (database) => {
        const { host, port, user } = settings;
        return `postgresql://${user}:${password}@${host}:${port}/${database}?sslmode=disable`;
      },
      maintenance: 'postgres',
      // They go with the container.
      dropDatabases: false,
      close: () => stop(container),
    });
  } catch (error) {
    await stop(container);
    throw error;
  }
}

/** A container that was still starting when the run was aborted is stopped as soon as it is there. */
async function unlessAborted(
  starting: Promise<StartedTestContainer>,
  signal: AbortSignal,
): Promise<StartedTestContainer> {
  try {
    return await aborting(starting, signal);
  } catch (error) {
    await starting.then(stop, () => undefined);
    throw error;
  }
}

async function started(image: string, password: string): Promise<StartedTestContainer> {
  const { GenericContainer, getContainerRuntimeClient } = await library();
  // What fails to start is found again by its label: the library leaves it behind.
  const label = { key: 'dieu45.run', value: randomBytes(6).toString('hex') };
  try {
    const container = await new GenericContainer(image)
      .withLabels({ [label.key]: label.value })
      .withEnvironment({ POSTGRES_PASSWORD: password })
      .withExposedPorts(PORT)
      .withCommand(['postgres', '-c', 'fsync=off', '-c', 'max_connections=200', '-c', 'jit=off'])
      .withStartupTimeout(START_LIMIT_MS)
      .start();
    await answers(settingsOf(container, password));
    return container;
  } catch (error) {
    await getContainerRuntimeClient()
      .then(async ({ container: { dockerode } }) => {
        const filters = { label: [`${label.key}=${label.value}`] };
        const left = await dockerode.listContainers({ all: true, filters });
        for (const { Id } of left)
          await dockerode.getContainer(Id).remove({ force: true, v: true });
      })
      .catch(() => undefined);
    throw new KitError(
      69,
      `no server in a container of ${image}: ${messageOf(error)}`,
      hint(error),
    );
  }
}

function settingsOf(container: StartedTestContainer, password: string) {
  return {
    host: container.getHost(),
    port: container.getMappedPort(PORT),
    user: 'postgres',
    password,
    ssl: false,
  };
}

/**
 * Waits until the server takes a connection. While it sets itself up it listens on its socket alone, so
 * whoever comes in by the port has come to stay.
 */
async function answers(settings: ReturnType<typeof settingsOf>): Promise<void> {
  const deadline = performance.now() + START_LIMIT_MS;
  for (;;) {
    const client = new pg.Client({ ...settings, database: 'postgres' });
    client.on('error', () => undefined);
    try {
      await client.connect();
      await client.end();
      return;
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await delay(100);
    }
  }
}

function hint(error: unknown): string {
  return /container runtime/i.test(messageOf(error))
    ? 'start a container engine (docker info must answer), or use --target embedded'
    : 'name an image whose entry point reads POSTGRES_PASSWORD, such as container:postgres:17; where no\n' +
        'image can be pulled, TESTCONTAINERS_RYUK_DISABLED=true does without the helper that cleans up after SIGKILL';
}

async function library(): Promise<typeof import('testcontainers')> {
  try {
    return await import('testcontainers');
  } catch (error) {
    throw new KitError(
      69,
      `container targets need the package testcontainers: ${messageOf(error)}`,
      'npm install testcontainers@11, or use --target embedded',
    );
  }
}

async function stop(container: StartedTestContainer): Promise<void> {
  await container.stop({ remove: true, removeVolumes: true, timeout: 0 });
}
